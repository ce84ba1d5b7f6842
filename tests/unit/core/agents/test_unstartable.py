"""What operators are told of a program that agents don't find."""

import pytest

from orchestrator.core.agents.unstartable import (
    UNSTARTABLE,
    how_to_mend_start,
    missing_program,
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

    said = missing_program(definition, group="garden", runner=runner)

    assert said is not None
    assert said.startswith("Its program 'my-agent' is not there inside")
    assert "groups/garden/AGENT.md" in said
    assert mend in said
    assert "image build" not in said


def test_of_one_that_dovecote_installs_the_mend_is_to_install_it() -> None:
    said = missing_program(resolve("provider: codex"), group="garden", runner="docker")

    assert said is not None
    assert said.endswith("Run: dovecote image build --with codex")


def test_an_agent_without_a_command_has_no_program_to_miss() -> None:
    assert missing_program(resolve(), group="garden", runner="docker") is None


@pytest.mark.parametrize("code", sorted(UNSTARTABLE))
def test_where_nobody_knows_more_the_doctor_and_the_log_are_named(code: str) -> None:
    said = why_unstartable(code, None, group="garden")

    assert "dovecote doctor" in said
    assert "agents/garden.log" in said


@pytest.mark.parametrize(("runner", "part"), [("docker", "image build"), ("bubblewrap", "agents/a.log")])
def test_what_mends_an_agent_that_is_never_ready_fits_its_runner(runner: str, part: str) -> None:
    said = how_to_mend_start(runner, log="a.log")

    assert part in said
    assert ("image build" in said) is (runner == "docker")
