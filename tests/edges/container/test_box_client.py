"""Requests as files in a real box, answered by a stand-in for the host's side."""

import asyncio
import json
import shutil
from collections.abc import Mapping

import pytest

from container.box_client import BoxClient, ReplyUnknown, new_file_stem
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.ids import Jid, RequestId, is_file_name
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.replies import Reply, ReplyError
from tests.edges.container.agent_process import Home, eventually


def the_request(home: Home) -> Mapping[str, object]:
    """The one request that lies in `messages/`."""
    [path] = home.requests("messages")
    content = json.loads(path.read_text())
    assert isinstance(content, dict)
    return content


def answer(home: Home, request_id: object, **fields: object) -> None:
    reply = home.box / "replies" / f"{request_id}.json"
    temporary = reply.with_suffix(".tmp")
    temporary.write_text(json.dumps({"requestId": request_id, **fields}))
    temporary.rename(reply)


async def test_a_request_lies_whole_in_its_directory_and_its_reply_is_found(home: Home) -> None:
    client = BoxClient(home.box)
    request = SendMessage(chat_jid=Jid("1@g.us"), text="hi")

    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(client.request(request, timeout_s=15))
        await eventually(lambda: home.requests("messages"))
        lies = the_request(home)
        answer(home, lies["requestId"], ok=True, result={"messageId": "x"})

    assert (lies["type"], lies["chatJid"], lies["text"]) == ("message", "1@g.us", "hi")
    assert asking.result() == Reply(
        request_id=RequestId(str(lies["requestId"])), ok=True, result={"messageId": "x"}
    )


async def test_a_refusal_is_a_reply_like_any_other(home: Home) -> None:
    request = SendMessage(chat_jid=Jid("1@g.us"), text="hi", request_id=RequestId("mine"))
    answer(home, "mine", ok=False, error={"code": "FORBIDDEN", "message": "no"})

    reply = await BoxClient(home.box).request(request, timeout_s=15)

    assert reply == Reply(
        request_id=RequestId("mine"), ok=False, error=ReplyError(code="FORBIDDEN", message="no")
    )


async def test_no_reply_in_time_means_unknown_and_the_request_stays(home: Home) -> None:
    request = SendMessage(chat_jid=Jid("1@g.us"), text="hi", request_id=RequestId("mine"))

    outcome = await BoxClient(home.box).request(request, timeout_s=0.05)

    assert outcome == ReplyUnknown(request_id=RequestId("mine"))
    assert the_request(home)["requestId"] == "mine"


async def test_a_box_that_takes_no_file_is_said(home: Home) -> None:
    shutil.rmtree(home.box / "messages")

    with pytest.raises(Unavailable):
        await BoxClient(home.box).request(SendMessage(chat_jid=Jid("1@g.us"), text="hi"), timeout_s=1)


async def test_a_reply_that_is_no_reply_is_said(home: Home) -> None:
    (home.box / "replies" / "mine.json").write_text("{}")

    with pytest.raises(Unavailable, match="unreadable"):
        await BoxClient(home.box).reply_to(RequestId("mine"), timeout_s=1)


def test_file_names_keep_the_rule_and_the_order_in_which_they_were_made() -> None:
    stems = [new_file_stem() for _ in range(1000)]

    assert stems == sorted(stems)
    assert all(is_file_name(stem) for stem in stems)
