"""Spawned agents that are started again after they ended by themselves. agents.md section 2."""

import hashlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from orchestrator.commands.agents.agent_views import agent_views, as_metadata
from orchestrator.commands.running.burial import bury
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.running.reserved import LOST, end_unwanted
from orchestrator.commands.running.results import take_result_text
from orchestrator.commands.running.stopping import stop_cascade
from orchestrator.commands.running.turns import PairKey
from orchestrator.commands.running.waiting import waiting_work
from orchestrator.commands.spawning.spawn_replies import due_replies
from orchestrator.commands.standing import status_report
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.ids import AgentId, TurnId, new_id
from orchestrator.contracts.records.agents import AgentStatus, DeathCause, EndReason, ExitStatus, TurnOutcome
from orchestrator.contracts.records.spawns import OnParentExit, RestartPolicy, WaitFor, WishedPermissions
from orchestrator.contracts.wire.agent_requests import SpawnAgent
from orchestrator.contracts.wire.codec import to_json
from orchestrator.contracts.wire.container_io import TurnError
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.store import agents, lineage, spawns, waits
from orchestrator.store.restarts import left_by_restarts
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench

FAILED = Remains(
    cause=DeathCause.AGENT,
    reason=EndReason.CRASHED,
    event=AgentEventKind.ENDED_BADLY,
    acks={},
    unread=(),
    exit=ExitStatus(code=7),
    files_modified=(),
)
CRASHED = "Its process ended with 7 before its work was done."
FAILURE, ALWAYS = RestartPolicy.ON_FAILURE, RestartPolicy.ALWAYS


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    """A desk with the family's agent, which may start others."""
    return await open_bench(desk)


async def begin(bench: SpawnBench, agent_id: AgentId, *, says: str | None = None) -> TurnId:
    """An attempt gets its place to run and takes its input; its turn."""
    at, turn = bench.desk.now, TurnId(new_id("turn"))

    def body(tx: Transaction) -> None:
        assert agents.claim(tx, agent_id, runner="process", provider="script", at=at)
        assert agents.move(tx, agent_id, was=AgentStatus.STARTING, now=AgentStatus.RUNNING)
        agents.start_turn(tx, agent_id, turn, bench.root.chat_jid, at=at)
        if says is not None:
            agent = agents.get(tx, agent_id)
            assert agent is not None
            assert take_result_text(tx, PairKey(agent=agent, ordinal=1, turn_id=turn), says, at=at)

    await bench.desk.run(body)
    return turn


async def end(
    bench: SpawnBench, agent_id: AgentId, remains: Remains = FAILED, *, outcome: TurnOutcome | None = None
) -> None:
    """An attempt is dead and buried."""
    at, services = bench.desk.now, bench.desk.services

    def body(tx: Transaction) -> None:
        if outcome is not None:
            agents.end_open_turns(tx, agent_id, outcome=outcome, at=at)
        bury(tx, services, agent_id, remains, at=at)

    await bench.desk.run(body)


async def end_well(bench: SpawnBench, agent_id: AgentId) -> None:
    """Its turn is over, and its process gone."""
    well = replace(FAILED, reason=EndReason.EXITED, event=AgentEventKind.ENDED_WELL, exit=ExitStatus(code=0))
    await end(bench, agent_id, well, outcome=TurnOutcome.SUCCESS)


async def startable(bench: SpawnBench) -> list[str]:
    """What an agent would be started for now."""
    at = bench.desk.now
    return [work.key for work in await bench.desk.run(lambda tx: waiting_work(tx, at=at))]


async def told(bench: SpawnBench) -> list[dict[str, Any]]:
    """What is to be written into the boxes of parents."""
    return [dict(reply.result or {}) for _, reply in await bench.desk.run(due_replies)]


async def status_of(bench: SpawnBench, agent_id: AgentId) -> str:
    """Its record's word."""
    return (await bench.agent(agent_id)).status.value


async def test_a_restart_keeps_id_tree_deadline_place_and_who_waits_and_begins_its_result_anew(
    bench: SpawnBench,
) -> None:
    child = await bench.spawn(restart_policy=FAILURE, wait=WaitFor.RESULT, timeout_ms=60_000)
    before = await bench.agent(child)
    await begin(bench, child, says="first try")
    await end(bench, child, replace(FAILED, files_modified=("a",)))
    between = await bench.agent(child)
    held, count = await bench.desk.run(lambda tx: (waits.all_waits(tx), lineage.count_holding(tx)))
    early = await startable(bench)
    bench.desk.clock.advance(1)
    later = await startable(bench)
    await begin(bench, child, says="second try")
    await end(bench, child, replace(FAILED, files_modified=("b",)), outcome=TurnOutcome.SUCCESS)
    after, record = await bench.agent(child), await bench.record(child)

    assert between.status is AgentStatus.PENDING
    assert (between.tree_id, between.deadline_at) == (before.tree_id, before.deadline_at)
    assert ([wait.awaited for wait in held], count) == ([child], 2)
    assert (early, later) == ([], [f"@{child}"])
    assert (after.status, after.deadline_at) == (AgentStatus.COMPLETED, before.deadline_at)
    assert record.result is not None
    assert (record.result.output, record.result.files_modified) == ("second try", ("a", "b"))
    assert await bench.desk.run(waits.all_waits) == []
    assert [each["status"] for each in await told(bench)] == ["completed"]


async def test_a_crash_loop_ends_as_failed_after_so_many_restarts_and_its_parent_hears_of_it_once(
    bench: SpawnBench,
) -> None:
    bench.set(restart_intensity=2, restart_window_s=60)
    child = await bench.spawn(restart_policy=FAILURE, wait=WaitFor.RESULT)
    tells: list[int] = []
    for _ in range(3):
        await begin(bench, child)
        await end(bench, child)
        tells.append(len(await told(bench)))
        bench.desk.clock.advance(15)
    await end(bench, child)

    error = f"It was started again 2 times within 60 s, which is the most, and ended once more: {CRASHED}"
    (reply,) = await told(bench)
    assert tells == [0, 0, 1]
    assert (reply["status"], reply["lifecycle"], reply["error"]) == ("failed", "failed", error)
    logged = [each for each in await bench.logged(bench.root.tree_id) if each[1].get("agentId") == child]
    restarts = [(kind, body.get("restarts"), body.get("delayMs")) for kind, body in logged]
    assert restarts[1:] == [
        ("agent.restarted", 1, 1_000),
        ("agent.restarted", 2, 2_000),
        ("agent.restarts_given_up", 2, None),
        ("agent.failed", None, None),
    ]
    assert await startable(bench) == []


async def test_always_starts_again_what_ended_well_and_gives_up_as_failed(bench: SpawnBench) -> None:
    bench.set(restart_intensity=1)
    once, ever = await bench.spawn(restart_policy=FAILURE), await bench.spawn(restart_policy=ALWAYS)
    for child in (once, ever):
        await begin(bench, child)
        await end_well(bench, child)
    first = [await status_of(bench, child) for child in (once, ever)]
    await begin(bench, ever)
    await end_well(bench, ever)

    assert first == ["completed", "pending"]
    assert await status_of(bench, ever) == "failed"
    result = (await bench.record(ever)).result
    assert result is not None
    assert (result.error or "").endswith("and ended once more: its work was done.")


async def test_old_restarts_count_no_more(bench: SpawnBench) -> None:
    bench.set(restart_intensity=1, restart_window_s=60)
    child = await bench.spawn(restart_policy=FAILURE)
    for _ in range(4):
        await begin(bench, child)
        bench.desk.clock.advance(61)
        await end(bench, child)

    assert await status_of(bench, child) == "pending"
    assert (await bench.record(child)).restarts.count == 4


async def test_who_waits_for_its_next_start_says_so_and_so_does_who_waits_for_that(bench: SpawnBench) -> None:
    services = bench.desk.services
    child = await bench.spawn(restart_policy=ALWAYS)
    await begin(bench, child)
    lead = await bench.agent(child)
    below = await bench.spawn("wait", by=lead)
    await end(bench, child)

    async def why(agent_id: AgentId) -> object:
        (view,) = await agent_views(services, OperatorCaller(), agent_id)
        return as_metadata(view)["queuedBy"]

    assert (await why(child), await why(below)) == ("restart_delay", "parent_queued")
    report = await status_report(services)
    assert dict(report.queued) == {"restart_delay": 1, "parent_queued": 1}
    bench.desk.clock.advance(3_600)
    assert await why(child) is None


@pytest.mark.parametrize("is_waiting", [False, True], ids=["at work", "between two attempts"])
async def test_a_stop_ends_it_for_good(bench: SpawnBench, is_waiting: bool) -> None:
    child = await bench.spawn(restart_policy=ALWAYS)
    await begin(bench, child)
    if is_waiting:
        await end(bench, child, replace(FAILED, files_modified=("a",)))
    await stop_cascade(bench.desk.services, OperatorCaller(), child)
    await end(bench, child)

    result = (await bench.record(child)).result
    assert await status_of(bench, child) == "terminated"
    assert result is not None
    assert (result.error, result.files_modified) == (
        "It was stopped by the operator.",
        ("a",) if is_waiting else (),
    )
    assert await startable(bench) == []


async def test_it_is_not_started_again_when_its_time_would_be_over_by_then(bench: SpawnBench) -> None:
    child = await bench.spawn(restart_policy=FAILURE, timeout_ms=10_000)
    await begin(bench, child)
    bench.desk.clock.advance(9.5)
    await end(bench, child)

    result = (await bench.record(child)).result
    assert await status_of(bench, child) == "failed"
    assert result is not None
    assert result.error == CRASHED


@pytest.mark.parametrize("policy", list(OnParentExit))
async def test_it_is_not_started_again_without_its_parent_unless_it_is_to_outlive_it(
    bench: SpawnBench, policy: OnParentExit
) -> None:
    child = await bench.spawn(restart_policy=FAILURE, on_parent_exit=policy)
    await begin(bench, child)
    await bench.desk.die(bench.root, event=AgentEventKind.ENDED_WELL, code=0)
    await end(bench, child)

    outlives = policy is OnParentExit.DETACH
    assert await status_of(bench, child) == ("pending" if outlives else "failed")


async def test_one_that_waits_for_its_next_start_ends_with_its_parent(bench: SpawnBench) -> None:
    child = await bench.spawn(restart_policy=FAILURE)
    await begin(bench, child)
    await end(bench, child)
    await bench.desk.die(bench.root, event=AgentEventKind.ENDED_WELL, code=0)
    services, at = bench.desk.services, bench.desk.now
    await bench.desk.run(lambda tx: end_unwanted(tx, services, at=at))

    assert await status_of(bench, child) == "terminated"


async def test_what_an_attempt_started_is_not_the_next_attempts(bench: SpawnBench) -> None:
    middle = await bench.spawn(restart_policy=FAILURE, permissions=WishedPermissions(detach=True))
    await begin(bench, middle)
    by = await bench.agent(middle)
    leaf = await bench.spawn("leaf", by=by)
    kept = await bench.spawn("kept", by=by, on_parent_exit=OnParentExit.DETACH)
    await end(bench, middle)
    bench.desk.clock.advance(1)
    await begin(bench, middle)
    mine = await bench.spawn("mine", by=by)
    services, at = bench.desk.services, bench.desk.now
    left = await bench.desk.run(left_by_restarts)
    await bench.desk.run(lambda tx: end_unwanted(tx, services, at=at))

    assert left == {leaf, kept}
    assert await status_of(bench, leaf) == "terminated"
    assert await startable(bench) == [f"@{kept}", f"@{mine}"]


@pytest.mark.parametrize(
    ("remains", "expected"),
    [
        (LOST, "lost"),
        (replace(FAILED, misconfigured="no key"), "failed"),
        (replace(FAILED, is_budget_spent=True), "failed"),
        (
            replace(
                FAILED, cause=DeathCause.TIMED_OUT, reason=EndReason.TIMED_OUT, event=AgentEventKind.RAN_OUT
            ),
            "timed_out",
        ),
    ],
    ids=["not known to be dead", "an operator must mend it", "no budget", "its time is over"],
)
async def test_what_another_attempt_would_not_mend_is_an_end(
    bench: SpawnBench, remains: Remains, expected: str
) -> None:
    child = await bench.spawn(restart_policy=ALWAYS)
    await begin(bench, child)
    await end(bench, child, remains)

    assert await status_of(bench, child) == expected


@pytest.mark.parametrize("code", ["PROGRAM_MISSING", "START_FAILED"])
async def test_what_could_not_begin_inside_is_not_started_again(bench: SpawnBench, code: str) -> None:
    child = await bench.spawn(restart_policy=FAILURE)
    turn = await begin(bench, child)
    at = bench.desk.now

    def say_so(tx: Transaction) -> None:
        error = TurnError(code=code, message="no such program")
        agents.end_turn(tx, child, turn, outcome=TurnOutcome.ERROR, at=at, error=error)

    await bench.desk.run(say_so)
    await end(bench, child, replace(FAILED, reason=EndReason.EXITED, exit=ExitStatus(code=0)))

    assert await status_of(bench, child) == "failed"


async def test_its_record_tells_the_policy_and_the_restarts(bench: SpawnBench) -> None:
    child = await bench.spawn(restart_policy=FAILURE)
    await begin(bench, child)
    await end(bench, child)

    (view,) = await agent_views(bench.desk.services, OperatorCaller(), child)
    plain = as_metadata(view)
    assert (plain["restartPolicy"], plain["restarts"], plain["status"]) == ("on_failure", 1, "running")
    assert plain["lifecycle"] == "pending"


async def test_a_restart_policy_that_nobody_knows_is_refused_by_its_name(bench: SpawnBench) -> None:
    reply = await bench.by_box(SpawnAgent(task="count", restart_policy="sometimes"))

    assert reply.error is not None
    assert "restartPolicy is 'sometimes'" in reply.error.message
    assert "never, on_failure, always" in reply.error.message


async def test_a_key_that_was_used_for_a_spawn_without_a_policy_is_refused_for_one_with_it(
    bench: SpawnBench,
) -> None:
    first = await bench.spawn(idempotency_key="k")
    again = await bench.spawn(idempotency_key="k")

    assert first == again
    with pytest.raises(InvalidRequest, match="was used before"):
        await bench.spawn(idempotency_key="k", restart_policy=FAILURE)


async def test_keys_from_before_there_were_restart_policies_stay_good(bench: SpawnBench) -> None:
    child = await bench.spawn("count", idempotency_key="k")
    said = to_json(
        {
            "task": "count",
            "workspace_path": None,
            "writable_paths": [],
            "timeout_ms": None,
            "wait": "none",
            "profile": "standard",
            "on_parent_exit": "stop",
            "permissions": dict.fromkeys(("can_spawn", "chat", "inherit_github_token", "detach")),
            "name": None,
            "idempotency_key": None,
            "parent": bench.root.agent_id,
        }
    )

    kept = (await bench.record(child)).body_sha256
    assert kept == hashlib.sha256(said.encode()).hexdigest()


async def test_the_count_of_restarts_is_what_the_store_keeps(bench: SpawnBench) -> None:
    child = await bench.spawn(restart_policy=FAILURE)
    await begin(bench, child)
    await end(bench, child, replace(FAILED, files_modified=None))

    one, many = await bench.desk.run(lambda tx: (spawns.get(tx, child), spawns.some(tx, [child])[child]))
    assert one is not None
    assert one.restarts == many.restarts
    assert (one.restarts.policy, one.restarts.count, one.restarts.earlier_files) == (FAILURE, 1, None)
    assert one.restarts.recent == (bench.desk.now,)
    assert one.restarts.start_after == bench.desk.now + timedelta(seconds=1)
