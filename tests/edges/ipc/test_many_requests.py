"""Many requests at once: every one once, in its order, answered and gone, whatever happens meanwhile."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from orchestrator.contracts.ids import TurnId
from orchestrator.ipc.lane import IntakeLimits
from tests.edges.ipc.clerks import clerks
from tests.edges.ipc.conftest import AgentHand, World, running, world_at
from tests.support.eventually import eventually

MANY = 700
"""More than a batch, so that batches follow each other and a clerk comes."""


def _flood(agent: AgentHand, count: int = MANY, *, asks: bool = False) -> list[str]:
    """Requests of one box; their texts in order."""
    for number in range(count):
        more = {"requestId": f"r-{number}"} if asks else {}
        agent.say(f"{number:05}.json", f"{agent.caller.box} {number}", **more)
    return [f"{agent.caller.box} {number}" for number in range(count)]


async def _texts_of(world: World, agent: AgentHand) -> list[str]:
    return [text for text in await world.texts() if text.startswith(f"{agent.caller.box} ")]


def _taken(agent: AgentHand) -> list[str]:
    return [name for name in os.listdir(agent.path) if name.startswith(".taken")]


async def test_each_has_its_effect_once_in_order_and_its_reply_and_nothing_is_left(world: World) -> None:
    full, calm = await world.agent("family"), await world.agent("club")
    expected = _flood(full, asks=True)
    for number in (0, MANY - 10):  # larger than what goes over the clerk's line
        large = {"requestId": f"r-{number}", "unknown": "x" * 70_000}
        full.say(f"{number:05}.json", f"family {number}", **large)
    calm.say("0001.json", "club 0", requestId="r-0")

    async with running(world):
        await eventually(lambda: full.lying() == [] and calm.lying() == [], within_s=60)
        await eventually(lambda: _taken(full) == [], within_s=60)
        await eventually(lambda: _are_forgotten(world), within_s=60)

    assert await _texts_of(world, full) == expected
    assert await _texts_of(world, calm) == ["club 0"]
    answers = full.replies()
    assert set(answers) == {f"r-{number}" for number in range(MANY)}
    assert all(answers[name] == _answer(name) for name in answers)
    assert calm.replies() == {"r-0": _answer("r-0")}


async def _are_forgotten(world: World) -> bool:
    """Whether the store knows no file any more."""
    async with world.services.db.reader() as reader:
        return await reader.all("SELECT 1 FROM requests WHERE is_open = 1") == []


def _answer(request_id: str) -> dict[str, object]:
    return {"requestId": request_id, "ok": True, "result": {"status": "queued"}}


async def test_a_clerk_killed_again_and_again_loses_and_doubles_nothing(world: World) -> None:
    agent = await world.agent("family")
    expected = _flood(agent, 2 * MANY, asks=True)
    killed = set[int]()

    def kill_and_look() -> bool:
        for pid in set(clerks()) - killed:
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        return agent.lying() == []

    with capture_logs() as logs:
        async with running(world):
            await eventually(kill_and_look, within_s=120)

    assert killed
    assert await _texts_of(world, agent) == expected
    assert len(agent.replies()) == len(expected)
    assert {log["event"] for log in logs if log["log_level"] == "error"} == set()


async def test_the_clerk_goes_when_the_keeper_does(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home") as world:
        agent = await world.agent("family")
        _flood(agent)
        async with running(world):
            await eventually(clerks, within_s=60)
            await eventually(lambda: agent.lying() == [], within_s=60)

    assert clerks() == []


async def test_the_clerk_goes_when_nothing_comes_any_more_and_comes_back_for_the_next_flood(
    tmp_path: Path,
) -> None:
    limits = IntakeLimits(per_minute=None, clerk_stays_s=0.3)
    async with world_at(tmp_path / "home", limits=limits) as world:
        agent = await world.agent("family")
        async with running(world):
            for _ in range(2):
                _flood(agent)
                await eventually(lambda: agent.lying() == [], within_s=60)
                await eventually(lambda: clerks() == [], within_s=60)
        texts = await _texts_of(world, agent)

    assert len(texts) == 2 * MANY


async def test_where_no_clerk_can_be_started_the_same_is_done_and_it_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")  # as after an update that took Python away
    agent = await world.agent("family")
    expected = _flood(agent, asks=True)

    with capture_logs() as logs:
        async with running(world):
            await eventually(lambda: agent.lying() == [], within_s=60)

    assert await _texts_of(world, agent) == expected
    assert len(agent.replies()) == MANY
    assert _taken(agent) == []
    assert 1 <= len([log for log in logs if log["event"] == "clerk.not_started"]) <= 3


async def test_an_agent_is_given_its_box_back_only_when_what_was_begun_is_over(world: World) -> None:
    agent = await world.agent("family")
    _flood(agent)

    async with running(world):
        await eventually(lambda: "request.committed" in world.milestones.reached_so_far)
        with capture_logs() as logs:
            await world.keeper.remove(agent.caller.box)
        left = await world.keeper.names()
        texts = await _texts_of(world, agent)

    assert left == []
    assert len(texts) == len(set(texts))
    assert [log["event"] for log in logs if log["log_level"] in ("warning", "error")] == []


async def test_texts_that_wait_are_taken_before_a_pair_also_in_a_flood(world: World) -> None:
    agent = await world.agent("family")
    expected = _flood(agent, 400)

    async with running(world):
        await eventually(lambda: "request.committed" in world.milestones.reached_so_far)
        await world.keeper.take_waiting_texts(agent.caller.box, at_most_s=60)
        texts = await _texts_of(world, agent)

    assert texts == expected


async def test_each_belongs_to_the_turn_in_which_it_was_chosen(world: World) -> None:
    agent = await world.agent("family")
    world.keeper.set_turn(agent.caller.box, TurnId("turn-1"))
    _flood(agent)

    async with running(world):
        await eventually(lambda: "request.committed" in world.milestones.reached_so_far)
        world.keeper.set_turn(agent.caller.box, None)
        await eventually(lambda: agent.lying() == [], within_s=60)

    async with world.services.db.reader() as reader:
        rows = await reader.all("SELECT turn_id FROM outbox ORDER BY id")
    turns = [row["turn_id"] for row in rows]
    assert turns[0] == "turn-1"
    assert turns == sorted(turns, key=lambda turn: turn is None)


async def test_a_store_that_is_away_for_a_while_changes_no_order(world: World) -> None:
    full, other = await world.agent("family"), await world.agent("club")
    expected, others = _flood(full), _flood(other, 300)
    lock = sqlite3.connect(world.services.paths.database, isolation_level=None)

    def stop_the_store() -> None:
        world.milestones.at.clear()
        lock.execute("BEGIN IMMEDIATE")

    world.milestones.at["request.committed"] = stop_the_store
    with capture_logs() as logs:
        async with running(world):
            await eventually(lambda: [log for log in logs if log["event"] == "request.held"], within_s=60)
            lock.execute("ROLLBACK")
            await eventually(lambda: full.lying() == [] and other.lying() == [], within_s=60)
    lock.close()

    assert await _texts_of(world, full) == expected
    assert await _texts_of(world, other) == others


async def test_a_request_that_takes_long_keeps_its_place_in_its_box_and_holds_up_no_other(
    world: World,
) -> None:
    full, other = await world.agent("family"), await world.agent("club")
    workspace = world.services.paths.groups / "family" / "workspace"
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "photo.png").write_bytes(bytes(1_000))
    expected, others = _flood(full), _flood(other)
    for number in (3, 320, 690):
        full.say(f"{number:05}.json", f"family {number}", attachments=["photo.png"])

    async with running(world):
        with no_free_thread():  # so the copying waits
            await eventually(lambda: other.lying() == [], within_s=60)
            before = await _texts_of(world, full)
        await eventually(lambda: full.lying() == [], within_s=60)

    assert before == []
    assert await _texts_of(world, full) == expected
    assert await _texts_of(world, other) == others


@contextlib.contextmanager
def no_free_thread() -> Iterator[None]:
    """What asks for any thread waits for the end of this."""
    loop, end = asyncio.get_running_loop(), threading.Event()
    waiting = [loop.run_in_executor(None, end.wait) for _ in range(100)]
    try:
        yield
    finally:
        end.set()
    assert not all(job.cancelled() for job in waiting)


async def test_files_that_are_done_and_still_lie_there_are_not_done_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")  # a clerk would read them after their end
    agent = await world.agent("family")
    expected = _flood(agent, 300, asks=True)

    def say_more() -> None:  # so the directory is looked at while the replies are written
        number = len(expected)
        if number < 330:
            agent.say(f"{number:05}.json", f"family {number}")
            expected.append(f"family {number}")

    world.milestones.at["request.committed"] = say_more
    async with running(world):
        await eventually(lambda: agent.lying() == [], within_s=60)

    assert len(expected) > 300
    assert await _texts_of(world, agent) == expected


class Killed(BaseException):
    """What ends the first process."""


@pytest.mark.parametrize(("point", "nth"), [("request.committed", 3), ("reply.written", 2)])
async def test_a_crash_in_the_midst_of_many_loses_and_doubles_nothing(
    tmp_path: Path, point: str, nth: int
) -> None:
    with pytest.raises(BaseExceptionGroup):
        await _die_in_a_flood(tmp_path / "home", point=point, nth=nth)

    async with world_at(tmp_path / "home") as second, running(second):
        agent = await second.agent_again("family")
        second.keeper.watch(agent.caller, agent.port)
        await eventually(lambda: agent.lying() == [], within_s=60)
        texts = await _texts_of(second, agent)
        await eventually(lambda: len(agent.replies()) == MANY and _taken(agent) == [])

    assert texts == [f"family {number}" for number in range(MANY)]


async def _die_in_a_flood(home: Path, *, point: str, nth: int) -> None:
    """End at the nth time that a point is reached, as by a kill. Raises a group with Killed in it."""

    def die() -> None:
        if world.milestones.reached_so_far.count(point) == nth:
            raise Killed

    async with world_at(home) as world:
        agent = await world.agent("family")
        _flood(agent, asks=True)
        world.milestones.at[point] = die
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(world.keeper.run())
