"""A request file: its effect once, its answer, its end."""

import asyncio
import json
import os
import sqlite3
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from orchestrator.contracts.ids import RequestId, TurnId
from orchestrator.contracts.wire.replies import Reply
from orchestrator.ipc.lane import IntakeLimits
from tests.edges.ipc.conftest import World, running, world_at
from tests.support.eventually import eventually


async def test_a_message_is_queued_answered_and_removed(live: World) -> None:
    agent = await live.agent("family")

    agent.say("0001.json", "supper is ready", requestId="r-1")

    await eventually(lambda: "r-1" in agent.replies() and agent.lying() == [])
    assert await live.texts() == ["supper is ready"]
    assert agent.replies()["r-1"] == {"requestId": "r-1", "ok": True, "result": {"status": "queued"}}
    assert live.reasons("family") == []


async def test_files_of_a_directory_are_taken_in_name_order(world: World) -> None:
    agent = await world.agent("family")
    for number in (7, 3, 250, 1, 99):
        agent.say(f"{number:04}.json", str(number))

    await world.keeper.drain(agent.caller, agent.port)

    assert await world.texts() == ["1", "3", "7", "99", "250"]


async def test_without_a_request_id_there_is_no_reply_file(world: World) -> None:
    agent = await world.agent("family")
    agent.say("0001.json", "hello")

    await world.keeper.drain(agent.caller, agent.port)

    assert await world.texts() == ["hello"]
    assert agent.replies() == {}


async def test_the_form_of_a_1x_agent_is_understood_and_its_temporary_files_are_left(world: World) -> None:
    agent = await world.agent("family")
    older = {
        "type": "message",
        "chatJid": "console:family",
        "text": "hello",
        "sender": "Cook",
        "groupFolder": "family",
        "timestamp": "2026-01-01T10:00:00.000Z",
    }
    agent.drop("1767261600000-a1b2c3.json", json.dumps(older, indent=2).encode())
    (agent.path / "messages" / "1767261600001-d4e5f6.json.tmp").write_text("{}")
    (agent.path / "messages" / ".0002.json.tmp").write_text("{}")

    await world.keeper.drain(agent.caller, agent.port)

    assert await world.texts() == ["[Cook] hello"]
    assert sorted(path.name for path in (agent.path / "messages").iterdir()) == [
        ".0002.json.tmp",
        "1767261600001-d4e5f6.json.tmp",
    ]


async def test_d_20_another_groups_chat_is_forbidden_answered_and_kept_as_evidence(world: World) -> None:
    """Case D-20."""
    agent = await world.agent("family")
    foreign = {"type": "message", "chatJid": "console:club", "text": "psst", "requestId": "r-1"}
    agent.drop("0001.json", foreign)

    await world.keeper.drain(agent.caller, agent.port)

    assert await world.texts() == []
    assert agent.replies()["r-1"]["error"]["code"] == "FORBIDDEN"
    (reason,) = world.reasons("family")
    assert (reason["code"], reason["name"], reason["requestId"]) == ("FORBIDDEN", "0001.json", "r-1")
    assert [json.loads(raw) for raw in world.evidence("family")] == [foreign]
    assert agent.lying() == []


async def test_main_may_write_to_another_registered_chat_but_to_no_unregistered_one(world: World) -> None:
    agent = await world.agent("main", is_main=True)
    agent.drop("1.json", {"type": "message", "chatJid": "console:club", "text": "hi", "requestId": "a"})
    agent.drop("2.json", {"type": "message", "chatJid": "console:nobody", "text": "hi", "requestId": "b"})

    await world.keeper.drain(agent.caller, agent.port)

    assert await world.texts() == ["hi"]
    replies = agent.replies()
    assert replies["a"]["ok"] is True
    assert replies["b"]["error"]["code"] == "NOT_REGISTERED"


async def test_who_asks_is_told_by_the_box_and_never_by_the_body(world: World) -> None:
    agent = await world.agent("family")
    claim = {
        "type": "message",
        "chatJid": "console:club",
        "text": "psst",
        "groupFolder": "club",
        "isMain": True,
        "agentId": "agent-main",
    }
    agent.drop("0001.json", claim)

    await world.keeper.drain(agent.caller, agent.port)

    assert await world.texts() == []
    assert [reason["code"] for reason in world.reasons("family")] == ["FORBIDDEN"]


async def test_the_same_request_id_again_gives_the_stored_answer_and_no_second_effect(world: World) -> None:
    agent = await world.agent("family")
    agent.say("0001.json", "once", requestId="r-1")
    agent.say("0002.json", "once", requestId="r-1")
    agent.say("0003.json", "another body", requestId="r-1")

    await world.keeper.drain(agent.caller, agent.port)

    assert await world.texts() == ["once"]
    assert agent.replies()["r-1"]["error"]["code"] == "INVALID_REQUEST"  # of the third, the last to answer


async def test_a_name_used_again_is_a_new_request(live: World) -> None:
    agent = await live.agent("family")

    for text in ("one", "two", "three"):
        agent.say("0001.json", text)
        await eventually(lambda: agent.lying() == [])

    assert await live.texts() == ["one", "two", "three"]


async def test_a_file_exchanged_between_its_effect_and_its_removal_is_a_request_of_its_own(
    world: World,
) -> None:
    agent = await world.agent("family")
    agent.say("0001.json", "first")

    def exchange() -> None:
        world.milestones.at.clear()
        agent.say("0001.json", "second")

    world.milestones.at["request.committed"] = exchange

    await world.keeper.drain(agent.caller, agent.port)

    assert await world.texts() == ["first", "second"]
    assert agent.lying() == []


class Killed(BaseException):
    """What ends the first process."""


async def _die_with_a_request(home: Path, *, at: str) -> None:
    """Begin a request and end at that point, as by a kill. Raises Killed."""

    def die() -> None:
        raise Killed

    async with world_at(home) as world:
        agent = await world.agent("family")
        agent.say("0001.json", "once", requestId="r-1")
        world.milestones.at[at] = die
        await world.keeper.drain(agent.caller, agent.port)


@pytest.mark.parametrize("point", ["request.committed", "reply.written"])
async def test_a_request_met_again_after_a_crash_has_no_second_effect_and_its_answer(
    tmp_path: Path, point: str
) -> None:
    with pytest.raises(Killed):
        await _die_with_a_request(tmp_path / "home", at=point)
    was_answered = "r-1.json" in os.listdir(tmp_path / "home" / "data" / "ipc" / "family" / "replies")

    async with world_at(tmp_path / "home") as second:
        agent = await second.agent_again("family")
        await second.keeper.drain(agent.caller, agent.port)
        texts = await second.texts()

    assert was_answered is (point == "reply.written")
    assert texts == ["once"]
    assert agent.replies()["r-1"]["ok"] is True
    assert agent.lying() == []


async def test_a_reply_that_a_crash_kept_back_is_written_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        await _die_with_a_request(tmp_path / "home", at="request.committed")

    async with world_at(tmp_path / "home") as second, running(second):
        agent = await second.agent_again("family")
        await eventually(lambda: "r-1" in agent.replies())

    assert agent.replies()["r-1"]["ok"] is True


async def test_a_request_that_arrives_while_the_store_is_away_is_done_when_it_is_back(world: World) -> None:
    agent = await world.agent("family")
    agent.say("0001.json", "patience", requestId="r-1")
    lock = sqlite3.connect(world.services.paths.database, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")  # another program writes, and takes its time
    with capture_logs() as logs:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(world.keeper.drain(agent.caller, agent.port))
            await eventually(lambda: [log for log in logs if log["event"] == "request.held"])
            still_there = agent.lying()
            lock.execute("ROLLBACK")
    lock.close()

    assert still_there == ["0001.json"]
    assert await world.texts() == ["patience"]
    assert agent.replies()["r-1"]["ok"] is True


async def test_requests_belong_to_the_turn_that_the_engine_named(world: World) -> None:
    agent = await world.agent("family")
    agent.say("0001.json", "in the turn")
    world.keeper.set_turn(agent.caller.box, TurnId("turn-1"))
    await world.keeper.take_waiting_texts(agent.caller.box, at_most_s=5)
    agent.say("0002.json", "after it")
    world.keeper.set_turn(agent.caller.box, None)
    await world.keeper.take_waiting_texts(agent.caller.box, at_most_s=5)

    async with world.services.db.reader() as reader:
        rows = await reader.all("SELECT text, turn_id FROM outbox ORDER BY id")
    assert [(row["text"], row["turn_id"]) for row in rows] == [("in the turn", "turn-1"), ("after it", None)]


async def test_settling_takes_what_lies_there_and_returns_without_waiting_for_a_half_written_file(
    world: World,
) -> None:
    agent = await world.agent("family")
    agent.say("0001.json", "done")
    (agent.path / "messages" / "0000.json").write_text('{"type": "mess')

    async with asyncio.timeout(20):
        await world.keeper.take_waiting_texts(agent.caller.box, at_most_s=60)

    assert await world.texts() == ["done"]
    assert agent.lying() == ["0000.json"]


async def test_a_file_written_in_place_slowly_is_taken_when_it_is_complete(live: World) -> None:
    agent = await live.agent("family")
    path = agent.path / "messages" / "0001.json"
    raw = json.dumps({"type": "message", "chatJid": "console:family", "text": "slowly"}).encode()

    while await _written_slowly(path, raw) > 0.3:  # a busy machine made a pause that no writer makes
        await eventually(lambda: agent.lying() == [])
    await eventually(lambda: agent.lying() == [])

    assert (await live.texts())[-1] == "slowly"


async def _written_slowly(path: Path, raw: bytes) -> float:
    """Write a file in place, piece by piece; the longest pause between two pieces, in seconds."""
    loop = asyncio.get_running_loop()
    pauses, last = [0.0], loop.time()
    with path.open("wb", buffering=0) as file:
        for at in range(0, len(raw), 8):
            file.write(raw[at : at + 8])
            await asyncio.sleep(0.03)
            pauses.append(loop.time() - last)
            last = loop.time()
    return max(pauses)


async def test_the_rate_makes_a_box_wait_and_drops_nothing(tmp_path: Path) -> None:
    limits = IntakeLimits(per_minute=600, burst=5)
    async with world_at(tmp_path / "home", limits=limits) as world, running(world):
        full, calm = await world.agent("family"), await world.agent("club")
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for number in range(30):
            full.say(f"{number:04}.json", f"full {number:02}")
        await eventually(lambda: len(full.lying()) <= 25)
        calm.say("0001.json", "calm")
        await eventually(lambda: calm.lying() == [])
        await eventually(lambda: full.lying() == [])
        took_s = loop.time() - begun
        texts = await world.texts()

    assert [text for text in texts if text != "calm"] == [f"full {number:02}" for number in range(30)]
    assert texts[-1] != "calm"
    assert took_s >= 2.4  # 25 beyond the burst, one each tenth of a second


async def test_settling_waits_for_the_rate_only_so_long(tmp_path: Path) -> None:
    limits = IntakeLimits(per_minute=1, burst=2)
    async with world_at(tmp_path / "home", limits=limits) as world:
        agent = await world.agent("family")
        for number in range(5):
            agent.say(f"{number:04}.json", str(number))
        async with asyncio.timeout(20):
            await world.keeper.take_waiting_texts(agent.caller.box, at_most_s=0.2)
        texts = await world.texts()

    assert texts == ["0", "1"]
    assert agent.lying() == ["0002.json", "0003.json", "0004.json"]


async def test_d_b_a_file_is_taken_when_it_comes_and_not_when_the_poll_looks(tmp_path: Path) -> None:
    """Case D-b."""
    async with world_at(tmp_path / "home", poll_s=3_600) as world, running(world):
        agent = await world.agent("family")
        for number in range(3):
            agent.say(f"{number}.json", str(number))
            await eventually(lambda: agent.lying() == [])
        texts = await world.texts()

    assert texts == ["0", "1", "2"]


async def test_a_full_box_lets_another_boxs_single_file_through_before_it_is_empty(world: World) -> None:
    full, calm = await world.agent("family"), await world.agent("club")
    for number in range(3_000):
        full.say(f"{number:05}.json", "flood")
    calm.say("0001.json", "calm")

    async with running(world):
        await eventually(lambda: full.lying() == [] and calm.lying() == [], within_s=60)

    texts = await world.texts()
    assert len(texts) == 3_001
    assert texts.index("calm") < 1_500


async def test_a_reply_outside_of_the_name_rule_is_never_written(world: World) -> None:
    agent = await world.agent("family")

    await agent.port.write_reply(Reply(request_id=RequestId("../../evil"), ok=True))
    agent.say("0001.json", "x", requestId="../../evil")
    await world.keeper.drain(agent.caller, agent.port)

    assert agent.replies() == {}
    assert [reason["code"] for reason in world.reasons("family")] == ["INVALID_REQUEST"]


async def test_an_unknown_type_and_a_directory_without_types_are_refused_by_name(world: World) -> None:
    agent = await world.agent("family")
    agent.drop("1.json", {"type": "dance", "requestId": "a"})
    agent.drop("2.json", {"type": "message", "requestId": "b"}, directory="tasks")

    await world.keeper.drain(agent.caller, agent.port)

    replies = agent.replies()
    assert replies["a"]["error"]["code"] == "UNKNOWN_TYPE"
    assert "message" in replies["a"]["error"]["suggestion"]
    assert replies["b"]["error"]["code"] == "UNKNOWN_TYPE"
    assert agent.lying("tasks") == []


async def test_a_box_is_removed_only_when_what_was_done_of_it_is_answered(live: World) -> None:
    agent = await live.agent("family")
    order = live.milestones.reached_so_far

    async def remove() -> None:
        await live.keeper.remove(agent.caller.box)
        order.append("removed")

    async with asyncio.TaskGroup() as tasks:

        def begin_removal() -> None:
            tasks.create_task(remove())

        live.milestones.at["request.committed"] = begin_removal
        with capture_logs() as logs:
            agent.say("0001.json", "the last word", requestId="r-1")
            await eventually(lambda: "removed" in order)

    assert order.index("reply.written") < order.index("removed")
    assert [line["event"] for line in logs if line["log_level"] in ("warning", "error")] == []
    assert await live.texts() == ["the last word"]


async def test_a_box_that_was_watched_is_not_taken_from_after_it_was_removed(live: World) -> None:
    agent = await live.agent("family")
    path = agent.path
    await live.keeper.remove(agent.caller.box)

    assert not path.exists()
    assert await live.keeper.names() == []
    again = await live.agent("family")
    again.say("0001.json", "a new life")
    await eventually(lambda: again.lying() == [])
    assert await live.texts() == ["a new life"]
