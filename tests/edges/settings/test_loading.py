"""Settings from a real file and a given environment."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.contracts.errors import ErrorCode, InvalidSettings
from orchestrator.settings.loading import home_directory, load_settings


def write(home: Path, text: str) -> None:
    (home / "dovecote.toml").write_text(text, encoding="utf-8")


def test_a_home_without_a_file_has_the_defaults(tmp_path: Path) -> None:
    loaded = load_settings(tmp_path, {"TZ": "Europe/Berlin"})

    assert loaded.settings.queue.max_running == 5
    assert loaded.origins == {"assistant.timezone": "environment TZ"}
    assert loaded.warnings == ()


def test_the_environment_stands_over_the_file_and_our_names_over_older_ones(tmp_path: Path) -> None:
    write(tmp_path, "[queue]\nmax_running = 3\nmax_live = 9\n[agent]\nidle_timeout_s = 30\n")
    environment = {
        "MAX_CONCURRENT_CONTAINERS": "4",
        "DOVECOTE_QUEUE__MAX_RUNNING": "6",
        "IDLE_TIMEOUT": "45000",
    }

    loaded = load_settings(tmp_path, environment)

    assert loaded.settings.queue.max_running == 6
    assert loaded.settings.queue.max_live == 9
    assert loaded.settings.agent.idle_timeout_s == 45
    assert loaded.origins["queue.max_running"] == "environment DOVECOTE_QUEUE__MAX_RUNNING"
    assert loaded.origins["queue.max_live"] == "dovecote.toml line 3"
    assert loaded.origins["agent.idle_timeout_s"] == "environment IDLE_TIMEOUT"


@pytest.mark.parametrize(
    ("name", "value", "setting", "expected"),
    [
        ("ASSISTANT_NAME", "Andy", "assistant.name", "Andy"),
        ("CONTAINER_IMAGE", "own:1", "agent.image", "own:1"),
        ("CONTAINER_TIMEOUT", "1800000", "agent.container_timeout_s", 1800),
        ("IDLE_TIMEOUT", "1500", "agent.idle_timeout_s", 1.5),
        ("MAX_CONCURRENT_CONTAINERS", "2", "queue.max_running", 2),
        ("MAX_NESTING_DEPTH", "0", "spawn.max_depth", 0),
        ("MAX_AGENTS_PER_TREE", "100", "spawn.max_agents_per_tree", 100),
        ("ENABLE_RECURSIVE_SPAWN", "false", "spawn.enabled", False),
        ("ABSOLUTE_MAX_TIMEOUT", "86400000", "spawn.absolute_max_timeout_s", 86_400),
        ("DOVECOTE_SHUTDOWN_GRACE_S", "5", "shutdown_grace_s", 5),
        ("DOVECOTE_AGENT__ALLOW_UNISOLATED", "true", "agent.allow_unisolated", True),
        ("DOVECOTE_AGENT__BWRAP", "/bin/false", "agent.bwrap", Path("/bin/false")),
        ("DOVECOTE_ASSISTANT__OPERATORS", "a@x, b@x", "assistant.operators", ("a@x", "b@x")),
    ],
)
def test_a_name_in_the_environment_sets_its_setting(
    tmp_path: Path, name: str, value: str, setting: str, expected: object
) -> None:
    loaded = load_settings(tmp_path, {name: value})

    found: object = loaded.settings
    for part in setting.split("."):
        found = getattr(found, part)
    assert found == expected
    assert loaded.origins[setting] == f"environment {name}"


@pytest.mark.parametrize(
    ("text", "environment", "said"),
    [
        (
            "[queue]\n\nmax_running = 0\n",
            {},
            ["queue.max_running", "'0'", "line 3", "1 to 200", "default: 5"],
        ),
        ("", {"CONTAINER_TIMEOUT": "1800"}, ["agent.container_timeout_s", "120 to 86_400", "milliseconds"]),
        ("[agent]\nruner = 'x'\n", {}, ["no setting agent.runer", "line 2", "agent.runner?"]),
        ("", {"DOVECOTE_AGNT__RUNNER": "docker"}, ["no setting agnt.runner", "DOVECOTE_AGNT__RUNNER"]),
        ("", {"DOVECOTE_SHUTDOWN_GRACE": "5"}, ["no setting shutdown_grace", "shutdown_grace_s?"]),
        ("[agent]\nrunner = 'podman'\n", {}, ["'podman'", "auto | docker | bubblewrap | process"]),
        ("[agent\n", {}, ["is not TOML", "line 1"]),
        ("agent = 5\n", {}, ["agent is a section", "[agent]"]),
        ("[assistant]\ntimezone = 'Mars/X'\n", {}, ["assistant.timezone", "Mars/X", "IANA"]),
        ("", {"DOVECOTE_AGENT__CPUS": "nan"}, ["agent.cpus", "0.1 to 256"]),
        ("", {"DOVECOTE_QUEUE__MAX_RUNNING": "five"}, ["'five'", "1 to 200"]),
    ],
    ids=[
        "out of range",
        "wrong unit",
        "unknown in the file",
        "unknown section in the environment",
        "nearly a name",
        "not a choice",
        "not toml",
        "a value for a section",
        "bad timezone",
        "not a number",
        "a word for a number",
    ],
)
def test_a_wrong_setting_stops_the_start_naming_itself_its_value_its_range_and_its_place(
    tmp_path: Path, text: str, environment: dict[str, str], said: list[str]
) -> None:
    write(tmp_path, text)

    with pytest.raises(InvalidSettings) as caught:
        load_settings(tmp_path, environment)

    assert caught.value.code is ErrorCode.INVALID_SETTINGS
    assert [word for word in said if word not in str(caught.value)] == []


def test_a_bad_tz_of_the_environment_is_a_warning_and_utc(tmp_path: Path) -> None:
    loaded = load_settings(tmp_path, {"TZ": "Not/AZone"})

    assert loaded.settings.assistant.timezone == "UTC"
    assert "Not/AZone" in loaded.warnings[0]


def test_the_settings_timezone_stands_over_tz(tmp_path: Path) -> None:
    write(tmp_path, "[assistant]\ntimezone = 'Asia/Tokyo'\n")

    loaded = load_settings(tmp_path, {"TZ": "Europe/Berlin"})

    assert loaded.settings.assistant.timezone == "Asia/Tokyo"
    assert loaded.origins["assistant.timezone"] == "dovecote.toml line 2"


def test_an_unreadable_file_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "dovecote.toml").mkdir()

    with pytest.raises(InvalidSettings, match="cannot be read"):
        load_settings(tmp_path, {})


def test_other_names_with_our_prefix_are_left_alone(tmp_path: Path) -> None:
    loaded = load_settings(tmp_path, {"DOVECOTE_HOME": "/x", "DOVECOTE_ANYTHING": "1", "TZ": "UTC"})

    assert set(loaded.origins) == {"assistant.timezone"}


names = st.sampled_from(
    [
        *("ASSISTANT_NAME", "CONTAINER_TIMEOUT", "IDLE_TIMEOUT", "TZ"),
        *("DOVECOTE_AGENT__CPUS", "DOVECOTE_LOGS__KEEP", "DOVECOTE_", "DOVECOTE___"),
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, database=None)
@given(environment=st.dictionaries(names, st.text(max_size=12)), text=st.text(max_size=40))
def test_j11_no_file_and_no_environment_breaks_the_loading_but_by_a_sentence(
    tmp_path: Path, environment: dict[str, str], text: str
) -> None:
    (tmp_path / "dovecote.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
    said = ""

    try:
        load_settings(tmp_path, environment)
    except InvalidSettings as error:
        said = error.message

    assert said == "" or said.endswith((".", "line 1)."))


def test_the_home_is_the_option_else_the_variable_else_the_working_directory(tmp_path: Path) -> None:
    assert home_directory(tmp_path, {"DOVECOTE_HOME": "/other"}) == tmp_path
    assert home_directory(None, {"DOVECOTE_HOME": "/other"}) == Path("/other")
    assert home_directory(None, {}) == Path.cwd()
    assert home_directory(Path("here"), {}) == Path.cwd() / "here"


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_truth_value_is_no_number(tmp_path: Path, value: str) -> None:
    (tmp_path / "dovecote.toml").write_text(f"[queue]\nmax_running = {value}\n")

    with pytest.raises(InvalidSettings, match="must be a whole number from 1 to 200"):
        load_settings(tmp_path, {})


@pytest.mark.parametrize("value", ["1@g.us, 2@g.us", '["1@g.us", "2@g.us"]'])
def test_operators_in_the_environment_are_a_list_in_either_form(tmp_path: Path, value: str) -> None:
    loaded = load_settings(tmp_path, {"DOVECOTE_ASSISTANT__OPERATORS": value})

    assert loaded.settings.assistant.operators == ("1@g.us", "2@g.us")


@pytest.mark.parametrize("value", ["'1@g.us'", "['nobody']", "[1]"])
def test_operators_in_the_file_are_a_list_of_ids(tmp_path: Path, value: str) -> None:
    (tmp_path / "dovecote.toml").write_text(f"[assistant]\noperators = {value}\n")

    with pytest.raises(InvalidSettings, match=r"must be a list of chat ids, such as \["):
        load_settings(tmp_path, {})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('register_group_from = ["../out"]', 'a list of folders of groups, such as ["family"]'),
        ('register_group_from = "family"', 'a list of folders of groups, such as ["family"]'),
        ('alerts.command = ["", "x"]', 'a list of words of a command, such as ["'),
        ('alerts.command = "mail me"', 'a list of words of a command, such as ["'),
    ],
)
def test_other_lists_say_what_they_hold(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "dovecote.toml").write_text(f"{line}\n")

    with pytest.raises(InvalidSettings, match=f"must be {re.escape(said)}"):
        load_settings(tmp_path, {})


def test_a_link_to_nothing_is_not_taken_for_no_file(tmp_path: Path) -> None:
    (tmp_path / "dovecote.toml").symlink_to(tmp_path / "gone.toml")

    with pytest.raises(InvalidSettings, match="which is not there"):
        load_settings(tmp_path, {})


@pytest.mark.timeout(10)
def test_a_pipe_in_place_of_the_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "dovecote.toml")

    with pytest.raises(InvalidSettings, match="is a pipe"):
        load_settings(tmp_path, {})


def test_a_device_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dovecote.toml").symlink_to("/dev/zero")

    with pytest.raises(InvalidSettings, match="a device"):
        load_settings(tmp_path, {})


def test_all_wrong_settings_are_told_one_a_line_each_with_line_and_range(tmp_path: Path) -> None:
    write(tmp_path, '[agent]\nrunner = "proces"\n[queue]\nmax_running = 0\n[foo]\nx = 1\n')

    with pytest.raises(InvalidSettings) as refused:
        load_settings(tmp_path, {})

    lines = refused.value.message.splitlines()
    assert lines[0] == "3 settings are wrong:"
    told = {line.partition("(")[2].partition(")")[0]: line for line in lines[1:]}
    assert set(told) == {f"dovecote.toml line {line}" for line in (2, 4, 6)}
    assert "auto | docker | bubblewrap | process" in told["dovecote.toml line 2"]
    assert "from 1 to 200" in told["dovecote.toml line 4"]
