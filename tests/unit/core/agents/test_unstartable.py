"""What operators are told of a program that agents don't find."""

import pytest

from orchestrator.core.agents.unstartable import (
    NEVER_BEGUN,
    how_to_mend_start,
    needs,
    why_unstartable,
)
from tests.unit.core.agents.test_definition import resolve


@pytest.mark.parametrize(
    ("runner", "mend"), [("docker", "agent.image"), ("bubblewrap", "below /usr"), ("process", "install it")]
)
def test_of_a_program_of_ones_own_the_mend_is_the_command_or_a_place_that_agents_see(
    runner: str, mend: str
) -> None:
    definition = resolve("provider: acp\ncommand: my-agent --acp")

    (need,) = needs(definition, group="garden", runner=runner)

    assert need.what.startswith("Its program 'my-agent' is not where agents run")
    assert "groups/garden/AGENT.md" in need.mend
    assert mend in need.mend
    assert "image build" not in need.mend


def test_of_one_that_dovecote_installs_the_mend_is_to_install_it() -> None:
    (need,) = needs(resolve("provider: codex"), group="garden", runner="docker")

    assert need.mend == "Run: dovecote image build --with codex"


def test_an_agent_without_a_command_has_no_program_to_miss() -> None:
    assert needs(resolve(), group="garden", runner="docker") == ()


def test_the_script_and_the_programs_of_tool_servers_are_needed_too_and_the_missing_one_is_told() -> None:
    definition = resolve(
        "provider: acp\ncommand: node /nowhere/agent.js\n"
        "mcp_servers: {notes: {command: notes-server}, far: {url: 'https://far.example'}}"
    )

    found = needs(definition, group="garden", runner="bubblewrap")

    assert [each.name for each in found] == ["node", "/nowhere/agent.js", "notes-server"]
    for need in found:
        said = f"{need.name!r} of {need.server!r}"
        assert why_unstartable("PROGRAM_MISSING", found, said=said, group="garden") == (
            f"{need.what} {need.mend}"
        )


def test_of_what_an_agent_says_is_missing_only_names_of_its_definition_are_told() -> None:
    found = needs(resolve("provider: acp\ncommand: my-agent"), group="garden", runner="docker")

    said = why_unstartable("PROGRAM_MISSING", found, said="click 'http://evil.example'", group="garden")

    assert "evil" not in said
    assert "my-agent" in said


def test_the_last_words_of_a_program_that_ended_are_quoted_on_one_line() -> None:
    said = why_unstartable("PROGRAM_ENDED", (), said="Error:\nno \x1b[1mroom", group="garden")

    assert said == (
        "Its program ended before it was ready, and said: “Error: no [1mroom”. "
        "All it said is in data/logs/agents/garden.log."
    )


@pytest.mark.parametrize("code", sorted(NEVER_BEGUN))
def test_where_nobody_knows_more_the_doctor_and_the_log_are_named(code: str) -> None:
    said = why_unstartable(code, (), said=None, group="garden")

    assert ("dovecote doctor" in said) is (code != "PROGRAM_ENDED")
    assert "agents/garden.log" in said


@pytest.mark.parametrize(("runner", "part"), [("docker", "image build"), ("bubblewrap", "agents/a.log")])
def test_what_mends_an_agent_that_is_never_ready_fits_its_runner(runner: str, part: str) -> None:
    said = how_to_mend_start(runner, log="a.log")

    assert part in said
    assert ("image build" in said) is (runner == "docker")
