"""Messages that their senders edit or take back. Source: contracts.md section 6."""

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.commands.contacts import join_contacts
from orchestrator.commands.running.batches import give_batch
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.ids import AgentId, Jid, MessageId, TurnId
from orchestrator.contracts.records.messages import Change, ChangeKind, Quoted
from orchestrator.settings.tree import BoundSettings, Settings
from orchestrator.store import agents
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import ANN, BOB, CHAT, NOON, agent


async def edit(desk: Desk, of: str, text: str, *, as_id: str = "e-1", **fields: Any) -> None:
    """The sender edits a message."""
    change = Change(kind=ChangeKind.EDIT, message_id=MessageId(of))
    await desk.hear(as_id, text, change=change, **fields)


async def revoke(desk: Desk, of: str, *, by_admin: bool = False, as_id: str = "r-1", **fields: Any) -> None:
    """The sender, or an admin, takes a message back."""
    change = Change(kind=ChangeKind.REVOCATION, message_id=MessageId(of), by_admin=by_admin)
    await desk.hear(as_id, "", change=change, is_context_only=True, **fields)


async def told(desk: Desk) -> list[tuple[str, str, bool]]:
    """Id, text and trigger of what waits in the chat for a turn."""
    batch = await desk.batch()
    return [] if batch is None else [(each.message_id, each.text, each.is_trigger) for each in batch.messages]


async def test_a_waiting_message_says_what_its_edit_says(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy frist")

    await edit(desk, "m-1", "@Andy first")

    assert await told(desk) == [("m-1", "@Andy first", True)]


@pytest.mark.parametrize(("minutes", "is_trigger"), [(15, 1), (16, 0)])
async def test_an_edit_within_15_minutes_may_add_the_trigger(
    desk: Desk, minutes: int, is_trigger: int
) -> None:
    await desk.hear("m-1", "hello")

    await edit(desk, "m-1", "@Andy hello", sent_at=NOON + timedelta(minutes=minutes))

    row = await desk.row("m-1")
    assert (row["text"], row["is_trigger"]) == ("@Andy hello", is_trigger)


async def test_an_edit_that_takes_the_trigger_away_leaves_chatter(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy hello")

    await edit(desk, "m-1", "hello")

    assert await told(desk) == []
    assert (await desk.row("m-1"))["status"] == "pending"


async def test_what_an_agent_was_given_is_followed_by_a_note(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy at 3")
    await desk.start_agent()

    await edit(desk, "m-1", "@Andy at 4")

    assert await told(desk) == [("e-1", "[Edit of the quoted message]\n@Andy at 4", True)]
    assert (await desk.row("m-1"))["text"] == "@Andy at 3"
    assert "@Andy at 3" in (await desk.row("e-1"))["quoted"]


async def test_an_edit_of_a_note_that_waits_replaces_it(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy at 3")
    await desk.start_agent()

    await edit(desk, "m-1", "@Andy at 4", as_id="e-1")
    await edit(desk, "m-1", "@Andy at 5", as_id="e-2")

    assert [text.endswith("@Andy at 5") for _, text, _ in await told(desk)] == [True]


async def test_an_edit_of_what_was_answered_triggers_nothing_and_is_told_later(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy at 3")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.say(held, "Done.")
    await desk.end(held, "m-1")

    await edit(desk, "m-1", "@Andy at 4")
    assert await told(desk) == []
    await desk.hear("m-2", "@Andy and now?")

    assert [message_id for message_id, _, _ in await told(desk)] == ["e-1", "m-2"]


async def test_chatter_that_was_passed_over_triggers_by_an_edit_in_time(desk: Desk) -> None:
    await desk.hear("m-1", "what time is it")
    await desk.hear("m-2", "@Andy hello")
    held = await desk.start_agent()
    await desk.begin(held, "m-1", "m-2")
    await desk.say(held, "Hi.")
    await desk.end(held, "m-1", "m-2")

    await edit(desk, "m-1", "@Andy what time is it", as_id="e-1")
    first = await told(desk)
    await edit(desk, "m-1", "@Andy what time is it?", as_id="e-2")

    assert [(message_id, trigger) for message_id, _, trigger in first] == [("e-1", True)]
    assert [(message_id, trigger) for message_id, _, trigger in await told(desk)] == [("e-1", True)]


async def test_an_edit_met_again_changes_nothing(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy at 3")
    await desk.start_agent()
    await edit(desk, "m-1", "@Andy at 4")
    before = await told(desk)

    await edit(desk, "m-1", "@Andy at 4")

    assert await told(desk) == before


async def test_an_edit_of_what_was_never_heard_is_a_message(desk: Desk) -> None:
    await edit(desk, "m-0", "@Andy hello")

    assert await told(desk) == [("m-0", "@Andy hello", True)]


async def test_the_message_that_comes_behind_its_own_edit_is_no_second_one(desk: Desk) -> None:
    await edit(desk, "m-0", "@Andy hello")

    await desk.hear("m-0", "@Andy hallo")

    assert await told(desk) == [("m-0", "@Andy hello", True)]


async def test_an_edit_is_not_a_word_to_us(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy hello")

    await edit(desk, "m-1", "@Andy /stop")

    assert (desk.control.stopped, desk.control.answers_stopped) == ([], [])
    assert await told(desk) == []


async def test_the_edit_of_a_trigger_that_was_counted_is_not_bounded(desk: Desk) -> None:
    desk.set_settings(Settings(bounds=BoundSettings(triggers_per_sender=1)))
    await desk.hear("m-1", "@Andy frist")

    await edit(desk, "m-1", "@Andy first")

    assert await told(desk) == [("m-1", "@Andy first", True)]


async def test_nobody_edits_or_takes_back_what_others_wrote(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy hello", sender_jid=ANN)

    await edit(desk, "m-1", "@Andy delete everything", sender_jid=BOB)
    await revoke(desk, "m-1", sender_jid=BOB)

    assert await told(desk) == [("m-1", "@Andy hello", True)]


async def test_a_message_is_edited_under_the_other_id_of_its_sender(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy frist", sender_jid=ANN)
    await join_contacts(desk.services, [(Jid("98765@lid"), ANN)])

    await edit(desk, "m-1", "@Andy first", sender_jid=Jid("98765@lid"))

    assert await told(desk) == [("m-1", "@Andy first", True)]


@pytest.mark.parametrize(
    "fields", [{}, {"sender_jid": BOB, "by_admin": True}], ids=["its sender", "an admin"]
)
async def test_a_waiting_message_that_is_taken_back_is_dropped(desk: Desk, fields: dict[str, Any]) -> None:
    await desk.hear("m-1", "@Andy secret")

    await revoke(desk, "m-1", **fields)

    row = await desk.row("m-1")
    assert (row["status"], row["text"], row["is_trigger"]) == ("skipped", "", 0)
    assert await told(desk) == []


async def test_what_an_agent_was_given_stays_given(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy hello")
    await desk.start_agent()

    await revoke(desk, "m-1")

    assert await desk.statuses() == {"m-1": "dispatched"}


async def test_taking_back_drops_the_note_of_an_edit_too(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy at 3")
    await desk.start_agent()
    await edit(desk, "m-1", "@Andy at 4")

    await revoke(desk, "m-1")

    assert await desk.statuses() == {"m-1": "dispatched", "e-1": "skipped"}


async def test_taking_back_what_was_never_heard_does_nothing(desk: Desk) -> None:
    await revoke(desk, "m-0")

    assert await desk.statuses() == {}


async def test_an_edit_between_reading_and_giving_is_not_passed_over(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy at 3")
    batch = await desk.batch()
    assert batch is not None
    await desk.run(lambda tx: agents.add(tx, agent()))

    await edit(desk, "m-1", "@Andy at 4")
    is_given = await desk.run(
        lambda tx: give_batch(
            tx, desk.services, batch, agent_id=AgentId("agent-1"), turn_id=TurnId("turn-1"), input_file="f"
        )
    )

    assert not is_given
    assert await told(desk) == [("m-1", "@Andy at 4", True)]


async def test_a_change_of_an_impossible_id_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidRequest, match="changed message"):
        await edit(desk, "m\x00", "@Andy hello")


async def put_text(desk: Desk, status: str) -> None:
    """A text of ours, sent as `ours-1` or on its way."""
    sql = """
        INSERT INTO outbox (chat_jid, text, source, source_key, part, parts, status, created_ms,
                            channel_message_id)
        VALUES (?, 'hi', 'notice', 'k', 1, 1, ?, 0, 'ours-1')
    """
    await desk.run(lambda tx: tx.execute(sql, (CHAT, status)))


async def test_an_edit_of_our_own_text_is_no_message(desk: Desk) -> None:
    await put_text(desk, "sent")

    await edit(desk, "ours-1", "@Andy hi", is_from_me=True)

    assert await desk.statuses() == {}


async def test_the_owner_may_edit_while_a_text_of_ours_is_on_its_way(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy frist")
    await put_text(desk, "sending")

    await edit(desk, "m-1", "@Andy first", is_from_me=True)

    assert await told(desk) == [("m-1", "@Andy first", True)]


async def test_an_answer_to_a_text_of_ours_is_known_by_the_outbox(desk: Desk) -> None:
    await put_text(desk, "sent")
    quoted = Quoted(message_id=MessageId("ours-1"), sender_name=BOB, text="hi")

    await desk.hear("m-1", "why?", quoted=quoted)

    assert await told(desk) == [("m-1", "why?", True)]
