"""What the program of the driver `claude` may do unasked, and how people are asked."""

import signal

import pytest

from orchestrator.contracts.wire.container_io import TurnStatus, WaitingInput
from tests.edges.container.agent_process import AgentProcess, eventually
from tests.edges.container.claude_driver.claude_home import ClaudeHome, asked, program_pids, tools_of
from tests.support.model_server import CallTool, Rule

pytestmark = pytest.mark.agents


def play_one_tool(claude: ClaudeHome, tool: str, **arguments: object) -> None:
    """The model uses this tool, then repeats what the tool answered."""
    claude.model.play(Rule(text="do it", steps=(CallTool(tool=tool, arguments=arguments),)))


async def question(running: AgentProcess, count: int = 1) -> WaitingInput:
    """The question that it has asked."""

    def questions() -> list[WaitingInput]:
        return [item for item in running.items if isinstance(item, WaitingInput)]

    await running.until(lambda: len(questions()) == count)
    return questions()[-1]


def answer_to(asks: WaitingInput, said: dict[str, object]) -> dict[str, object]:
    return {"type": "answer", "questionId": asks.question_id} | said


ANSWERS: list[tuple[dict[str, object], bool, str]] = [
    ({"text": "Yes", "option": 0}, True, "tool said:"),
    ({"text": "ok"}, True, "tool said:"),
    ({"text": "No", "option": 1}, False, "does not allow this"),
    ({"text": "ask my wife"}, False, "ask my wife"),
    ({"status": "expired"}, False, "nobody answered in time"),
    ({"status": "refused", "text": "too many"}, False, "could not be asked"),
]


async def test_a_change_is_made_only_with_a_persons_leave(claude: ClaudeHome) -> None:
    made = claude.home.workspace / "made"
    play_one_tool(claude, "Bash", command="touch made", description="make it")
    async with claude.running() as running:
        await running.give(asked("do it", permissions="approve-reads"))
        asks = await question(running)
        for place, (said, is_made, model_hears) in enumerate(ANSWERS, 1):
            asks = await question(running, place)
            assert not made.exists()
            claude.home.drop(f"{place:04}-answer.json", answer_to(asks, said))
            await running.until_ended(place)
            assert made.exists() is is_made
            assert model_hears in running.texts[-1]
            made.unlink(missing_ok=True)
            if place < len(ANSWERS):
                claude.home.follow_up(
                    f"{place:04}-next.json", "do it", ids=[f"m{place + 1}"], turn_id=f"turn-{place + 1}"
                )

    assert asks.question == "May I run this command?\ntouch made"
    assert asks.options == ("Yes", "No")
    assert [turn.status for turn in running.ended] == [TurnStatus.SUCCESS] * len(ANSWERS)


async def test_reading_needs_nobodys_leave(claude: ClaudeHome) -> None:
    (claude.home.workspace / "notes").write_text("buy milk")
    play_one_tool(claude, "Read", file_path=str(claude.home.workspace / "notes"))
    async with claude.running() as running:
        await running.give(asked("do it", permissions="approve-reads"))
        await running.until_ended(1)

    assert tools_of(running) == [("Read", "running"), ("Read", "done")]
    assert "buy milk" in running.texts[0]


async def test_what_is_approved_altogether_asks_nobody(claude: ClaudeHome) -> None:
    play_one_tool(claude, "Write", file_path=str(claude.home.workspace / "made"), content="x")
    async with claude.running() as running:
        await running.give(asked("do it", permissions="approve-all"))
        await running.until_ended(1)

    assert (claude.home.workspace / "made").read_text() == "x"


async def test_who_may_do_nothing_is_offered_our_tools_and_no_others(claude: ClaudeHome) -> None:
    async with claude.running() as running:
        await running.give(asked("hello", permissions="deny-all"))
        await running.until_ended(1)

    offered = offered_names(claude)
    assert "mcp__dovecote__send_message" in offered
    assert {name for name in offered if not name.startswith("mcp__dovecote__")} == set()


async def test_l4_tools_that_outlive_a_turn_or_reach_the_network_are_not_offered(claude: ClaudeHome) -> None:
    async with claude.running() as running:
        await running.give(asked("hello"))
        await running.until_ended(1)

    offered = offered_names(claude)
    assert {"Bash", "Read", "Write", "Edit"} <= offered
    assert offered.isdisjoint({"CronCreate", "ScheduleWakeup", "WebSearch", "WebFetch", "AskUserQuestion"})
    assert "SendMessage" not in offered


async def test_who_is_stopped_while_it_waits_for_leave_does_nothing_more(claude: ClaudeHome) -> None:
    play_one_tool(claude, "Bash", command="touch made", description="make it")
    async with claude.running() as running:
        await running.give(asked("do it", permissions="approve-reads"))
        await question(running)
        running.process.send_signal(signal.SIGTERM)
        code = await running.exit_code()
        await eventually(lambda: program_pids(claude.configuration) == [])

    assert code == 0
    assert running.ended[0].status is TurnStatus.CANCELLED
    assert not (claude.home.workspace / "made").exists()


def offered_names(claude: ClaudeHome) -> set[str]:
    """The tools that the model was offered first."""
    asks = claude.model.model_calls[0].asked
    assert asks is not None
    return {tool.name for tool in asks.tools}
