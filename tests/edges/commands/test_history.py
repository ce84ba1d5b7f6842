"""What people wrote reaches an agent once, whatever the clocks, the cursor and the runs before did."""

from datetime import timedelta

from orchestrator.contracts.records.agents import EndReason
from orchestrator.core.states.agent import AgentEventKind
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import NOON, OTHER_CHAT, add_group


async def answered(desk: Desk, number: int, *ids: str) -> None:
    """An agent answers what waits."""
    held = await desk.start_agent(f"agent-{number}", turn=f"turn-{number}")
    await desk.begin(held, *ids, turn=f"turn-{number}")
    await desk.say(held, "answer", turn=f"turn-{number}")
    await desk.end(held, *ids, turn=f"turn-{number}")
    await desk.die(held, reason=EndReason.EXITED, event=AgentEventKind.ENDED_WELL, code=0)


async def waiting(desk: Desk) -> tuple[str, ...]:
    """The ids of what would be given to an agent now."""
    batch = await desk.batch()
    return () if batch is None else batch.ids


async def test_a2_d_1_a_message_of_the_same_second_as_one_before_is_delivered_once(desk: Desk) -> None:
    """Cases A2, D-1: a look between the two."""
    await desk.hear("m-1", sent_at=NOON)
    first = await waiting(desk)
    await answered(desk, 1, "m-1")

    await desk.hear("m-2", sent_at=NOON)
    second = await waiting(desk)
    await answered(desk, 2, "m-2")

    assert (first, second, await waiting(desk)) == (("m-1",), ("m-2",), ())


async def test_d_2_a_late_message_with_an_older_time_is_delivered(desk: Desk) -> None:
    """Case D-2: as history sync and clock skew bring it."""
    await desk.hear("m-1", sent_at=NOON)
    await answered(desk, 1, "m-1")

    await desk.hear("m-2", sent_at=NOON - timedelta(days=2))

    assert await waiting(desk) == ("m-2",)


async def test_a14_two_messages_in_a_row_are_both_in_the_prompt(desk: Desk) -> None:
    """Case A14."""
    await desk.hear("m-1", "@Andy buy milk")
    await desk.hear("m-2", "@Andy and bread")

    batch = await desk.batch()

    assert batch is not None
    prompt = "".join(batch.xml)
    assert prompt.index("buy milk") < prompt.index("and bread")


async def test_a16_a_message_whose_run_never_began_is_in_the_history_and_comes_again(desk: Desk) -> None:
    """Case A16."""
    await desk.hear("m-1", "@Andy buy milk")
    before_any_run = await desk.statuses()
    held = await desk.start_agent()

    await desk.die(held, reason=EndReason.START_FAILED, event=AgentEventKind.START_FAILED, code=127)

    row = await desk.row("m-1")
    assert (before_any_run, row["status"], row["text"]) == ({"m-1": "pending"}, "pending", "@Andy buy milk")
    assert await waiting(desk) == ("m-1",)


async def test_c1_a_lost_cursor_brings_back_nothing_that_was_settled(desk: Desk) -> None:
    """Case C1: the statuses are the truth, the cursor only a bound."""
    for number in range(300):
        await desk.hear(f"c-{number}", "talk")
    await desk.hear("m-1")
    await answered(desk, 1, *(await waiting(desk)))
    await desk.run(lambda tx: tx.execute("DELETE FROM cursors"))

    await desk.hear("c-new", "talk")
    await desk.hear("m-2")

    assert await waiting(desk) == ("c-new", "m-2")


async def test_c1_a_new_group_begins_with_what_is_said_after_its_registration(desk: Desk) -> None:
    """Case C1: what was said in a chat that was nobody's is not stored."""
    chat = OTHER_CHAT
    for number in range(3):
        await desk.hear(f"old-{number}", chat_jid=chat)
    await desk.run(lambda tx: add_group(tx, "club", chat))

    await desk.hear("m-1", chat_jid=chat)

    batch = await desk.batch(chat)
    assert batch is not None
    assert batch.ids == ("m-1",)
