"""The driver `acp` with the real programs of the shipped providers, against a model server."""

import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from orchestrator.contracts.wire.container_io import TurnStatus
from tests.edges.container.acp_driver.real_program import RealProgram, session_of, shipped_provider
from tests.edges.container.agent_process import Home, eventually
from tests.support.agent_programs import agents_directory
from tests.support.model_server import CallTool, Cut, Fail, Hang, Rule, Say, running_model_server

pytestmark = [pytest.mark.agents, pytest.mark.slow]

# The names under which the programs show our tool to the model.
TOOLS = {
    "claude-code": "mcp__dovecote__send_message",
    "codex": "mcp__dovecote__send_message",
    "gemini": "mcp_dovecote_send_message",
    "opencode": "dovecote_send_message",
    "pi": "mcp__dovecote__send_message",
}

LOST = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(params=["claude-code", "codex", "gemini", "opencode", "pi"])
async def program(request: pytest.FixtureRequest, home: Home) -> AsyncIterator[RealProgram]:
    """A home for one agent with that provider, and its model."""
    programs = agents_directory(request.param)
    async with running_model_server() as server:
        yield RealProgram(
            home=home, model=server, programs=programs, provider=shipped_provider(request.param)
        )


async def replied(home: Home, text: str) -> None:
    """Answer the request of our tool, as the host does."""
    await eventually(lambda: home.requests("messages"))
    request = json.loads(home.requests("messages")[0].read_text())
    assert text in request["text"]
    reply = {"requestId": request["requestId"], "ok": True, "result": {"status": "sent"}}
    (home.box / "replies" / f"{request['requestId']}.json").write_text(json.dumps(reply))


def kill_children(pid: int) -> None:
    """End the programs that a process has started, with all their groups, as the kernel does."""
    for child in (Path("/proc") / str(pid) / "task" / str(pid) / "children").read_text().split():
        os.killpg(int(child), signal.SIGKILL)


async def test_it_answers_uses_our_tools_and_hears_what_comes_meanwhile(program: RealProgram) -> None:
    tool = CallTool(tool=TOOLS[program.provider.name], arguments={"text": "sent by the tool"})
    program.model.play(
        Rule(text="PLEASE-SEND", steps=(Say(text="I send it."), tool), has_tools=True),
        Rule(text="LATER", steps=(Say(text="I heard you."),), has_tools=True),
        Rule(tool_result="", steps=(Say(text="It is sent."),)),
    )
    async with program.running() as running:
        await running.give(program.asked("PLEASE-SEND a message"))
        await eventually(lambda: program.home.requests("messages"))
        program.home.follow_up("0001.json", "LATER", ids=["m2"], turn_id="turn-2")
        await replied(program.home, "sent by the tool")
        await running.until_ended(2)

    assert [ended.status for ended in running.ended] == [TurnStatus.SUCCESS] * 2
    assert running.texts == ["I send it.", "It is sent.", "I heard you."]


async def test_it_ends_its_turn_when_it_is_interrupted_and_leaves_no_process(program: RealProgram) -> None:
    program.model.play(Rule(text="PLEASE-HANG", steps=(Say(text="beginning "), Hang()), has_tools=True))
    async with program.running() as running:
        await running.give(program.asked("PLEASE-HANG"))
        await eventually(
            lambda: any("PLEASE-HANG" in call.body.decode() for call in program.model.model_calls)
        )
        running.process.terminate()
        await running.until_ended(1)
        code = await running.exit_code()

    assert (code, running.ended[0].status) == (0, TurnStatus.CANCELLED)


async def test_a_later_run_goes_on_in_its_session_and_begins_afresh_where_that_is_gone(
    program: RealProgram,
) -> None:
    if program.provider.name == "gemini":
        pytest.skip("its session can't be loaded before the next minute")
    program.model.play(Rule(text="SECOND", steps=(Say(text="I remember."),), has_tools=True))
    async with program.running() as running:
        await running.give(program.asked("FIRST"))
        await running.until_ended(1)
        session_id = session_of(running)
        program.home.drop("0001-close.json", {"type": "_close"})
        await running.exit_code()
    async with program.running() as again:
        await again.give(program.asked("SECOND", session_id=session_id))
        await again.until_ended(1)
    async with program.running() as fresh:
        lost = "ses_ffffffffffffffffffffffffff" if program.provider.name == "opencode" else LOST
        await fresh.give(program.asked("SECOND", session_id=lost))
        await fresh.until_ended(1)

    second = [call for call in program.model.model_calls if call.asked and call.asked.tools]
    assert any("FIRST" in call.body.decode() and "SECOND" in call.body.decode() for call in second)
    assert again.texts == ["I remember."]
    assert fresh.texts == [
        "(Our earlier conversation could not be found any more, so I begin afresh.)",
        "I remember.",
    ]
    assert session_of(fresh) != LOST


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (401, "Incorrect API key provided.", "PROVIDER_AUTH"),
        (429, "Rate limit reached.", "PROVIDER_RATE_LIMITED"),
        (500, "Internal server error", "PROVIDER_OVERLOADED"),
        (529, "Overloaded", "PROVIDER_OVERLOADED"),
    ],
    ids=["401", "429", "500", "529"],
)
async def test_what_its_provider_refuses_is_a_failed_turn_or_was_tried_again(
    program: RealProgram, status: int, message: str, code: str
) -> None:
    program.model.play(
        Rule(
            text="PLEASE-FAIL",
            steps=(Fail(status=status, message=message),),
            has_tools=True,
            times=1 if status != 401 else None,
        )
    )
    async with program.running() as running:
        await running.give(program.asked("PLEASE-FAIL"))
        await running.until_ended(1)

    ended = running.ended[0]
    if ended.status is TurnStatus.ERROR:
        assert ended.error is not None
        assert (ended.error.code, running.texts) == (code, [])
    elif program.provider.name == "pi" and status == 401:
        assert running.texts == []  # it ends in silence: the host knows by the way out what that means
    else:
        assert status != 401
        assert any("PLEASE-FAIL" in text for text in running.texts)


async def test_a_cut_stream_is_tried_again_or_fails_without_half_an_answer(program: RealProgram) -> None:
    cut = (Say(text="half "), Cut(in_event=True))
    program.model.play(Rule(text="PLEASE-CUT", steps=cut, has_tools=True, times=1))
    async with program.running() as running:
        await running.give(program.asked("PLEASE-CUT"))
        await running.until_ended(1)

    ended = running.ended[0]
    if ended.status is TurnStatus.ERROR:
        assert ended.error is not None
        assert (ended.error.code, running.texts) == ("PROVIDER_OVERLOADED", [])
    else:
        assert any("PLEASE-CUT" in text for text in running.texts)


async def test_a_command_needs_leave_where_only_reads_are_free(program: RealProgram) -> None:
    if program.provider.name == "codex":
        pytest.skip("its own sandbox is its gate: in its reading mode it asks nobody")
    shells = {"claude-code": "Bash", "gemini": "run_shell_command"}
    shell = shells.get(program.provider.name, "bash")
    arguments = {"command": "touch made-it", "description": "make a file"}
    program.model.play(
        Rule(text="PLEASE-RUN", steps=(CallTool(tool=shell, arguments=arguments),), has_tools=True)
    )
    async with program.running() as running:
        await running.give(program.asked("PLEASE-RUN", permissions="deny-all"))
        await running.until_ended(1)

    assert not (program.home.workspace / "made-it").exists()
    if program.provider.name == "pi":  # it asks nobody, so it has none
        offered = [tool.name for call in program.model.model_calls if call.asked for tool in call.asked.tools]
        assert offered
        assert all(name.startswith("mcp__dovecote__") for name in offered)


async def test_a_killed_program_fails_its_turn_and_the_next_turn_has_a_new_one(program: RealProgram) -> None:
    program.model.play(Rule(text="PLEASE-HANG", steps=(Say(text="x"), Hang()), has_tools=True))
    async with program.running() as running:
        await running.give(program.asked("PLEASE-HANG"))
        await eventually(
            lambda: any("PLEASE-HANG" in call.body.decode() for call in program.model.model_calls)
        )
        kill_children(running.process.pid)
        await running.until_ended(1)
        if program.provider.name == "gemini":
            return  # its session may be loaded from the next minute on only
        program.home.follow_up("0001.json", "AGAIN", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)

    assert [ended.status for ended in running.ended] == [TurnStatus.ERROR, TurnStatus.SUCCESS]
