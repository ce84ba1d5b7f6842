"""One person under two ids, and the one chat that both lead to. Source: agents.md section 6."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import Jid, MessageId, is_network_id
from orchestrator.core.chat.identities import chat_of, id_beside, person_key

LID, PHONE = Jid("98765@lid"), Jid("49170@s.whatsapp.net")


@pytest.mark.parametrize(
    ("registered", "seen", "under_lid", "under_phone"),
    [
        ([], [], LID, PHONE),
        ([PHONE], [], PHONE, PHONE),
        ([LID], [], LID, LID),
        ([PHONE], [LID], PHONE, PHONE),
        ([], [PHONE], PHONE, PHONE),
        ([], [LID], LID, LID),
        ([], [LID, PHONE], LID, PHONE),
        ([LID, PHONE], [], LID, PHONE),
    ],
    ids=[
        "new",
        "registered by phone",
        "registered by hidden id",
        "registered and seen differ",
        "seen by phone",
        "seen by hidden id",
        "two chats from before",
        "two groups from before",
    ],
)
def test_g5_a_direct_chat_is_kept_under_one_id(
    registered: list[Jid], seen: list[Jid], under_lid: Jid, under_phone: Jid
) -> None:
    assert chat_of(LID, PHONE, registered=registered, seen=seen) == under_lid
    assert chat_of(PHONE, LID, registered=registered, seen=seen) == under_phone


def test_a_chat_of_one_id_stays_what_it_is() -> None:
    assert chat_of(PHONE, None, registered=[LID], seen=[LID]) == PHONE


@given(
    st.sampled_from([LID, PHONE]),
    st.sets(st.sampled_from([LID, PHONE])),
    st.sets(st.sampled_from([LID, PHONE])),
)
def test_a_chat_is_never_moved_to_an_id_that_was_not_given(
    given_id: Jid, registered: set[Jid], seen: set[Jid]
) -> None:
    other = PHONE if given_id == LID else LID

    assert chat_of(given_id, other, registered=registered, seen=seen) in (LID, PHONE)


def test_a_person_has_one_key_whichever_id_came() -> None:
    assert person_key(frozenset({LID, PHONE})) == person_key(frozenset({PHONE, LID}))
    assert person_key(frozenset({LID})) == LID


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(TEXTS, TEXTS)
def test_an_id_beside_anothers_is_an_id_and_the_same_each_time(message_id: str, sender: str) -> None:
    found = id_beside(MessageId(message_id), Jid(sender))

    assert is_network_id(found)
    assert found == id_beside(MessageId(message_id), Jid(sender))
    assert found != id_beside(MessageId(message_id), Jid(f"{sender}x"))
