"""What a turn of the driver `claude` is: answers, tools, follow-ups, interruption."""

import json
import signal

import pytest

from orchestrator.contracts.wire.container_io import Progress, TurnStatus
from tests.edges.container.agent_process import eventually
from tests.edges.container.claude_driver.claude_home import (
    ClaudeHome,
    asked,
    program_pids,
    session_of,
    tools_of,
)
from tests.support.model_server import CallTool, Rule, Say, Usage, Wait

pytestmark = pytest.mark.agents


async def test_a_message_is_answered_with_what_it_used_and_under_a_session_that_can_be_resumed(
    claude: ClaudeHome,
) -> None:
    claude.model.play(
        Rule(text="water", steps=(Say(text="Twice a week."),), usage=Usage(input_tokens=7, output_tokens=3))
    )
    async with claude.running() as running:
        await running.give(asked("how often do I water?", instructions="Your name is Zebra."))
        await running.until_ended(1)

    ended = running.ended[0]
    assert running.texts == ["Twice a week."]
    assert (ended.status, ended.outputs) == (TurnStatus.SUCCESS, 1)
    assert ended.usage is not None
    assert (ended.usage.input_tokens, ended.usage.output_tokens) == (7, 3)
    assert ended.usage.cost_usd is not None
    assert ended.usage.cost_usd > 0
    assert [path.stem for path in claude.transcripts] == [session_of(running)]
    body = claude.model.model_calls[0].body.decode()
    assert "Your name is Zebra." in body
    assert "how often do I water?" in body


async def test_the_model_uses_our_tools_and_its_text_between_them_is_said_at_once(claude: ClaudeHome) -> None:
    claude.model.play(
        Rule(tool_result="", steps=(Say(text="It is sent."),)),
        Rule(
            text="tell",
            steps=(
                Say(text="One moment."),
                CallTool(tool="mcp__dovecote__send_message", arguments={"text": "hello"}),
            ),
        ),
    )
    async with claude.running() as running:
        await running.give(asked("tell them", permissions="approve-reads"))
        await eventually(lambda: claude.home.requests("messages"))
        request = json.loads(claude.home.requests("messages")[0].read_text())
        reply = {"requestId": request["requestId"], "ok": True, "result": {"messageId": "1"}}
        replies = claude.home.box / "replies"
        (replies / ".reply.tmp").write_text(json.dumps(reply))
        (replies / ".reply.tmp").rename(replies / f"{request['requestId']}.json")
        await running.until_ended(1)

    assert (request["type"], request["text"], request["chatJid"]) == ("message", "hello", "console:family")
    assert running.texts == ["One moment.", "It is sent."]
    tool = "mcp__dovecote__send_message"
    assert tools_of(running) == [(tool, "running"), (tool, "done")]


async def test_the_programs_own_list_of_steps_tells_how_far_it_is(claude: ClaudeHome) -> None:
    step = {"subject": "Water", "description": "Water the lilies"}
    claude.model.play(
        Rule(text="plan", steps=(CallTool(tool="TaskCreate", arguments=step),)),
        Rule(tool_result="Task #1 created", steps=(CallTool(tool="TaskCreate", arguments=step),)),
        Rule(
            tool_result="Task #2 created",
            steps=(CallTool(tool="TaskUpdate", arguments={"taskId": "1", "status": "completed"}),),
        ),
        Rule(tool_result="", steps=(Say(text="Half of it."),)),
    )
    async with claude.running() as running:
        await running.give(asked("plan it"))
        await running.until_ended(1)

    progress = [(each.progress, each.description) for each in running.items if isinstance(each, Progress)]
    assert running.texts == ["Half of it."]
    assert progress == [(0, "0 of 1 steps"), (0, "0 of 2 steps"), (50, "1 of 2 steps")]


async def test_a_follow_up_joins_the_running_turn_and_is_answered_in_it(claude: ClaudeHome) -> None:
    claude.model.play(
        Rule(text="also the roses", steps=(Say(text="Both are planned."),)),
        Rule(text="plan", steps=(Wait(gate="first"), Say(text="The lilies are planned."))),
    )
    async with claude.running() as running:
        await running.give(asked("plan the lilies"))
        await claude.model.gate("first").reached()
        claude.home.follow_up("0001.json", "also the roses", ids=["m2"], turn_id="turn-2")
        await running.until(lambda: len(running.started) == 2)
        claude.model.gate("first").open()
        await running.until_ended(1)
        await eventually(lambda: claude.home.input_names() == [])

    assert running.texts == ["The lilies are planned.", "Both are planned."]
    assert (running.ended[0].turn_id, running.ended[0].inputs) == ("turn-1", ("m1", "m2"))
    assert running.ended[0].status is TurnStatus.SUCCESS


async def test_a_later_message_is_a_turn_of_the_same_session(claude: ClaudeHome) -> None:
    async with claude.running() as running:
        await running.give(asked("first"))
        await running.until_ended(1)
        claude.home.follow_up("0001.json", "second", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)

    assert [turn.turn_id for turn in running.ended] == ["turn-1", "turn-2"]
    assert len(claude.transcripts) == 1
    assert "first" in claude.model.model_calls[-1].body.decode()
    first, second = (turn.usage for turn in running.ended)
    assert first is not None
    assert second is not None
    assert first.cost_usd == pytest.approx(second.cost_usd)


async def test_who_is_stopped_leaves_its_turn_cancelled_its_session_whole_and_no_process(
    claude: ClaudeHome,
) -> None:
    claude.model.play(Rule(text="long", steps=(Say(text="beginning ", pieces=1), Wait(gate="never"))))
    async with claude.running() as running:
        await running.give(asked("a long story"))
        await claude.model.gate("never").reached()
        running.process.send_signal(signal.SIGTERM)
        code = await running.exit_code()
        await running.until_ended(1)
        await eventually(lambda: program_pids(claude.configuration) == [])

    assert code == 0
    assert running.ended[0].status is TurnStatus.CANCELLED
    session = session_of(running)

    async with claude.running() as again:
        await again.give(asked("and now?", session_id=session))
        await again.until_ended(1)

    assert "and now?" in again.texts[0]
    assert session_of(again) == session
    assert "a long story" in claude.model.model_calls[-1].body.decode()


async def test_at_the_end_of_its_steps_it_says_so(claude: ClaudeHome) -> None:
    claude.model.play(
        Rule(steps=(CallTool(tool="Bash", arguments={"command": "true", "description": "nothing"}),))
    )
    async with claude.running() as running:
        await running.give(asked("dig", max_turns=2))
        await running.until_ended(1)

    assert running.texts == ["I stopped because this took more steps than I may take at once. Shall I go on?"]
    assert running.ended[0].status is TurnStatus.SUCCESS


async def test_without_the_program_the_turn_fails_and_names_the_command(claude: ClaudeHome) -> None:
    async with claude.running(DOVECOTE_AGENTS=str(claude.home.root)) as running:
        await running.give(asked("hello"))
        await running.until_ended(1)

    error = running.ended[0].error
    assert error is not None
    assert "'claude' is not installed" in error.message
