"""What dead agents leave in their boxes never holds up the living, nor the next start."""

import asyncio
import contextlib
from pathlib import Path

import structlog

from orchestrator.contracts.ids import BoxName, GroupFolder, Jid
from orchestrator.contracts.records.agents import Agent
from orchestrator.engine.recovery import reconcile
from orchestrator.ipc.box import Box
from orchestrator.ipc.lane import IntakeLimits, Lane
from orchestrator.ipc.reading import Candidate, Item, NotNow, read_candidate
from orchestrator.runners.process_runner import ProcessRunner
from orchestrator.store import agents
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.transaction import Transaction
from tests.edges.ipc.conftest import World, mount_small_disk, no_more_files, running, unmount, world_at
from tests.support import store_rows
from tests.support.eventually import eventually

LIMITS = IntakeLimits(per_minute=1, burst=5)


async def _reconcile(world: World) -> None:
    runner = ProcessRunner(programs_directory=world.home)
    try:
        await reconcile(
            world.services,
            world.keeper,
            runner,
            runner_named=lambda name: runner,
            instance_id="instance-1",
        )
    finally:
        await runner.close()


async def _believed_live(world: World, name: str) -> Agent:
    """An agent of the group of that name that an earlier process did not bury."""
    agent = store_rows.agent(
        f"agent-{name}",
        group=GroupFolder(name),
        chat_jid=Jid(f"console:{name}"),
        box=BoxName(name),
        runner="process",
    )

    def remember(tx: Transaction) -> None:
        if agents.get(tx, agent.agent_id) is None:  # its hand in the test may have left a record
            agents.add(tx, agent)

    await world.services.db.run(remember)
    return agent


async def test_a_dead_agents_box_has_one_burst_done_at_once_and_the_rest_refused_with_the_reason(
    tmp_path: Path,
) -> None:
    async with world_at(tmp_path / "home", limits=LIMITS) as world:
        agent = await world.agent("family")
        for number in range(12):
            agent.say(f"{number:04}.json", str(number))
        async with asyncio.timeout(60):  # at its rate it would take 7 minutes
            await world.keeper.drain(agent.caller, agent.port)
        texts = await world.texts()

    assert texts == ["0", "1", "2", "3", "4"]
    assert {(reason["code"], reason["name"]) for reason in world.reasons("family")} == {
        ("RATE_LIMITED", f"{number:04}.json") for number in range(5, 12)
    }
    assert len(world.evidence("family")) == 7
    assert agent.lying() == []


async def test_an_agent_that_used_up_its_burst_alive_has_one_more_for_what_it_left(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home", limits=LIMITS) as world:
        agent = await world.agent("family")
        for number in range(10):
            agent.say(f"{number:04}.json", str(number))
        await world.keeper.take_waiting_texts(agent.caller.box, at_most_s=0)
        before = await world.texts()
        await world.keeper.drain(agent.caller, agent.port)
        after = await world.texts()

    assert before == ["0", "1", "2", "3", "4"]
    assert after == [str(number) for number in range(10)]
    assert world.reasons("family") == []


async def test_what_a_dead_agent_left_half_written_between_its_requests_is_kept_with_the_reason(
    tmp_path: Path,
) -> None:
    async with world_at(tmp_path / "home", limits=LIMITS) as world:
        agent = await world.agent("family")
        agent.drop("0000.json", b'{"type": "mess')
        for number in range(1, 8):
            agent.say(f"{number:04}.json", str(number))
        await world.keeper.take_waiting_texts(agent.caller.box, at_most_s=0)
        refused_alive = world.reasons("family")
        await world.keeper.drain(agent.caller, agent.port)
        texts = await world.texts()

    assert refused_alive == []
    assert texts == [str(number) for number in range(1, 8)]
    assert [reason["name"] for reason in world.reasons("family")] == ["0000.json"]
    assert agent.lying() == []


async def test_what_a_dead_agent_left_unfinished_is_kept_though_live_boxes_are_served_meanwhile(
    tmp_path: Path,
) -> None:
    names = [f"{number:04}.json" for number in range(250)]  # more than a batch
    async with world_at(tmp_path / "home") as world:
        agent = await world.agent("family")
        for name in names:
            agent.drop(name, b'{"type": "mess')
        async with running(world), asyncio.timeout(60):
            await world.keeper.drain(agent.caller, agent.port)
            left = agent.lying()

    assert sorted(reason["name"] for reason in world.reasons("family")) == names
    assert left == []


async def test_of_a_flood_two_hundred_are_kept_for_the_operator_and_it_is_told_once(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home", limits=LIMITS) as world:
        agent = await world.agent("family")
        for number in range(305):
            agent.say(f"{number:04}.json", str(number))
        with structlog.testing.capture_logs() as logs:
            await world.keeper.drain(agent.caller, agent.port)

    assert len(world.reasons("family")) == 200
    assert [(log["box"], log["refused"]) for log in logs if log["event"] == "box.not_emptied"] == [
        ("family", 300)
    ]


async def test_a_flood_in_one_left_box_does_not_hold_up_the_start(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home", limits=LIMITS) as first:
        agent = await first.agent("family")
        await _believed_live(first, "family")
        for number in range(1_000):
            agent.say(f"{number:04}.json", str(number))

    async with world_at(tmp_path / "home", limits=LIMITS) as second:
        async with asyncio.timeout(60):  # at its rate it would take hours
            await _reconcile(second)
        texts, boxes = await second.texts(), await second.keeper.names()

    assert texts == ["0", "1", "2", "3", "4"]
    assert boxes == []


async def test_a_box_that_cannot_be_moved_keeps_no_other_agent_from_its_burial(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home") as world:
        for name in ("family", "club"):
            await _believed_live(world, name)
        agent = await world.agent("club")
        agent.say("0001.json", "left over")
        box = world.home / "data" / "ipc" / "family"
        box.mkdir()
        mount_small_disk(box, size="1m")
        try:
            await _reconcile(world)
            live, boxes = await world.services.db.run(agents.live), await world.keeper.names()
        finally:
            unmount(box)
        texts = await world.texts()

    assert live == []
    assert boxes == ["family"]
    assert texts == ["left over"]


async def test_a_request_that_we_have_no_descriptor_for_is_done_when_we_have_one(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home", limits=LIMITS) as world:
        agent = await world.agent("family")
        agent.say("0001.json", "patience")
        with structlog.testing.capture_logs() as logs:
            async with asyncio.TaskGroup() as tasks:
                with no_more_files():
                    tasks.create_task(world.keeper.drain(agent.caller, agent.port))
                    await eventually(lambda: any(log["event"] == "box.not_listed" for log in logs))
        texts = await world.texts()

    assert texts == ["patience"]
    assert world.reasons("family") == []


async def test_a_live_box_that_could_not_be_listed_is_looked_at_until_it_can_be(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home", limits=LIMITS, make_hints=None) as world, running(world):
        agent = await world.agent("family")
        agent.say("0001.tmp", "patience")
        with structlog.testing.capture_logs() as logs:
            with no_more_files():
                (agent.path / "messages" / "0001.tmp").rename(agent.path / "messages" / "0001.json")
                await eventually(lambda: sum(log["event"] == "box.not_listed" for log in logs) > 3)
            await eventually(lambda: agent.lying() == [])
        texts = await world.texts()

    assert texts == ["patience"]
    assert world.reasons("family") == []


async def test_a_start_without_a_descriptor_to_spare_takes_requests_once_there_is_one(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home", limits=LIMITS, make_hints=None) as world:
        agent = await world.agent("family")
        agent.say("0001.json", "patience")
        async with contextlib.AsyncExitStack() as stack:
            with structlog.testing.capture_logs() as logs, no_more_files():
                await stack.enter_async_context(running(world))
                await eventually(lambda: any(log["event"] == "boxes.not_cleared" for log in logs))
            await eventually(lambda: agent.lying() == [])
        texts = await world.texts()

    assert texts == ["patience"]


async def test_a_request_whose_reading_fails_for_want_of_descriptors_is_not_refused(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home") as world:
        agent = await world.agent("family")
        agent.say("0001.json", "patience")
        with SafeDir.open(agent.path.parent) as ipc:
            box = Box.reopen(ipc, BoxName("family"))
        assert box is not None
        lane = Lane(agent.caller, box, burst=1, now=0)
        candidate = Candidate.of(lane, "messages", "0001.json")
        with no_more_files():
            alive = read_candidate(candidate)
            lane.set_left(agent.caller, now=0)
            dead = read_candidate(candidate)
        later = read_candidate(candidate)
        box.close()

    assert alive == dead == NotNow(candidate=candidate, is_gone=False, trouble="Too many open files")
    assert isinstance(later, Item)


async def test_something_odd_among_the_evidence_stops_no_box_from_being_served(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home") as world:
        (world.home / "data" / "ipc" / "errors" / "a-file").touch()
        with structlog.testing.capture_logs() as logs:
            async with running(world):
                await eventually(lambda: any(log["event"] == "evidence.not_pruned" for log in logs))
                agent = await world.agent("family")
                agent.say("0001.json", "served")
                await eventually(lambda: agent.lying() == [])
        texts = await world.texts()

    assert texts == ["served"]
