"""Who is who, how people are called, and the versions of a message."""

from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import Attachment, StoredMessage
from orchestrator.store import contacts, message_edits
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import CHAT, OTHER_CHAT, add_message

LID, PHONE = Jid("98765@lid"), Jid("49170@s.whatsapp.net")
NEW_LID, NEW_PHONE = Jid("12345@lid"), Jid("49180@s.whatsapp.net")


async def test_a_person_is_known_by_both_ids(db: Database) -> None:
    await db.run(lambda tx: contacts.join(tx, LID, PHONE))

    for jid in (LID, PHONE):
        assert await db.run(lambda tx, jid=jid: contacts.ids_of(tx, jid)) == {LID, PHONE}  # type: ignore[misc]
    assert await db.run(lambda tx: contacts.ids_of(tx, NEW_LID)) == {NEW_LID}


async def test_the_same_pair_again_changes_nothing(db: Database) -> None:
    def body(tx: Transaction) -> list[tuple[int, str]]:
        contacts.join(tx, LID, PHONE)
        contacts.join(tx, NEW_LID, NEW_PHONE)
        contacts.join(tx, LID, PHONE)
        return [
            (row["rowid"], row["lid"]) for row in tx.all("SELECT rowid, lid FROM contacts ORDER BY rowid")
        ]

    assert [lid for _, lid in await db.run(body)] == [LID, NEW_LID]


async def test_a_number_that_changed_hands_is_no_longer_the_first_person(db: Database) -> None:
    def body(tx: Transaction) -> tuple[frozenset[Jid], frozenset[Jid]]:
        contacts.join(tx, LID, PHONE)
        contacts.join(tx, NEW_LID, PHONE)
        return contacts.ids_of(tx, LID), contacts.ids_of(tx, PHONE)

    assert await db.run(body) == (frozenset({LID}), frozenset({PHONE, NEW_LID}))


async def test_a_person_with_a_new_number_is_no_longer_the_old_one(db: Database) -> None:
    def body(tx: Transaction) -> tuple[frozenset[Jid], frozenset[Jid]]:
        contacts.join(tx, LID, PHONE)
        contacts.join(tx, LID, NEW_PHONE)
        return contacts.ids_of(tx, LID), contacts.ids_of(tx, PHONE)

    assert await db.run(body) == (frozenset({LID, NEW_PHONE}), frozenset({PHONE}))


async def test_a_name_is_found_under_either_id_and_the_newest_counts(db: Database) -> None:
    def body(tx: Transaction) -> dict[Jid, str]:
        contacts.call(tx, LID, "Anna")
        contacts.call(tx, LID, "Anna B.")
        contacts.join(tx, LID, PHONE)
        return contacts.names(tx, [PHONE, LID, NEW_PHONE])

    assert await db.run(body) == {PHONE: "Anna B.", LID: "Anna B."}


async def test_the_versions_of_a_message_are_those_of_its_own_chat(db: Database) -> None:
    def body(tx: Transaction) -> list[str]:
        add_message(tx, "m-1", "first")
        message_edits.mark_edit(tx, add_message(tx, "m-2", "second"), of=MessageId("m-1"))
        add_message(tx, "m-3", "something else")
        other = add_message(tx, "m-4", "elsewhere", chat_jid=OTHER_CHAT)
        message_edits.mark_edit(tx, other, of=MessageId("m-1"))
        return [each.text for each in message_edits.versions(tx, CHAT, MessageId("m-1"))]

    assert await db.run(body) == ["first", "second"]


async def test_a_replaced_text_is_noticed_by_who_read_it_before(db: Database) -> None:
    def body(tx: Transaction) -> tuple[bool, bool]:
        seq = add_message(tx, "m-1", "first")
        add_message(tx, "m-2")
        read = message_edits.versions(tx, CHAT, MessageId("m-1"))
        before = message_edits.are_unchanged(tx, read)
        message_edits.replace_text(tx, seq, text="second", is_trigger=False)
        return before, message_edits.are_unchanged(tx, read)

    assert await db.run(body) == (True, False)


async def test_whoever_wrote_in_a_chat_is_named_once(db: Database) -> None:
    def body(tx: Transaction) -> list[Jid]:
        contacts.join(tx, LID, PHONE)
        for number, sender in enumerate((PHONE, LID, NEW_PHONE, PHONE)):
            add_message(tx, f"m-{number}", sender_jid=sender)
        add_message(tx, "m-9", chat_jid=OTHER_CHAT, sender_jid=NEW_LID)
        return contacts.people_of(tx, CHAT)

    found = await db.run(body)

    assert len(found) == 2
    assert NEW_PHONE in found
    assert {LID, PHONE} & set(found)


async def test_a_message_that_is_given_its_files_is_noticed_by_who_read_it_before(db: Database) -> None:
    photo = Attachment(
        name="a.jpg", media_type="image/jpeg", size_bytes=4, path="/workspace/group/inbox/a.jpg"
    )

    def body(tx: Transaction) -> tuple[list[StoredMessage], bool]:
        seq = add_message(tx, "m-1", "first")
        read = message_edits.versions(tx, CHAT, MessageId("m-1"))
        message_edits.give_files(tx, seq, text="with a photo", attachments=(photo,))
        is_unchanged = message_edits.are_unchanged(tx, read)
        return message_edits.versions(tx, CHAT, MessageId("m-1")), is_unchanged

    [stored], is_unchanged = await db.run(body)

    assert (stored.text, stored.attachments, is_unchanged) == ("with a photo", (photo,), False)
