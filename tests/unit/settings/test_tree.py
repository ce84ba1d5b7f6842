"""The tree of settings: its names, its ranges, its words."""

import pytest
from pydantic import ValidationError

from orchestrator.settings.tree import Settings, allowed_values, is_timezone, setting_fields

NAMES = [
    "assistant.name",
    "assistant.timezone",
    "assistant.locale",
    "assistant.operators",
    "assistant.auto_register",
    "assistant.main_members",
    "assistant.bots",
    "queue.max_running",
    "queue.max_live",
    "queue.batch_max_messages",
    "queue.batch_max_bytes",
    "bounds.triggers_per_sender",
    "bounds.turns_per_chat",
    "bounds.bot_turns_in_a_row",
    "questions.max_open",
    "questions.expire_s",
    "agent.provider",
    "agent.permissions",
    "agent.mcp_servers",
    "agent.runner",
    "agent.image",
    "agent.engine_url",
    "agent.bwrap",
    "agent.allow_unisolated",
    "agent.container_timeout_s",
    "agent.turn_limit_s",
    "agent.idle_timeout_s",
    "agent.start_timeout_s",
    "agent.stop_grace_s",
    "agent.memory_bytes",
    "agent.processes",
    "agent.cpus",
    "agent.workspace_bytes",
    "agent.home_bytes",
    "agent.max_files",
    "agent.uid_range_start",
    "programs.answer_s",
    "programs.session_bytes",
    "programs.kept_sessions",
    "programs.kept_session_bytes",
    "outbox.retry_for_s",
    "outbox.on_unknown_send",
    "outbox.backoff_first_s",
    "outbox.backoff_most_s",
    "outbox.quote_trigger",
    "attachments.max_file_bytes",
    "attachments.max_count",
    "attachments.max_waiting_bytes",
    "ipc.poll_s",
    "ipc.rate_per_minute",
    "ipc.burst",
    "ipc.max_entries",
    "ipc.max_box_bytes",
    "tasks.max_per_group",
    "tasks.min_interval_s",
    "tasks.misfire_grace_s",
    "tasks.timeout_s",
    "spawn.enabled",
    "spawn.max_depth",
    "spawn.max_agents_per_tree",
    "spawn.max_spawns_per_tree",
    "spawn.per_minute",
    "spawn.default_timeout_s",
    "spawn.absolute_max_timeout_s",
    "spawn.restart_intensity",
    "spawn.restart_window_s",
    "spawn.token_in_environment",
    "workspaces.roots",
    "alerts.command",
    "alerts.main_is_watched",
    "logs.level",
    "logs.max_bytes",
    "logs.keep",
    "api.loopback",
    "api.port",
    "api.extra_ports",
    "api.allowed_origins",
    "api.requests_per_minute",
    "api.refusals_per_minute",
    "api.dev_mode",
    "events.keep_days",
    "events.audit_days",
    "events.max_kept",
    "events.log_lines_per_minute",
    "events.max_readers",
    "events.reader_buffer",
    "voice.command",
    "voice.within_s",
    "whatsapp.enabled",
    "whatsapp.has_owner",
    "whatsapp.chat_per_minute",
    "whatsapp.all_per_minute",
    "whatsapp.max_age_s",
    "whatsapp.media_wait_s",
    "whatsapp.read_receipts",
    "providers",
    "register_group_from",
    "message_poll_s",
    "shutdown_grace_s",
    "still_working_s",
    "typing_renew_s",
    "keep_messages_days",
    "disk_floor_bytes",
]


def test_the_names_of_all_settings_are_public_and_change_only_on_purpose() -> None:
    assert [name for name, _ in setting_fields()] == NAMES


def test_the_defaults_are_those_of_the_contracts() -> None:
    settings = Settings()

    assert (settings.queue.max_running, settings.queue.max_live) == (5, 20)
    bounds = settings.bounds
    assert (bounds.triggers_per_sender, bounds.turns_per_chat, bounds.bot_turns_in_a_row) == (20, 60, 5)
    assert (settings.queue.batch_max_messages, settings.queue.batch_max_bytes) == (200, 200_000)
    spawn = settings.spawn
    assert (spawn.enabled, spawn.max_depth, spawn.max_agents_per_tree) == (True, 2, 10)
    assert (spawn.max_spawns_per_tree, spawn.per_minute) == (100, 10)
    assert (spawn.default_timeout_s, spawn.absolute_max_timeout_s) == (3600, 86_400)
    assert (spawn.restart_intensity, spawn.restart_window_s) == (3, 300)
    assert settings.agent.container_timeout_s == 30 * 60
    assert settings.agent.turn_limit_s == 2 * 3600
    assert settings.agent.idle_timeout_s == 10 * 60
    assert settings.agent.stop_grace_s == 10
    assert settings.agent.memory_bytes == 1024**3
    assert (settings.ipc.rate_per_minute, settings.ipc.burst, settings.ipc.max_entries) == (120, 60, 10_000)
    assert settings.ipc.max_box_bytes == 64 * 1024**2
    assert settings.outbox.retry_for_s == 24 * 3600
    assert settings.shutdown_grace_s == 20
    assert settings.still_working_s == 120
    assert settings.disk_floor_bytes == 500 * 1024**2
    assert settings.agent.image is None


def test_the_tree_reads_no_environment_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUEUE", '{"max_running": 7}')
    monkeypatch.setenv("SHUTDOWN_GRACE_S", "1")

    settings = Settings()

    assert settings.queue.max_running == 5
    assert settings.shutdown_grace_s == 20


def test_settings_cannot_be_changed_once_made() -> None:
    settings = Settings()

    with pytest.raises(ValidationError):
        settings.queue.max_running = 6  # type: ignore[misc]  # that it is refused is the test


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("queue.max_running", "1 to 200"),
        ("agent.container_timeout_s", "120 to 86_400"),
        ("agent.runner", "auto | docker | bubblewrap | process"),
        ("agent.allow_unisolated", "true | false"),
        ("assistant.name", "1 to 64 characters"),
        ("agent.bwrap", ""),
    ],
)
def test_what_a_setting_may_be_is_said_in_words(name: str, words: str) -> None:
    assert allowed_values(dict(setting_fields())[name]) == words


def test_every_setting_says_what_it_is_for() -> None:
    assert [name for name, info in setting_fields() if not info.description] == []


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("Europe/Berlin", True),
        ("UTC", True),
        ("Mars/Olympus", False),
        ("", False),
        ("Europe", False),
        ("../../etc/passwd", False),
        ("/etc/localtime", False),
        ("x" * 10_000, False),
        ("a\0b", False),
    ],
    ids=["a city", "utc", "unknown", "empty", "a directory", "a path out", "absolute", "too long", "nul"],
)
def test_only_iana_names_are_timezones(name: str, is_one: bool) -> None:
    assert is_timezone(name) is is_one
