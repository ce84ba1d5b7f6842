"""When the provider fails and not the agent, messages and runs wait; who has to hear of it hears it once."""

import json

import pytest

from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.egress import ProviderFailure
from orchestrator.contracts.wire.codec import from_plain
from orchestrator.contracts.wire.container_io import TurnEnded, TurnError, TurnStatus
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.store import notices
from tests.edges.commands.conftest import Desk
from tests.edges.commands.task_bench import HOUR_S, Bench
from tests.edges.commands.task_bench import bench as bench
from tests.support.store_rows import CHAT, OTHER_CHAT, add_group

FAILED = TurnStatus.ERROR


async def fail(
    desk: Desk, held: Agent, *ids: str, turn: str, code: str = "AGENT_ERROR", failure: str | None = None
) -> None:
    """The agent says that its turn failed."""
    event = TurnEnded(
        turn_id=TurnId(turn), inputs=ids, status=FAILED, error=TurnError(code=code, message="inner words")
    )
    await desk.end_as(held, event, provider_failure=failure)


async def try_once(desk: Desk, number: int, **said: str | None) -> None:
    """A run of m-1 that its provider fails."""
    held = await desk.start_agent(f"agent-{number}", turn=f"turn-{number}")
    await desk.begin(held, "m-1", turn=f"turn-{number}")
    await fail(desk, held, "m-1", turn=f"turn-{number}", **said)  # type: ignore[arg-type]  # a test's words


@pytest.mark.parametrize(
    ("code", "failure", "what"),
    [
        ("PROVIDER_RATE_LIMITED", None, Say.PROVIDER_TROUBLE),
        ("PROVIDER_OVERLOADED", None, Say.PROVIDER_TROUBLE),
        ("AGENT_ERROR", ProviderFailure.RATE_LIMITED, Say.PROVIDER_TROUBLE),
        ("AGENT_ERROR", ProviderFailure.BROKEN, Say.PROVIDER_TROUBLE),
        ("AGENT_ERROR", ProviderFailure.UNREACHABLE, Say.PROVIDER_TROUBLE),
        ("PROVIDER_AUTH", None, Say.PROVIDER_REFUSES),
        ("AGENT_ERROR", ProviderFailure.CREDENTIAL_REFUSED, Say.PROVIDER_REFUSES),
    ],
)
async def test_a11_b13_j10_its_failures_are_one_sentence_no_tries_and_one_all_clear(
    code: str, failure: str | None, what: Say, desk: Desk
) -> None:
    """Cases A11, B13."""
    await desk.hear("m-1")
    waits: list[float] = []
    for number in range(1, 9):
        await try_once(desk, number, code=code, failure=failure)
        waits.append(await desk.due_in_s("m-1"))
        desk.clock.advance(waits[-1])
    row = await desk.row("m-1")
    during = await desk.texts()
    held = await desk.start_agent("agent-9", turn="turn-9")
    await desk.begin(held, "m-1", turn="turn-9")
    await desk.say(held, "the answer", turn="turn-9")
    await desk.end(held, "m-1", turn="turn-9")

    assert during == [say(what, "en")]
    assert row["tries"] == 0
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300]
    assert await desk.texts() == [*during, "the answer", say(Say.PROVIDER_BACK, "en")]
    assert await desk.statuses() == {"m-1": "settled"}


async def test_a11_after_a_day_the_message_is_given_up_and_a_person_may_try_again(desk: Desk) -> None:
    """Case A11."""
    await desk.hear("m-1")
    await try_once(desk, 1, code="PROVIDER_OVERLOADED")
    desk.clock.advance(24 * HOUR_S + 1)
    await try_once(desk, 2, code="PROVIDER_OVERLOADED")

    assert await desk.statuses() == {"m-1": "failed"}
    assert await desk.texts() == [say(Say.PROVIDER_TROUBLE, "en"), say(Say.HELD_TOO_LONG, "en")]
    assert "/retry" in (await desk.texts())[1]


async def test_a_refused_credential_is_told_to_the_operator_once_with_what_to_do(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "boss", OTHER_CHAT, is_main=1))
    await desk.hear("m-1")
    for number in (1, 2, 3):
        await try_once(desk, number, code="PROVIDER_AUTH")
        desk.clock.advance(300)

    (told,) = await desk.texts(OTHER_CHAT)

    assert "dovecote provider check script" in told
    assert "family" in told


@pytest.mark.parametrize(
    ("failure", "status", "told"),
    [
        (ProviderFailure.CREDENTIAL_REFUSED, "pending", [say(Say.PROVIDER_REFUSES, "en")]),
        (ProviderFailure.CUT, "pending", [say(Say.PROVIDER_TROUBLE, "en")]),
        (ProviderFailure.AGENT_LEFT, "pending", []),
        (None, "pending", []),
    ],
    ids=["refused", "cut", "the agent's own doing", "nothing failed"],
)
async def test_a_program_that_ends_well_in_silence_was_let_down_if_its_latest_call_failed(
    failure: str | None, status: str, told: list[str], desk: Desk
) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    event = TurnEnded(turn_id=TurnId("turn-1"), inputs=("m-1",), status=TurnStatus.SUCCESS)

    await desk.end_as(held, event, provider_failure=failure)

    assert await desk.statuses() == {"m-1": status}
    assert await desk.texts() == told
    assert bool((await desk.row("m-1"))["is_nudged"]) is not bool(told)


async def test_what_a_program_said_stands_though_its_latest_call_failed(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.say(held, "the answer")
    event = TurnEnded(turn_id=TurnId("turn-1"), inputs=("m-1",), status=TurnStatus.SUCCESS, outputs=1)

    await desk.end_as(held, event, provider_failure=ProviderFailure.RATE_LIMITED)

    assert await desk.statuses() == {"m-1": "settled"}
    assert await desk.texts() == ["the answer"]


async def test_a_failure_of_the_agents_own_still_counts_as_a_try(desk: Desk) -> None:
    await desk.hear("m-1")

    await try_once(desk, 1, code="AGENT_ERROR", failure=ProviderFailure.AGENT_LEFT)

    assert (await desk.row("m-1"))["tries"] == 1
    assert await desk.texts() == []


async def test_what_an_agent_did_before_its_provider_failed_is_not_done_twice(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.say(held, "half of it")

    await fail(desk, held, "m-1", turn="turn-1", code="PROVIDER_OVERLOADED")

    assert await desk.statuses() == {"m-1": "partial"}
    assert await desk.texts() == ["half of it", say(Say.PARTIAL, "en")]


async def test_an_agent_that_dies_of_its_providers_failure_costs_the_message_no_try(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")

    await desk.die(held, provider_failure=ProviderFailure.OVERLOADED)

    row = await desk.row("m-1")
    assert (row["status"], row["tries"]) == ("pending", 0)
    assert await desk.texts() == [say(Say.PROVIDER_TROUBLE, "en")]


@pytest.mark.parametrize("code", ["BUDGET_EXCEEDED", "AGENT_ERROR", "PROVIDER_RATE_LIMITED"])
async def test_a_turn_that_meets_a_spent_budget_waits_in_silence_for_a_month_if_need_be(
    code: str, desk: Desk
) -> None:
    """The meter has told of it already."""
    await desk.hear("m-1")
    incident = f"budget:{CHAT}"
    await desk.run(lambda tx: notices.count_one(tx, incident, at=desk.now))
    await desk.run(lambda tx: notices.mark_told(tx, incident, at=desk.now))

    await try_once(desk, 1, code=code)
    desk.clock.advance(31 * 24 * HOUR_S)
    await try_once(desk, 2, code=code)

    row = await desk.row("m-1")
    assert (row["status"], row["tries"]) == ("pending", 0)
    assert await desk.texts() == []


@pytest.mark.parametrize("dies", [False, True], ids=["says so", "dies of it"])
async def test_f12_a_run_whose_provider_is_full_waits_and_its_task_has_not_failed(
    dies: bool, bench: Bench
) -> None:
    """Case F12."""
    desk = bench.desk
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    for _ in range(6):
        held = await bench.start()
        if dies:
            await desk.die(held, provider_failure=ProviderFailure.RATE_LIMITED)
        else:
            await fail(desk, held, turn=bench.turn, code="PROVIDER_RATE_LIMITED")
            await bench.exit(held)
        assert await bench.statuses() == ["claimed"]
        assert await bench.waiting() == []
        desk.clock.advance(300)
    (run,) = await bench.runs()

    assert (run.failure, run.tries, (await bench.task()).failures) == ("provider", 6, 0)
    held = await bench.start()
    await desk.end(held, turn=bench.turn)
    assert await bench.statuses() == ["succeeded"]


async def test_what_a_turn_used_by_its_drivers_word_is_kept_with_it(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    plain = {"turnId": "turn-1", "inputs": ["m-1"], "usage": {"input_tokens": 12, "cost_usd": 0.5}}

    event = from_plain(TurnEnded, plain | {"type": "turn_ended"})
    await desk.end_as(held, event)

    row = await desk.run(lambda tx: tx.one("SELECT usage FROM turns"))
    assert row is not None
    assert json.loads(row["usage"]) == {"input_tokens": 12, "cost_usd": 0.5}
