"""Agents that know only the seed document: each pair ends a turn. Source: contracts.md section 2."""

from dataclasses import replace

from orchestrator.commands.running.legacy_turns import begin_legacy_turn, end_legacy_turn
from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.wire.container_io import TurnError
from orchestrator.store import agents
from tests.edges.commands.conftest import Desk


async def legacy_agent(desk: Desk) -> Agent:
    """An agent of an old image whose standard input was written."""
    held = replace(await desk.start_agent(), is_legacy=True)
    await desk.run(lambda tx: agents.set_process(tx, held.agent_id, "{}", is_legacy=True))
    await desk.run(lambda tx: begin_legacy_turn(tx, held, TurnId("turn-1"), at=desk.now))
    return held


async def answer(desk: Desk, held: Agent, text: str, *, turn: str = "turn-1") -> None:
    """It prints a pair, which belongs to a turn though it names none."""
    turn_id = TurnId(turn)
    await desk.run(lambda tx: agents.start_turn(tx, held.agent_id, turn_id, held.chat_jid, at=desk.now))
    await desk.say(held, text, turn=turn)


async def end(
    desk: Desk, held: Agent, turn: str, *, unread: tuple[str, ...] = (), error: TurnError | None = None
) -> None:
    await desk.run(
        lambda tx: end_legacy_turn(
            tx, desk.services, held, TurnId(turn), unread=unread, error=error, at=desk.now
        )
    )


async def test_a_pair_settles_what_standard_input_held(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await legacy_agent(desk)
    await answer(desk, held, "answer")

    await end(desk, held, "turn-1")

    assert await desk.statuses() == {"m-1": "settled"}


async def test_a_follow_up_is_settled_only_by_a_pair_after_its_file_is_gone(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await legacy_agent(desk)
    await desk.hear("m-2")
    await desk.feed(held, turn="turn-2", stem="1-a")
    await answer(desk, held, "first")
    await end(desk, held, "turn-1", unread=("1-a",))
    between = await desk.statuses()
    await answer(desk, held, "second", turn="turn-2")

    await end(desk, held, "turn-2")

    assert between == {"m-1": "settled", "m-2": "dispatched"}
    assert await desk.statuses() == {"m-1": "settled", "m-2": "settled"}


async def test_an_end_with_nothing_taken_settles_nothing(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await legacy_agent(desk)
    await answer(desk, held, "first")
    await end(desk, held, "turn-1")
    await desk.hear("m-2")
    await desk.feed(held, turn="turn-2", stem="1-a")

    await end(desk, held, "turn-2", unread=("1-a",))

    assert await desk.statuses() == {"m-1": "settled", "m-2": "dispatched"}


async def test_an_error_of_the_provider_holds_the_message(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await legacy_agent(desk)

    await end(desk, held, "turn-1", error=TurnError(code="PROVIDER_OVERLOADED"))

    assert (await desk.row("m-1"))["status"] == "pending"
    assert round(await desk.due_in_s("m-1")) == 5


async def test_when_it_dies_what_it_took_was_in_a_turn_and_what_it_left_was_not(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await legacy_agent(desk)
    await answer(desk, held, "first")
    await end(desk, held, "turn-1")
    for number in (2, 3):
        await desk.hear(f"m-{number}")
        await desk.feed(held, turn=f"turn-{number}", stem=f"{number}-a")

    await desk.die(held, unread=["3-a"])

    rows = [await desk.row(name) for name in ("m-2", "m-3")]
    assert [(row["status"], row["tries"]) for row in rows] == [("pending", 1), ("pending", 0)]
