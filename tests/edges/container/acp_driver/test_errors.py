"""What becomes of a provider's errors, of programs that die, hang or talk nonsense."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from container.drivers.acp_driver import AcpDriver
from orchestrator.contracts.wire.container_io import AgentLog, TurnStatus
from tests.edges.container.acp_driver.bench import bench
from tests.edges.container.agent_process import Home

RAW = Path(__file__).parents[3] / "support" / "raw_acp" / "answers_everything.py"
CHUNK = (
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"raw-1","update":'
    '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"still here"}}}}'
)


async def test_an_error_is_a_failed_turn_whose_half_text_is_not_said_and_the_next_turn_works(
    home: Home,
) -> None:
    fail = {"code": -32603, "message": "Internal error: Failed to authenticate. API Error: 401 no key"}
    turns = [[{"say": "Failed to authenticate. API Error: 401 no key"}, {"fail": fail}], [{"say": "fine"}]]
    async with bench(home, {"turns": turns}) as running:
        failed = await running.turn()
        result = await running.turn()

    assert failed.error is not None
    assert (failed.status, failed.error.code) == (TurnStatus.ERROR, "PROVIDER_AUTH")
    assert result.status is TurnStatus.SUCCESS
    assert running.texts == ["fine"]
    assert len(running.records("new")) == 1


async def test_an_error_that_comes_as_an_answer_is_an_error_all_the_same(home: Home) -> None:
    answer = '{"error": {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}'
    async with bench(home, {"turns": [[{"say": answer}]]}) as running:
        result = await running.turn()

    assert result.error is not None
    assert result.error.code == "PROVIDER_RATE_LIMITED"
    assert running.texts == []


async def test_an_answer_about_an_error_that_was_paid_for_is_an_answer(home: Home) -> None:
    answer = '{"error": {"message": "slow down", "type": "rate_limit_error"}}'
    async with bench(home, {"turns": [[{"say": answer}, {"usage": [120, 100, 20]}]]}) as running:
        result = await running.turn()

    assert (result.status, running.texts) == (TurnStatus.SUCCESS, [answer])


async def test_a_program_that_dies_fails_its_turn_and_the_next_one_resumes_its_session(home: Home) -> None:
    turns = [[{"say": "half"}, {"complain": "out of cheese"}, {"die": 9}]]
    async with bench(home, {"turns": turns}) as running:
        failed = await running.turn()
        (home.root / "plan.json").write_text("{}")
        result = await running.turn("again")

    assert failed.error is not None
    assert failed.error.code == "AGENT_ERROR"
    assert "ended with 9 (out of cheese)" in failed.error.message
    assert result.status is TurnStatus.SUCCESS
    assert [record["session_id"] for record in running.records("load")] == ["session-1"]
    assert len(running.texts) == 1
    assert "again" in running.texts[0]


async def test_a_session_that_is_gone_in_the_middle_of_a_run_is_replaced_once(home: Home) -> None:
    fail = {"code": -32002, "message": "Resource not found"}
    plan = {"turns": [[{"fail": fail}]], "failures": {"load": fail}}
    async with bench(home, plan) as running:
        path = home.root / "plan.json"

        async def mend() -> None:
            await running.until(lambda: running.records("prompt"))
            path.write_text("{}")

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(mend())
            turn = tasks.create_task(running.turn("hello"))

    assert turn.result().status is TurnStatus.SUCCESS or turn.result().error is not None
    assert len(running.records("prompt")) == 2
    assert len(running.records("new")) == 2


async def test_a_program_that_hangs_is_ended_and_its_turn_fails(home: Home) -> None:
    plan = {"turns": [[{"say": "well"}, {"hang": None}]], "ignores_cancel": True}
    async with bench(home, plan, silence_s=0.2, stop_wait_s=0.1) as running:
        result = await running.turn()

    assert result.error is not None
    assert result.error.code == "AGENT_ERROR"
    assert "said nothing" in result.error.message
    assert [record["call"] for record in running.records("cancel")][:1] == ["cancel"]
    assert running.texts == []


async def test_a_tool_at_work_may_be_silent_for_longer(home: Home) -> None:
    steps: list[dict[str, Any]] = [
        {"tool": {"title": "build", "status": "in_progress"}},
        {"wait_for_cancel": None},
    ]
    async with bench(home, {"turns": [steps]}, silence_s=0.05) as running, asyncio.TaskGroup() as tasks:
        turn = tasks.create_task(running.turn())
        await running.until(lambda: running.records("prompt"))
        done, _ = await asyncio.wait({turn}, timeout=0.5)
        assert done == set()
        await running.driver.interrupt()

    assert turn.result().status is TurnStatus.CANCELLED


async def test_lines_that_are_no_messages_are_left_out_and_the_session_goes_on(home: Home) -> None:
    garbage = ["not json", "42", "[1, 2]", "null", '{"id": [1]}', '{"method": 7}', '{"id": true}', "{" * 5000]
    steps = [*({"print": line} for line in (*garbage, "", "  ")), {"say": "still here"}]
    async with bench(home, {"turns": [steps]}) as running:
        await running.turn()

    assert running.texts == ["still here"]
    logged = [item.message for item in running.items if isinstance(item, AgentLog)]
    assert len(logged) == len(garbage)


async def test_a_line_without_an_end_costs_no_memory_and_no_session(home: Home) -> None:
    async with bench(home, {"turns": [[{"print_long": 40}, {"say": "still here"}]]}) as running:
        await running.turn()

    assert running.texts == ["still here"]
    logged = [item.message for item in running.items if isinstance(item, AgentLog)]
    assert len(logged) == 1
    assert "bytes" in logged[0]


@pytest.mark.parametrize(
    "answers",
    [
        ["initialize=[]"],
        ["initialize=null"],
        ["session/new={}"],
        ["session/prompt={}"],
        ['session/prompt={"stopReason":"whenever"}'],
    ],
)
async def test_an_answer_of_another_form_fails_the_turn_and_nothing_else(
    home: Home, answers: list[str]
) -> None:
    async with bench(home, command=(sys.executable, str(RAW), *answers)) as running:
        result = await running.turn()

    assert result.error is not None
    assert result.error.code == "AGENT_ERROR"


@pytest.mark.parametrize(
    "before",
    [
        '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"from_the_future"}}}',
        '{"jsonrpc":"2.0","method":"session/update","params":null}',
        '{"jsonrpc":"2.0","method":"future/notification","params":{}}',
        '{"jsonrpc":"2.0","id":99,"method":"future/request","params":{}}',
        '{"jsonrpc":"2.0","id":99,"error":{"code":1}}',
        '{"jsonrpc":"2.0","id":1,"error":7}',
    ],
)
async def test_a_message_that_nobody_knows_disturbs_no_other(home: Home, before: str) -> None:
    answer = f"session/prompt={before}\n{CHUNK}|" + '{"stopReason":"end_turn"}'
    async with bench(home, command=(sys.executable, str(RAW), answer)) as running:
        result = await running.turn()

    assert result.status is TurnStatus.SUCCESS
    assert running.texts == ["still here"]


def test_a_later_message_is_never_joined_to_a_running_turn() -> None:
    assert AcpDriver().can_join(()) is False
