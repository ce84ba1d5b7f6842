"""What the library's objects say of groups: their people, and whether we are among them."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given

from orchestrator.channels.whatsapp.group_news import group_change, group_line, joined_group
from orchestrator.channels.whatsapp.lines import GroupLine, SamePerson
from orchestrator.channels.whatsapp.translate import Skip, SkipReason
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.groups import GroupChange
from tests.support.whatsapp_events import (
    ANNA_LID,
    ANNA_PHONE,
    BEN_PHONE,
    FAMILY,
    ME,
    OUR_LID,
    OUR_PHONE,
    neonize_types,
    set_jid,
)
from tests.support.whatsapp_objects import objects

PAIR = SamePerson(lid=ANNA_LID, phone=ANNA_PHONE)


def fill_group(group: Any, name: str = "Family", jid: str = FAMILY, people: Sequence[str] = ()) -> None:
    """A group as the network describes it. people: by their first id."""
    set_jid(group.JID, jid)
    group.GroupName.Name = name
    for each in people:
        person = group.Participants.add()
        set_jid(person.JID, each)
        set_jid(person.LID, "")
        set_jid(person.PhoneNumber, ANNA_PHONE if each == ANNA_LID else "")


def changed(field: str, *people: Jid) -> Any:
    """Somebody came into the family group or went."""
    event = neonize_types.GroupInfoEvent()
    set_jid(event.JID, FAMILY)
    set_jid(event.Sender, ANNA_LID)
    for each in people:
        set_jid(getattr(event, field).add(), each, device=3)
    return event


def test_a_group_is_its_name_its_people_each_once_and_who_is_who() -> None:
    group = neonize_types.GroupInfo()
    fill_group(group, people=[ANNA_LID, BEN_PHONE, BEN_PHONE])

    assert group_line(group) == GroupLine(
        jid=FAMILY, name="Family", members=(ANNA_LID, BEN_PHONE), same=(PAIR,)
    )


def test_a_group_without_an_id_is_none() -> None:
    assert group_line(neonize_types.GroupInfo()) is None


def test_a_group_that_we_were_added_to_is_told_with_its_people() -> None:
    event = neonize_types.JoinedGroup()
    fill_group(event.GroupInfo, people=[ANNA_LID, OUR_LID])
    set_jid(event.Sender, ANNA_LID)
    set_jid(event.SenderPN, ANNA_PHONE)

    change = GroupChange(chat_jid=FAMILY, name="Family", joined=(ANNA_LID, OUR_LID), has_us=True)
    assert joined_group(event) == (change, (PAIR, PAIR))


def test_a_group_that_we_were_added_to_without_an_id_is_skipped() -> None:
    assert joined_group(neonize_types.JoinedGroup()) == Skip(reason=SkipReason.NO_IDS)


@pytest.mark.parametrize(
    ("field", "person", "has_us"),
    [
        ("Join", BEN_PHONE, None),
        ("Join", OUR_LID, True),
        ("Join", OUR_PHONE, True),
        ("Leave", BEN_PHONE, None),
        ("Leave", OUR_LID, False),
        ("Leave", OUR_PHONE, False),
    ],
)
def test_we_know_ourselves_by_either_id_among_those_who_come_and_go(
    field: str, person: Jid, has_us: bool | None
) -> None:
    change = group_change(changed(field, person), ME)

    assert change is not None
    assert change.has_us is has_us
    assert (change.joined, change.left) == (((person,), ()) if field == "Join" else ((), (person,)))


def test_of_a_group_that_was_deleted_we_are_no_part() -> None:
    event = changed("Join")
    event.Delete.Deleted = True

    assert group_change(event, ME) == GroupChange(chat_jid=FAMILY, has_us=False)


def test_a_new_name_is_told() -> None:
    event = changed("Join")
    event.Name.Name = "The Family"

    assert group_change(event, ME) == GroupChange(chat_jid=FAMILY, name="The Family")


@given(objects(neonize_types.JoinedGroup))
def test_any_group_that_we_come_into_is_a_change_or_a_reasoned_skip(event: Any) -> None:
    found = joined_group(event)

    assert isinstance(found, Skip) or found[0].has_us


@given(objects(neonize_types.GroupInfoEvent))
def test_any_group_event_with_an_id_is_a_change(event: Any) -> None:
    change = group_change(event, ME)

    assert (change is None) == (not (event.JID.User and event.JID.Server))
