"""Providers in the settings, and settings that had another name before."""

from pathlib import Path

import pytest

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.settings.loading import load_settings


def loaded(home: Path, text: str, **environment: str) -> tuple[str, dict[str, dict[str, object]]]:
    """The provider that answers, and the tables of providers."""
    (home / "dovecote.toml").write_text(text, encoding="utf-8")
    settings = load_settings(home, {"TZ": "UTC", **environment}).settings
    return settings.agent.provider, settings.providers


def test_an_upstream_is_one_line_in_either_spelling(tmp_path: Path) -> None:
    short = loaded(tmp_path, 'providers.claude.base_url = "http://127.0.0.1:1"')
    table = loaded(tmp_path, '[providers.claude]\nbase_url = "http://127.0.0.1:1"')

    assert short == table == ("builtin", {"claude": {"base_url": "http://127.0.0.1:1"}})


def test_the_environment_names_it_too_and_adds_to_the_file(tmp_path: Path) -> None:
    _, providers = loaded(
        tmp_path,
        '[providers.claude-code]\nmodel = "m"\nbase_url = "http://file"',
        DOVECOTE_PROVIDERS__CLAUDE_CODE__BASE_URL="http://environment",
        DOVECOTE_PROVIDERS__MINE__BASE_URL="http://mine",
    )

    assert providers == {
        "claude-code": {"model": "m", "base_url": "http://environment"},
        "mine": {"base_url": "http://mine"},
    }


@pytest.mark.parametrize(
    ("text", "environment", "provider"),
    [
        ('agent.driver = "script"', {}, "script"),
        ('agent.driver = "script"\nagent.provider = "claude"', {}, "claude"),
        ('agent.provider = "claude"', {"DOVECOTE_AGENT__DRIVER": "script"}, "script"),
        ('agent.driver = "script"', {"DOVECOTE_AGENT__PROVIDER": "claude"}, "claude"),
    ],
)
def test_the_old_name_of_the_provider_still_counts(
    tmp_path: Path, text: str, environment: dict[str, str], provider: str
) -> None:
    assert loaded(tmp_path, text, **environment)[0] == provider


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('providers.claude = "x"', "The setting providers.claude is 'x' (dovecote.toml line 1)"),
        ('agent.mcp_servers = "x"', "tables of tool servers, such as [agent.mcp_servers.NAME]"),
        ('agent.provider = "Claude"', "agent.provider"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        loaded(tmp_path, text)

    assert said in str(refused.value)
