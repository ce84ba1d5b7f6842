"""What the tool `spawn_agent` waits for, with a stand-in for the host's side of the box."""

import asyncio
import json
from collections.abc import Mapping

import pytest

from container.box_client import BoxClient
from container.tool_answers import ToolAnswer
from container.tools import ToolBelt
from orchestrator.contracts.ids import Jid, RequestId
from orchestrator.contracts.wire.replies import Reply
from tests.edges.container.agent_process import Home, eventually

RUNNING = {"status": "running", "lifecycle": "running"}
COMPLETED = {"status": "completed", "lifecycle": "completed", "exitCode": 0, "output": "done"}
LONG_OVER_MS = -119_500
"""A time that leaves half a second of what the tool waits beyond it."""


def reply(home: Home, request_id: str, result: Mapping[str, object]) -> None:
    """Write the host's answer."""
    path = home.box / "replies" / f"{request_id}.json"
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps({"requestId": request_id, "ok": True, "result": result}))
    temporary.rename(path)


async def spawned(home: Home, wait: str, child: Mapping[str, object], *, timeout_ms: int) -> ToolAnswer:
    """What the tool answers when the child stands like this, whatever comes later."""
    belt = ToolBelt(box=home.box, chat=Jid("1@g.us"), toolsets=("spawn",))
    reply(home, "agent-1", child)
    async with asyncio.TaskGroup() as tasks:
        call = tasks.create_task(belt.call("spawn_agent", {"task": "count", "wait": wait}))
        await eventually(lambda: home.requests("agents"))
        asked = json.loads(home.requests("agents")[0].read_text())
        reply(home, asked["requestId"], {"agentId": "agent-1", "effectiveTimeoutMs": timeout_ms})
    return call.result()


@pytest.mark.parametrize(
    ("wait", "child", "status"),
    [
        ("none", COMPLETED, "running"),
        ("ready", RUNNING, "running"),
        ("ready", COMPLETED, "completed"),
        ("result", COMPLETED, "completed"),
    ],
)
async def test_it_answers_when_the_agent_is_as_wanted(
    home: Home, wait: str, child: Mapping[str, object], status: str
) -> None:
    answer = await spawned(home, wait, child, timeout_ms=60_000)

    assert not answer.is_error
    assert (answer.content["agent_id"], answer.content["status"]) == ("agent-1", status)


async def test_an_agent_of_which_nothing_is_heard_beyond_its_time_is_named(home: Home) -> None:
    answer = await spawned(home, "result", RUNNING, timeout_ms=LONG_OVER_MS)

    assert answer.is_error
    assert answer.text.startswith("TIMEOUT: Agent agent-1 was started; its time is over")


async def test_an_answer_that_is_written_again_is_read_again_until_it_is_as_wanted(home: Home) -> None:
    seen: list[Reply] = []

    def is_done(told: Reply) -> bool:
        seen.append(told)
        return told.result == COMPLETED

    reply(home, "agent-1", RUNNING)
    async with asyncio.TaskGroup() as tasks:
        client = BoxClient(home.box)
        waiting = tasks.create_task(client.reply_when(RequestId("agent-1"), is_done, timeout_s=30))
        await eventually(lambda: seen)
        reply(home, "agent-1", COMPLETED)

    assert waiting.result() == Reply(request_id=RequestId("agent-1"), ok=True, result=COMPLETED)
