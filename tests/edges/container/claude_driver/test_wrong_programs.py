"""Programs in place of the driver's own that do not do what it does."""

import os
from pathlib import Path

import pytest

from orchestrator.contracts.wire.container_io import TurnStatus
from tests.edges.container.claude_driver.claude_home import ClaudeHome, asked

pytestmark = pytest.mark.agents


def with_program(claude: ClaudeHome, script: str) -> dict[str, str]:
    """The real package with this script as its program; the environment that names it."""
    installed = claude.programs / "claude"
    ours = claude.home.root / "programs" / "claude"
    package = ours / "claude_agent_sdk"
    bundled = package / "_bundled"
    bundled.mkdir(parents=True)
    link_all(installed, ours, but="claude_agent_sdk")
    link_all(installed / "claude_agent_sdk", package, but="_bundled")
    program = bundled / "claude"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"DOVECOTE_AGENTS": str(ours.parent)}


def link_all(source: Path, target: Path, *, but: str) -> None:
    for name in os.listdir(source):
        if name != but:
            (target / name).symlink_to(source / name)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("echo 'no such library' >&2; exit 3", id="does not start"),
        pytest.param("read line; echo no JSON; echo '{\"type\":'; exit 0", id="says what is no JSON"),
        pytest.param("read line; echo 42; echo '[1]'; exit 3", id="says JSON that is no object"),
        pytest.param("read line; kill -9 $$", id="is killed when it is spoken to"),
    ],
)
async def test_the_turn_fails_with_what_was_wrong_and_the_agent_lives_on(
    claude: ClaudeHome, script: str
) -> None:
    async with claude.running(**with_program(claude, script)) as running:
        await running.give(asked("hello"))
        await running.until_ended(1)
        claude.home.follow_up("0001.json", "again", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)
        claude.home.drop("0002-close.json", {"type": "_close"})
        code = await running.exit_code()

    assert code == 0
    assert [turn.status for turn in running.ended] == [TurnStatus.ERROR] * 2
    assert {turn.error.code for turn in running.ended if turn.error is not None} == {"AGENT_ERROR"}
    assert running.texts == []


async def test_a_program_that_never_answers_is_told_of_and_given_up_after_the_bound(
    claude: ClaudeHome,
) -> None:
    async with claude.running(**with_program(claude, "exec cat >/dev/null")) as running:
        await running.give(asked("hello", options={"answer_s": 1}))
        await running.until_ended(1)

    (ended,) = running.ended
    assert (ended.status, ended.outputs) == (TurnStatus.ERROR, 0)
    assert ended.error is not None
    assert ended.error.message == "the program did not answer within 1 s"
    assert "has not answered for 0.5 s" in running.stderr
    assert "given up after 1 s" in running.stderr
