"""One person under two ids: chats, rules, operators, bounds and words. Source: agents.md section 6."""

from typing import Any

import pytest

from orchestrator.commands.contacts import join_contacts
from orchestrator.commands.groups.groups import NewGroup
from orchestrator.commands.groups.groups import add_group as add_chat
from orchestrator.commands.saying.delivery import claim_next
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import Conflict
from orchestrator.contracts.ids import GroupFolder, Jid, MessageId
from orchestrator.contracts.records.messages import Mention, Quoted, TextSource
from orchestrator.settings.tree import AssistantSettings, BoundSettings, Settings
from orchestrator.store import outbox
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import ANN, BOB, CHAT, add_group

LID = Jid("98765@lid")
US = Jid("4919@s.whatsapp.net")
OURS = Mention(token="@4919", jid=US, is_us=True)


async def text_of(desk: Desk, message_id: str, chat: Jid = CHAT) -> str:
    row = await desk.row(message_id, chat)
    return str(row["text"])


@pytest.mark.parametrize("registered", [ANN, LID], ids=["by phone", "by hidden id"])
@pytest.mark.parametrize("came", [ANN, LID], ids=["came by phone", "came by hidden id"])
async def test_g5_direct_chats_under_either_id_are_one_chat(desk: Desk, registered: Jid, came: Jid) -> None:
    """Case G5."""
    await desk.run(lambda tx: add_group(tx, "ann", registered, requires_trigger=0))
    await join_contacts(desk.services, [(LID, ANN)])

    await desk.hear("m-1", "hello", chat_jid=came, sender_jid=came)

    assert await desk.statuses(registered) == {"m-1": "pending"}
    row = await desk.row("m-1", registered)
    assert row["sender_jid"] == came  # what goes back to the network is what came from it


async def test_g5_a_message_under_both_ids_is_one_message(desk: Desk) -> None:
    """Case G5."""
    await desk.run(lambda tx: add_group(tx, "ann", ANN, requires_trigger=0))
    await join_contacts(desk.services, [(LID, ANN)])

    there = []
    for came in (LID, ANN):
        await desk.hear("m-1", "hello", chat_jid=came, sender_jid=came)
        there.append(await desk.statuses(ANN))

    assert there == [{"m-1": "pending"}] * 2  # the first came in already, and the second is the same


async def test_g6_an_operator_is_known_by_the_id_that_is_not_in_the_settings(desk: Desk) -> None:
    """Case G6."""
    desk.set_settings(Settings(assistant=AssistantSettings(operators=(ANN,))))
    await join_contacts(desk.services, [(LID, ANN)])

    await desk.hear("m-1", sender_jid=LID)
    await desk.hear("m-2", sender_jid=BOB)

    assert [(await desk.row(each))["sender_role"] for each in ("m-1", "m-2")] == ["operator", "member"]


async def test_g6_a_number_that_went_to_somebody_else_takes_no_rights_along(desk: Desk) -> None:
    """Case G6."""
    desk.set_settings(Settings(assistant=AssistantSettings(operators=(LID,))))
    await join_contacts(desk.services, [(LID, ANN)])
    await join_contacts(desk.services, [(Jid("555@lid"), ANN)])

    await desk.hear("m-1", sender_jid=ANN)

    assert (await desk.row("m-1"))["sender_role"] == "member"


async def test_g10_who_may_trigger_in_one_group_is_nobody_in_another(desk: Desk) -> None:
    """Case G10."""
    other = Jid("1299@g.us")
    await desk.run(lambda tx: add_group(tx, "closed", other))
    for folder, senders in (("family", f'["{ANN}"]'), ("closed", "[]")):
        path = desk.services.paths.groups / GroupFolder(folder) / "senders.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'mode = "allowlist"\nsenders = {senders}\n')
    await join_contacts(desk.services, [(LID, ANN)])

    await desk.hear("m-1", sender_jid=LID)
    await desk.hear("m-1", sender_jid=LID, chat_jid=other)

    assert [(await desk.row("m-1", chat))["is_trigger"] for chat in (CHAT, other)] == [1, 0]


async def test_a_bound_counts_a_person_under_both_ids(desk: Desk) -> None:
    desk.set_settings(Settings(bounds=BoundSettings(triggers_per_sender=2)))
    await join_contacts(desk.services, [(LID, ANN)])

    for number, sender in enumerate([ANN, LID, ANN, LID]):
        await desk.hear(f"m-{number}", sender_jid=sender)

    assert [(await desk.row(f"m-{number}"))["is_trigger"] for number in range(4)] == [1, 1, 0, 0]
    assert len(await desk.texts()) == 1


async def test_a_member_stops_what_was_asked_under_the_other_id(desk: Desk) -> None:
    await desk.hear("m-1", sender_jid=ANN)
    await desk.start_agent()
    await join_contacts(desk.services, [(LID, ANN)])

    await desk.hear("m-2", "@Andy /stop", sender_jid=LID, chat_is_group=True)

    assert desk.control.answers_stopped == [CHAT]


@pytest.mark.parametrize(
    ("fields", "is_trigger"),
    [
        ({"text": "@4919 hello", "mentions": (OURS,)}, 1),
        ({"text": "hello @4919", "mentions": (OURS,)}, 0),
        ({"text": "@4919 hello"}, 0),
    ],
    ids=["called", "called later in the text", "a number is no call"],
)
async def test_a_mention_of_our_account_is_the_assistants_name(
    desk: Desk, fields: dict[str, Any], is_trigger: int
) -> None:
    await desk.hear("m-1", **fields)

    assert (await desk.row("m-1"))["is_trigger"] == is_trigger


async def test_a_member_who_calls_himself_as_the_assistant_does_not_trigger_it(desk: Desk) -> None:
    await desk.hear("m-1", "hi", sender_jid=BOB, sender_name="Andy")
    mention = Mention(token="@49171", jid=BOB)

    await desk.hear("m-2", "@49171 look", mentions=(mention,))

    assert (await desk.row("m-2"))["is_trigger"] == 0
    assert await text_of(desk, "m-2") == "@Andy look"


async def test_people_who_are_called_and_quoted_have_their_names(desk: Desk) -> None:
    await desk.hear("m-1", "hi", sender_jid=LID, sender_name="Anna")
    await join_contacts(desk.services, [(LID, ANN)])
    quoted = Quoted(message_id=MessageId("m-1"), sender_name=ANN, text="hi")

    await desk.hear("m-2", "@49170 look", mentions=(Mention(token="@49170", jid=ANN),), quoted=quoted)

    assert await text_of(desk, "m-2") == "@Anna look"
    assert '"Anna"' in (await desk.row("m-2"))["quoted"]


async def test_a_text_stays_within_its_limit_when_long_names_take_the_place_of_numbers(desk: Desk) -> None:
    await desk.hear("m-1", "hi", sender_name="A" * 100)
    mention = Mention(token="@49170", jid=ANN)

    await desk.hear("m-2", "@49170 " * 9_000, mentions=(mention,))

    text = await text_of(desk, "m-2")
    assert text.startswith(f"@{'A' * 100} ")
    assert len(text.encode()) <= 64 * 1024


async def test_what_is_context_only_never_wakes_even_where_everything_does(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "ann", ANN, requires_trigger=0))

    await desk.hear("m-1", "[Reaction: 👍]", chat_jid=ANN, is_context_only=True)
    await desk.hear("m-2", "@Andy", is_context_only=True)

    assert [(await desk.row("m-1", ANN))["is_trigger"], (await desk.row("m-2"))["is_trigger"]] == [0, 0]


async def test_ids_that_no_network_may_give_are_nobodys(desk: Desk) -> None:
    await join_contacts(desk.services, [(Jid("a\x00@lid"), ANN)])

    assert await desk.run(lambda tx: tx.all("SELECT * FROM contacts")) == []


async def test_a_sender_without_a_name_is_called_by_the_one_known(desk: Desk) -> None:
    await desk.hear("m-1", "hi", sender_jid=LID, sender_name="Anna")
    await join_contacts(desk.services, [(LID, ANN)])

    await desk.hear("m-2", "hi again", sender_jid=ANN, sender_name="49170")
    await desk.hear("m-3", "and I", sender_jid=BOB, sender_name="49171")

    assert [(await desk.row(each))["sender_name"] for each in ("m-2", "m-3")] == ["Anna", "49171"]


async def test_a_text_of_ours_goes_out_with_whom_it_answers_and_calls(desk: Desk) -> None:
    await desk.hear("m-1", "hi", sender_jid=LID, sender_name="Anna")

    def put(tx: Transaction) -> None:
        outbox.add(
            tx,
            chat_jid=CHAT,
            parts=["@98765 hello @11111"],
            source=TextSource.NOTICE,
            source_key="k",
            at=desk.now,
            reply_to=MessageId("m-1"),
        )

    await desk.run(put)
    due = await desk.run(lambda tx: claim_next(tx, desk.services, CHAT, at=desk.now))

    assert due.mentions == (Mention(token="@98765", jid=LID),)
    assert (due.reply_to_sender, due.reply_to_text) == (LID, "hi")


async def test_a_person_is_registered_once_whichever_id_is_given(desk: Desk) -> None:
    await join_contacts(desk.services, [(LID, ANN)])
    await add_chat(desk.services, OperatorCaller(), NewGroup(jid=ANN, folder="ann"))

    with pytest.raises(Conflict, match="group 'ann'"):
        await add_chat(desk.services, OperatorCaller(), NewGroup(jid=LID, folder="again"))
