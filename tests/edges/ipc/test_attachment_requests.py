"""Files that an agent asks to send: queued once, in its order, each with a copy as long as it is needed."""

import os
import threading

import pytest

from orchestrator.commands.saying.attachments import remove_ended, sweep_spool
from orchestrator.commands.saying.delivery import claim_next, note_refused, note_sent, note_unknown
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import Receipt
from tests.edges.ipc.conftest import World, running
from tests.edges.ipc.sending import ask_to_send, rows, sent_files, spool, workspace
from tests.support.eventually import eventually
from tests.support.small_disk import small_disk

CHAT = Jid("console:family")


async def test_a_file_is_queued_as_it_was_when_it_was_asked_for(live: World) -> None:
    agent = await live.agent("family")
    (workspace(live) / "report.pdf").write_bytes(b"first")

    reply = await ask_to_send(agent, "/workspace/group/report.pdf", text="The figures.")
    (workspace(live) / "report.pdf").write_bytes(b"second")

    assert reply["result"] == {"status": "queued"}
    [row] = await rows(live)
    assert (row["text"], row["file_name"], row["file_type"]) == (
        "The figures.",
        "report.pdf",
        "application/pdf",
    )
    assert await sent_files(live) == {"report.pdf": b"first"}


async def test_k7_the_next_text_never_overtakes_a_file_or_a_long_text(world: World) -> None:
    """Case K7."""
    agent = await world.agent("family")
    (workspace(world) / "big.bin").write_bytes(os.urandom(8 * 1024 * 1024))
    agent.say("0001.json", "x" * 60_000)
    agent.say("0002.json", "after the long one")
    agent.say("0003.json", "with a file", attachments=["big.bin"])
    agent.say("0004.json", "after the file")
    agent.say("0005.json", "", attachments=["big.bin", "big.bin"])
    agent.say("0006.json", "at the end")

    async with running(world):
        await eventually(lambda: agent.lying() == [])

    found = [(row["text"], row["file_name"]) for row in await rows(world)]
    assert "".join(text for text, _ in found[:-6]) == "x" * 60_000
    assert found[-6:] == [
        ("after the long one", None),
        ("with a file", "big.bin"),
        ("after the file", None),
        ("", "big.bin"),
        ("", "big.bin"),
        ("at the end", None),
    ]


async def test_a_role_stands_before_the_caption_and_the_quote_goes_with_the_first_message(
    live: World,
) -> None:
    agent = await live.agent("family")
    for name in ("a.txt", "b.txt"):
        (workspace(live) / name).write_text(name)

    agent.say("1.json", "done", attachments=["a.txt", "b.txt"], sender="cook", replyTo="m-1")
    await eventually(lambda: agent.lying() == [])

    found = [(row["text"], row["file_name"], row["reply_to"]) for row in await rows(live)]
    assert found == [("[cook] done", "a.txt", "m-1"), ("", "b.txt", None)]


@pytest.mark.parametrize("reply_to", ["", "a\nb", "x" * 257, "\x00"])
async def test_a_quote_of_what_can_be_no_message_is_refused(live: World, reply_to: str) -> None:
    agent = await live.agent("family")

    agent.say("1.json", "hi", replyTo=reply_to, requestId="r-1")
    await eventually(lambda: "r-1" in agent.replies())

    assert agent.replies()["r-1"]["error"]["code"] == "INVALID_REQUEST"
    assert await rows(live) == []


async def test_more_files_than_a_message_may_have_are_refused_and_none_is_sent(live: World) -> None:
    agent = await live.agent("family")
    (workspace(live) / "a.txt").write_text("a")

    reply = await ask_to_send(agent, *["a.txt"] * 11)

    assert reply["error"]["code"] == "ATTACHMENT_REFUSED"
    assert "11 attachments; 10 is the limit" in reply["error"]["message"]
    assert (await rows(live), spool(live)) == ([], [])


async def test_a_file_for_a_chat_that_is_not_the_agents_own_leaves_no_copy(live: World) -> None:
    agent = await live.agent("family")
    (workspace(live) / "a.txt").write_text("a")

    agent.drop(
        "1.json",
        {
            "type": "message",
            "chatJid": "console:club",
            "text": "",
            "attachments": ["a.txt"],
            "requestId": "r-1",
        },
    )
    await eventually(lambda: "r-1" in agent.replies())

    assert agent.replies()["r-1"]["error"]["code"] == "FORBIDDEN"
    assert (await rows(live), spool(live)) == ([], [])


async def test_a_request_met_again_sends_its_file_once_and_leaves_one_copy(live: World) -> None:
    agent = await live.agent("family")
    (workspace(live) / "a.txt").write_text("a")
    await ask_to_send(agent, "a.txt")

    body = {"text": "", "attachments": ["a.txt"], "requestId": "send-1"}
    agent.say("0009.json", **body)  # type: ignore[arg-type]  # of mixed types
    await eventually(lambda: agent.lying() == [])

    [row] = await rows(live)
    assert spool(live) == [row["spool_name"]]


async def test_the_main_agent_sends_its_own_file_to_another_chat(live: World) -> None:
    agent = await live.agent("main", is_main=True)
    (workspace(live, "main") / "a.txt").write_text("of main")
    (workspace(live, "club") / "a.txt").write_text("of the club")

    agent.drop("1.json", {"type": "message", "chatJid": "console:club", "text": "", "attachments": ["a.txt"]})
    await eventually(lambda: agent.lying() == [])

    assert await sent_files(live) == {"a.txt": b"of main"}
    assert [row["chat_jid"] for row in await rows(live)] == ["console:club"]


async def test_on_a_full_disk_the_request_and_those_behind_it_wait_and_are_done_when_there_is_room(
    world: World,
) -> None:
    agent, other = await world.agent("family"), await world.agent("club")
    (workspace(world) / "a.bin").write_bytes(b"x" * 2_000_000)
    agent.say("0001.json", "", attachments=["a.bin"], requestId="r-1")
    agent.say("0002.json", "behind it")
    other.say("0001.json", "of another", requestId="r-1")
    with small_disk(world.services.paths.spool, 1024 * 1024):
        async with running(world):
            await eventually(lambda: "r-1" in other.replies())
        waiting = (agent.lying(), agent.replies(), await world.texts(), spool(world))

    async with running(world):
        await eventually(lambda: agent.lying() == [])

    assert waiting == (["0001.json", "0002.json"], {}, ["of another"], [])
    assert agent.replies()["r-1"]["ok"]
    assert await sent_files(world) == {"a.bin": b"x" * 2_000_000}
    assert [(row["text"], row["file_name"]) for row in await rows(world)][1:] == [
        ("", "a.bin"),
        ("behind it", None),
    ]


@pytest.mark.parametrize("fate", ["sent", "refused", "waiting", "unknown"])
async def test_a_copy_stays_as_long_as_its_row_may_need_it(live: World, fate: str) -> None:
    services = live.services
    agent = await live.agent("family")
    (workspace(live) / "a.txt").write_text("a")
    await ask_to_send(agent, "a.txt")
    at = services.clock.now()
    due = await services.db.run(lambda tx: claim_next(tx, services, CHAT, at=at))
    item = due.item
    assert item is not None
    match fate:
        case "sent":
            receipt = Receipt(message_id=MessageId("out-1"))
            await services.db.run(lambda tx: note_sent(tx, item, receipt, at=at))
        case "refused":
            await services.db.run(lambda tx: note_refused(tx, services, item, why="no", at=at))
        case "unknown":
            await services.db.run(lambda tx: note_unknown(tx, item, why="lost", at=at))

    await remove_ended(services)

    [row] = [row for row in await rows(live) if row["source"] == "request"]
    is_kept = fate in ("waiting", "unknown")
    assert spool(live) == ([row["spool_name"]] if is_kept else [])
    assert (row["spool_name"] is not None) is is_kept
    assert row["file_name"] == "a.txt"


async def test_a_start_removes_copies_without_a_row_and_no_others(live: World) -> None:
    agent = await live.agent("family")
    (workspace(live) / "a.txt").write_text("a")
    await ask_to_send(agent, "a.txt")
    (live.services.paths.spool / "left").write_bytes(b"by a kill between copy and commit")

    await sweep_spool(live.services)

    assert await sent_files(live) == {"a.txt": b"a"}
    assert len(spool(live)) == 1


async def test_the_requests_of_others_are_taken_while_a_file_is_refused_again_and_again(
    live: World,
) -> None:
    family, club = await live.agent("family"), await live.agent("club")
    (workspace(live) / "a.txt").symlink_to("/etc/hostname")
    for number in range(50):
        family.say(f"{number:04}.json", "", attachments=["a.txt"])
    club.say("1.json", "hello")

    await eventually(lambda: family.lying() == [] and club.lying() == [])

    assert await live.texts() == ["hello"]


async def test_a_text_of_another_box_does_not_wait_for_a_file_that_is_copied(
    live: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    family, club = await live.agent("family"), await live.agent("club")
    (workspace(live) / "a.txt").write_text("a")
    may_go_on, read = threading.Event(), os.read

    def read_when_allowed(fd: int, count: int) -> bytes:
        if count == 1 << 20:  # so much is read at once by the copying only
            may_go_on.wait(30)
        return read(fd, count)

    monkeypatch.setattr(os, "read", read_when_allowed)
    family.say("1.json", "", attachments=["a.txt"])
    await eventually(lambda: spool(live))
    club.say("1.json", "hello", requestId="r-1")
    await eventually(lambda: "r-1" in club.replies())
    waiting = family.lying()
    may_go_on.set()
    await eventually(lambda: family.lying() == [])

    assert waiting == ["1.json"]
    assert [row["text"] for row in await rows(live)] == ["hello", ""]


async def test_a_stop_while_a_file_is_copied_leaves_the_box_free_and_its_request_for_later(
    world: World,
) -> None:
    agent = await world.agent("family")
    (workspace(world) / "big.bin").write_bytes(os.urandom(8 * 1024 * 1024))
    for number in range(3):
        agent.say(f"{number}.json", str(number), attachments=["big.bin"])

    async with running(world):
        await eventually(lambda: spool(world))
    await world.keeper.drain(agent.caller, agent.port)
    await world.keeper.remove(agent.caller.box)
    await sweep_spool(world.services)

    found = await rows(world)
    assert [row["text"] for row in found] == ["0", "1", "2"]
    assert spool(world) == sorted(row["spool_name"] for row in found)


async def test_texts_taken_and_drained_while_files_are_copied_wait_for_the_copies(live: World) -> None:
    agent = await live.agent("family")
    (workspace(live) / "big.bin").write_bytes(os.urandom(8 * 1024 * 1024))
    for number in range(5):
        agent.say(f"{number:04}.json", str(number), attachments=["big.bin"])

    await live.keeper.take_waiting_texts(agent.caller.box, at_most_s=60)
    taken = [row["text"] for row in await rows(live)]
    agent.say("0005.json", "5", attachments=["big.bin"])
    await live.keeper.drain(agent.caller, agent.port)
    await live.keeper.remove(agent.caller.box)

    assert taken == ["0", "1", "2", "3", "4"]
    assert [row["text"] for row in await rows(live)] == ["0", "1", "2", "3", "4", "5"]
