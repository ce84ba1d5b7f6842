"""What an answer quotes and whom it calls."""

import pytest

from orchestrator.commands.contacts import join_contacts
from orchestrator.commands.running.quoting import quoted_by_pair
from orchestrator.commands.running.turns import PairKey
from orchestrator.commands.saying.delivery import NextText, claim_next, note_unknown
from orchestrator.commands.saying.outgoing import queue_text
from orchestrator.contracts.ids import Jid, TurnId
from orchestrator.contracts.records.messages import Mention, TextSource
from orchestrator.core.chat.mentions import with_ids
from orchestrator.settings.tree import OutboxSettings, Settings
from orchestrator.store import members
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import ANN, BOB, CHAT

LID = Jid("98765@lid")
QUOTING = Settings(outbox=OutboxSettings(quote_trigger=True))


async def next_text(desk: Desk, text: str) -> NextText:
    """A text of ours, as it is claimed."""
    await desk.run(
        lambda tx: queue_text(
            tx, chat=CHAT, parts=[text], source=TextSource.NOTICE, source_key="k", at=desk.now
        )
    )
    return await desk.run(lambda tx: claim_next(tx, desk.services, CHAT, at=desk.now))


async def quoted(desk: Desk, *, turn: str = "turn-1") -> str | None:
    """What the next pair of an agent that was given what waits would quote."""
    held = await desk.start_agent(turn=turn)
    key = PairKey(agent=held, ordinal=1, turn_id=TurnId(turn))
    return await desk.run(lambda tx: quoted_by_pair(tx, desk.services, key))


async def test_the_first_pair_of_a_turn_quotes_what_set_it_off(desk: Desk) -> None:
    desk.set_settings(QUOTING)
    await desk.hear("m-1", "@Andy hello")
    await desk.hear("m-2", "chatter")
    await desk.hear("m-3", "@Andy and?")

    assert await quoted(desk) == "m-3"


async def test_a_later_pair_quotes_nothing(desk: Desk) -> None:
    desk.set_settings(QUOTING)
    await desk.hear("m-1", "@Andy hello")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.say(held, "Hello Ann")
    key = PairKey(agent=held, ordinal=2, turn_id=TurnId("turn-1"))

    assert await desk.run(lambda tx: quoted_by_pair(tx, desk.services, key)) is None


async def test_nothing_is_quoted_unless_the_settings_want_it(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy hello")

    assert await quoted(desk) is None


@pytest.mark.parametrize("text", ["@Anna Berg, look", "@Anna, look", "Look, @98765"])
async def test_somebody_of_the_chat_is_called_by_name_or_number(desk: Desk, text: str) -> None:
    await desk.hear("m-1", "hi", sender_jid=LID, sender_name="Anna Berg")
    await desk.hear("m-2", "hi", sender_jid=BOB, sender_name="Bob")

    due = await next_text(desk, text)

    assert {each.jid for each in due.mentions} == {LID}
    assert with_ids(text, due.mentions).count("@98765") == 1


async def test_a_person_under_two_ids_is_one(desk: Desk) -> None:
    await desk.hear("m-1", "hi", sender_jid=LID, sender_name="Anna")
    await desk.hear("m-2", "hi", sender_jid=ANN, sender_name="Anna")
    await join_contacts(desk.services, [(LID, ANN)])

    due = await next_text(desk, "@Anna, look")

    assert [each.token for each in due.mentions] == ["@Anna"]


async def test_a_name_that_two_have_calls_neither(desk: Desk) -> None:
    await desk.hear("m-1", "hi", sender_jid=ANN, sender_name="Anna Berg")
    await desk.hear("m-2", "hi", sender_jid=BOB, sender_name="Anna Holm")

    assert (await next_text(desk, "@Anna, look")).mentions == ()


async def test_who_is_not_in_the_chat_is_not_called_by_name(desk: Desk) -> None:
    await desk.hear("m-1", "hi", sender_jid=ANN, sender_name="Anna")
    await desk.hear("m-2", "hi", sender_jid=BOB, sender_name="Bob")
    await desk.run(lambda tx: members.set_all(tx, CHAT, [BOB]))

    due = await next_text(desk, "@Anna and @Bob, look")

    assert due.mentions == (Mention(token="@Bob", jid=BOB),)


async def test_a_text_that_comes_back_with_a_number_for_a_name_was_sent(desk: Desk) -> None:
    await desk.hear("m-1", "hi", sender_jid=LID, sender_name="Anna Berg")
    item = (await next_text(desk, "@Anna, look")).item
    assert item is not None
    await desk.run(lambda tx: note_unknown(tx, item, why="connection lost", at=desk.now))

    await desk.hear("net-1", "@98765, look", is_from_me=True)

    assert list(await desk.statuses()) == ["m-1"]
