"""The rule of death, in all its cases. Source: contracts.md section 6."""

from datetime import timedelta

import pytest

from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.records.agents import AgentStatus, DeathCause, EndReason
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.store import agents
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT

# Of a stop and of a violation people are told by whoever ended the agent.
ALL_CAUSES = [each for each in DeathCause if each not in (DeathCause.STOPPED, DeathCause.VIOLATED)]
NO_ENDS = (AgentEventKind.CLAIMED, AgentEventKind.GOT_INPUT, AgentEventKind.TOLD_TO_STOP)
ENDS = [each for each in AgentEventKind if each not in NO_ENDS]


async def crash_in_turn(desk: Desk, run: int) -> None:
    """One more run that dies in its turn, without effect."""
    desk.clock.advance(3600)
    held = await desk.start_agent(f"agent-{run}", turn=f"turn-{run}")
    await desk.begin(held, "m-1", turn=f"turn-{run}")
    await desk.die(held)


async def test_a1_without_effect_it_runs_again_after_5_s_doubling_and_fails_at_the_fifth_try(
    desk: Desk,
) -> None:
    """Case A1."""
    await desk.hear("m-1")
    waits = []

    for run in range(1, 5):
        await crash_in_turn(desk, run)
        waits.append(round(await desk.due_in_s("m-1")))
    await crash_in_turn(desk, 5)

    assert waits == [5, 10, 20, 40]
    assert await desk.statuses() == {"m-1": "failed"}
    assert await desk.texts() == [ENGLISH[Say.FAILED]]


async def test_from_the_third_run_on_it_runs_alone(desk: Desk) -> None:
    await desk.hear("m-1")
    alone = []

    for run in (1, 2, 3):
        batch = await desk.batch()
        assert batch is not None
        alone.append(batch.is_alone)
        await crash_in_turn(desk, run)
    await desk.hear("m-2")
    batch = await desk.batch()

    assert alone == [False, False, True]
    assert batch is not None
    assert batch.ids == ("m-1",)


@pytest.mark.parametrize("cause", ALL_CAUSES)
async def test_b2_after_a_text_it_is_partial_and_one_sentence_says_so(desk: Desk, cause: DeathCause) -> None:
    """Case B2."""
    await desk.hear("m-1")
    await desk.hear("m-2")
    held = await desk.start_agent()
    await desk.begin(held, "m-1", "m-2")
    await desk.say(held, "half an answer")

    await desk.die(held, cause)

    sentence = Say.TIMED_OUT if cause is DeathCause.TIMED_OUT else Say.PARTIAL
    assert await desk.statuses() == {"m-1": "partial", "m-2": "partial"}
    assert await desk.texts() == ["half an answer", ENGLISH[sentence]]


@pytest.mark.parametrize(
    ("cause", "after"),
    [
        (DeathCause.AGENT, ("pending", 1, 0)),
        (DeathCause.TIMED_OUT, ("failed", 0, 0)),
        (DeathCause.ORCHESTRATOR, ("pending", 0, 1)),
        (DeathCause.HOST, ("pending", 0, 0)),
    ],
)
async def test_what_was_read_but_never_named_counts_as_in_its_turn(
    desk: Desk, cause: DeathCause, after: tuple[str, int, int]
) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()

    await desk.die(held, cause)

    row = await desk.row("m-1")
    assert (row["status"], row["tries"], row["deaths"]) == after


async def test_an_agent_that_answers_without_naming_its_message_is_partial_not_started_for_ever(
    desk: Desk,
) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held)
    await desk.say(held, "an answer to nothing")

    await desk.die(held)

    assert await desk.statuses() == {"m-1": "partial"}
    assert await desk.texts() == ["an answer to nothing", ENGLISH[Say.PARTIAL]]


async def test_a4_d_6_a_follow_up_nobody_read_goes_back_while_the_turn_is_judged_by_its_effects(
    desk: Desk,
) -> None:
    """Cases A4, D-6."""
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.say(held, "half an answer")
    await desk.hear("m-2")
    await desk.feed(held, turn="turn-2", stem="1-a")

    await desk.die(held, unread=["1-a"])

    assert await desk.statuses() == {"m-1": "partial", "m-2": "pending"}
    assert (await desk.row("m-2"))["tries"] == 0


async def test_effects_of_an_earlier_turn_do_not_count_for_the_one_that_died(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.say(held, "answer")
    await desk.end(held, "m-1")
    await desk.hear("m-2")
    await desk.feed(held, turn="turn-2", stem="1-a")
    await desk.begin(held, "m-2", turn="turn-2")

    await desk.die(held)

    assert await desk.statuses() == {"m-1": "settled", "m-2": "pending"}
    assert (await desk.row("m-2"))["tries"] == 1


async def test_an_end_of_the_orchestrators_own_is_no_try_and_the_sixth_in_a_row_fails(desk: Desk) -> None:
    await desk.hear("m-1")
    seen = []

    for run in range(1, 7):
        batch = await desk.batch()
        assert batch is not None
        held = await desk.start_agent(f"agent-{run}", turn=f"turn-{run}")
        await desk.begin(held, "m-1", turn=f"turn-{run}")
        await desk.die(
            held,
            DeathCause.ORCHESTRATOR,
            reason=EndReason.ORCHESTRATOR_DIED,
            event=AgentEventKind.FOUND_DEAD,
        )
        row = await desk.row("m-1")
        seen.append((batch.is_alone, row["tries"], row["status"]))

    assert seen == [*[(False, 0, "pending")] * 5, (True, 0, "failed")]
    assert await desk.texts() == [ENGLISH[Say.FAILED]]


async def test_d_5_an_orderly_shutdown_costs_nothing(desk: Desk) -> None:
    """Case D-5."""
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")

    await desk.die(held, DeathCause.HOST)

    row = await desk.row("m-1")
    assert (row["status"], row["tries"], row["deaths"], row["due_ms"]) == ("pending", 0, 0, 0)


async def test_what_ran_out_of_time_is_not_run_again_by_itself(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")

    await desk.die(held, DeathCause.TIMED_OUT, reason=EndReason.TIMED_OUT, event=AgentEventKind.RAN_OUT)

    found = await desk.run(lambda tx: agents.get(tx, held.agent_id))
    assert await desk.statuses() == {"m-1": "failed"}
    assert await desk.texts() == [ENGLISH[Say.TIMED_OUT]]
    assert found is not None
    assert found.status is AgentStatus.TIMED_OUT


async def test_what_was_stopped_on_wish_fails_without_a_sentence(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.hear("m-2")
    await desk.feed(held, turn="turn-2", stem="1-a")

    await desk.die(held, DeathCause.STOPPED, reason=EndReason.STOPPED, unread=["1-a"])

    assert await desk.statuses() == {"m-1": "failed", "m-2": "failed"}
    assert await desk.texts() == []


@pytest.mark.parametrize(
    ("outputs", "after"),
    [pytest.param(1, "settled", id="all pairs are stored"), pytest.param(2, "partial", id="one is missing")],
)
async def test_a_turn_whose_end_lies_in_its_box_counts_if_all_its_pairs_are_stored(
    desk: Desk, outputs: int, after: str
) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.say(held, "answer")
    ack = {
        "type": "turn_ended",
        "turnId": "turn-1",
        "inputs": ["m-1"],
        "outputs": outputs,
        "status": "success",
    }

    await desk.die(held, acks={TurnId("turn-1"): ack})

    assert await desk.statuses() == {"m-1": after}


@pytest.mark.parametrize("has_events", [False, True], ids=["its ack", "its ack, and its events once more"])
async def test_a_turn_that_was_settled_takes_nothing_from_the_turn_that_its_message_is_in_now(
    desk: Desk, has_events: bool
) -> None:
    """A message whose turn ended in silence is given once more; what it holds then died with an effect."""
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.end(held, "m-1")
    await desk.feed(held, turn="turn-2", stem="2")
    await desk.begin(held, "m-1", turn="turn-2")
    await desk.say(held, "answer", turn="turn-2")
    ack = {"type": "turn_ended", "turnId": "turn-1", "inputs": ["m-1"], "outputs": 0, "status": "success"}
    if has_events:
        await desk.begin(held, "m-1")
        await desk.end(held, "m-1")

    await desk.die(held, acks={TurnId("turn-1"): ack})

    assert await desk.statuses() == {"m-1": "partial"}


@pytest.mark.parametrize(
    "ack",
    [
        pytest.param("not an object", id="no object"),
        pytest.param({"turnId": "turn-9", "inputs": ["m-1"], "status": "success"}, id="another turn's name"),
        pytest.param({"turnId": "turn-1", "status": "excellent"}, id="an unknown status"),
        pytest.param({"turnId": "turn-1", "inputs": ["m-1"], "status": "started"}, id="only its start"),
    ],
)
async def test_a_box_can_not_settle_a_turn_by_nonsense(desk: Desk, ack: object) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")

    await desk.die(held, acks={TurnId("turn-1"): ack})

    row = await desk.row("m-1")
    assert (row["status"], row["tries"]) == ("pending", 1)


async def test_a_second_burial_changes_nothing(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.die(held)
    again = await desk.start_agent("agent-2", turn="turn-2")

    await desk.die(held, DeathCause.STOPPED)

    row = await desk.row("m-1")
    assert (row["status"], row["agent_id"], row["tries"]) == ("dispatched", again.agent_id, 1)


async def test_the_record_says_how_it_ended(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    desk.clock.advance(60)

    await desk.die(held, reason=EndReason.OOM, code=137)

    found = await desk.run(lambda tx: agents.get(tx, held.agent_id))
    assert found is not None
    assert (found.status, found.exit_code, found.end_reason) == (AgentStatus.FAILED, 137, EndReason.OOM)
    assert found.ended_at == held.started_at + timedelta(seconds=60)


@pytest.mark.parametrize("event", ENDS)
@pytest.mark.parametrize("status", [AgentStatus.STARTING, AgentStatus.RUNNING])
async def test_whatever_ended_it_a_burial_leaves_no_message_behind(
    desk: Desk, event: AgentEventKind, status: AgentStatus
) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.run(lambda tx: tx.execute("UPDATE agents SET status = ?", (status.value,)) and None)

    await desk.die(held, event=event)

    found = await desk.run(lambda tx: agents.get(tx, held.agent_id))
    assert await desk.statuses() == {"m-1": "pending"}
    assert found is not None
    assert found.ended_at is not None


async def test_a9_j10_a_start_that_fails_holds_the_chat_and_says_so_at_the_third_time_and_when_it_is_over(
    desk: Desk,
) -> None:
    """Case A9."""
    await desk.hear("m-1")
    waits, told = [], []

    for run in range(1, 10):
        held = await desk.start_agent(f"agent-{run}", turn=f"turn-{run}")
        await desk.run(
            lambda tx: tx.execute("UPDATE agents SET status = 'starting' WHERE ended_ms IS NULL") and None
        )
        await desk.die(held, reason=EndReason.START_FAILED, event=AgentEventKind.START_FAILED)
        waits.append(round(await desk.due_in_s("m-1")))
        told.append(len(await desk.texts()))
        desk.clock.advance(300)

    row = await desk.row("m-1")
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    assert told == [0, 0, 1, 1, 1, 1, 1, 1, 1]
    assert await desk.texts() == [ENGLISH[Say.CANNOT_START]]
    assert (row["status"], row["tries"], row["deaths"]) == ("pending", 0, 0)


async def test_a_cancelled_turn_is_judged_by_who_cancelled_it(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")

    await desk.end(held, "m-1", status=TurnStatus.CANCELLED, cancelled_by=DeathCause.HOST)

    row = await desk.row("m-1")
    assert (row["status"], row["tries"], row["chat_jid"]) == ("pending", 0, CHAT)


async def test_a_violation_fails_what_is_in_the_turn_and_gives_the_rest_back_untried(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.hear("m-2")
    await desk.feed(held, turn="turn-2", stem="1-a")

    await desk.die(held, DeathCause.VIOLATED, reason=EndReason.STOPPED, unread=["1-a"])

    assert await desk.statuses() == {"m-1": "failed", "m-2": "pending"}
    assert (await desk.row("m-2"))["tries"] == 0
    assert await desk.texts() == []
