"""What becomes of a turn when the provider, the program or its connection fails."""

import os
import signal
from pathlib import Path

import pytest

from orchestrator.contracts.wire.container_io import TurnStatus
from tests.edges.container.agent_process import eventually
from tests.edges.container.claude_driver.claude_home import ClaudeHome, asked, program_pids, session_of
from tests.support.model_server import CallTool, Cut, Fail, Rule, Say, Wait

pytestmark = pytest.mark.agents


ERRORS = {
    "PROVIDER_AUTH": Fail(status=401),
    "BUDGET_EXCEEDED": Fail(status=402, message="The group's budget is spent."),
    "PROVIDER_RATE_LIMITED": Fail(status=429),
    "PROVIDER_OVERLOADED": Fail(status=529),
    "AGENT_ERROR": Fail(status=400),
}


async def test_an_error_of_the_provider_has_its_code_is_no_chat_message_and_the_next_turn_works(
    claude: ClaudeHome,
) -> None:
    claude.model.play(
        Rule(text="number 500", steps=(Fail(status=500),)),
        *(Rule(text=f"number {code}", steps=(fail,)) for code, fail in ERRORS.items()),
    )
    async with claude.running() as running:
        await running.give(asked("number 500"))
        await running.until_ended(1)
        for place, what in enumerate([*ERRORS, "last"], 2):
            claude.home.follow_up(
                f"{place:04}.json", f"number {what}", ids=[f"m{place}"], turn_id=f"turn-{place}"
            )
            await running.until_ended(place)

    codes = [turn.error.code if turn.error is not None else None for turn in running.ended]
    assert codes == ["PROVIDER_OVERLOADED", *ERRORS, None]
    assert [turn.outputs for turn in running.ended] == [0, 0, 0, 0, 0, 0, 1]


async def test_a_stream_that_is_cut_is_asked_for_again_and_its_half_is_not_said(claude: ClaudeHome) -> None:
    claude.model.play(
        Rule(text="tell", steps=(Say(text="half of"), Cut(in_event=False)), times=1),
        Rule(text="again", steps=(Say(text="half of"), Cut(in_event=True)), times=1),
        Rule(steps=(Say(text="The whole."),)),
    )
    async with claude.running() as running:
        await running.give(asked("tell"))
        await running.until_ended(1)
        claude.home.follow_up("0001.json", "again", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)

    assert running.texts == ["The whole."] * 2
    assert [turn.status for turn in running.ended] == [TurnStatus.SUCCESS] * 2


async def test_a_provider_that_is_not_there_is_an_overload_and_no_fault_of_the_agent(
    claude: ClaudeHome,
) -> None:
    async with claude.running(ANTHROPIC_BASE_URL="http://127.0.0.1:1") as running:
        await running.give(asked("hello"))
        await running.until_ended(1)

    error = running.ended[0].error
    assert error is not None
    assert error.code == "PROVIDER_OVERLOADED"
    assert running.texts == []


async def test_a_program_that_is_killed_fails_its_turn_and_the_next_one_goes_on_in_the_session(
    claude: ClaudeHome,
) -> None:
    claude.model.play(
        Rule(tool_result="", steps=(Wait(gate="second"),)),
        Rule(
            text="work", steps=(CallTool(tool="Bash", arguments={"command": "echo x", "description": "x"}),)
        ),
    )
    async with claude.running() as running:
        await running.give(asked("work on it"))
        await claude.model.gate("second").reached()
        kill_all(claude.configuration)
        await running.until_ended(1)
        claude.model.gate("second").open()
        claude.home.follow_up("0001.json", "still there?", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)

    first, second = running.ended
    assert first.error is not None
    assert (first.status, first.error.code) == (TurnStatus.ERROR, "AGENT_ERROR")
    assert second.status is TurnStatus.SUCCESS
    assert len(claude.transcripts) == 1
    assert "work on it" in claude.model.model_calls[-1].body.decode()


async def test_a_program_that_died_between_two_turns_is_started_again_unseen(claude: ClaudeHome) -> None:
    async with claude.running() as running:
        await running.give(asked("first"))
        await running.until_ended(1)
        session = session_of(running)
        kill_all(claude.configuration)
        await eventually(lambda: program_pids(claude.configuration) == [])
        claude.home.follow_up("0001.json", "second", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)

    assert [turn.status for turn in running.ended] == [TurnStatus.SUCCESS] * 2
    assert session_of(running) == session
    assert len(running.texts) == 2


async def test_what_the_agent_started_is_gone_after_its_end(claude: ClaudeHome) -> None:
    """Also what has left the program's process group and session."""
    pid_file = claude.home.workspace / "pid"
    command = "setsid sh -c 'echo $$ > pid.new; mv pid.new pid; exec sleep 600' >/dev/null 2>&1 &"
    claude.model.play(
        Rule(tool_result="", steps=(Say(text="It runs."),)),
        Rule(
            text="start",
            steps=(CallTool(tool="Bash", arguments={"command": command, "description": "start it"}),),
        ),
    )
    async with claude.running() as running:
        await running.give(asked("start it"))
        await running.until_ended(1)
        await eventually(pid_file.exists)
        pid = int(pid_file.read_text())
        was_alive = is_alive(pid)
        claude.home.drop("0001-close.json", {"type": "_close"})
        code = await running.exit_code()
        await eventually(lambda: program_pids(claude.configuration) == [] and not is_alive(pid))

    assert (was_alive, code) == (True, 0)


async def test_a_program_that_answers_no_more_is_ended_all_the_same(claude: ClaudeHome) -> None:
    claude.model.play(Rule(text="long", steps=(Wait(gate="never"),)))
    async with claude.running() as running:
        await running.give(asked("a long story"))
        await claude.model.gate("never").reached()
        for pid in program_pids(claude.configuration):
            os.kill(pid, signal.SIGSTOP)
        running.process.send_signal(signal.SIGTERM)
        code = await running.exit_code()
        await eventually(lambda: program_pids(claude.configuration) == [])

    assert code == 0
    assert running.ended[0].status is TurnStatus.CANCELLED


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def kill_all(configuration: Path) -> None:
    """Kill the program and whatever it has started."""
    for pid in program_pids(configuration):
        os.kill(pid, signal.SIGKILL)
