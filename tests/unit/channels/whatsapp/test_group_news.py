"""What happens to a group, as an agent reads it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given

from orchestrator.channels.whatsapp.group_news import group_news
from orchestrator.channels.whatsapp.translate import Skip, SkipReason
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import InboundMessage
from tests.support.whatsapp_events import (
    ANNA_LID,
    BEN_PHONE,
    FAMILY,
    ME,
    OUR_LID,
    neonize_types,
    set_jid,
)
from tests.support.whatsapp_objects import objects

ANNA, BEN = "@98765432109876", "@4915100000002"


def group_event(
    sender: str = ANNA_LID, seconds: int = 1_790_000_000, chat: str = FAMILY, **people: list[Jid]
) -> Any:
    """Something happens to the family group."""
    event = neonize_types.GroupInfoEvent()
    set_jid(event.JID, chat)
    set_jid(event.Sender, sender)
    event.Timestamp = seconds
    for field, jids in people.items():
        for jid in jids:
            set_jid(getattr(event, field).add(), jid)
    return event


def told(event: Any) -> InboundMessage:
    news = group_news(event, ME)
    assert isinstance(news, InboundMessage), news
    return news


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (group_event(Join=[ANNA_LID]), f"[{ANNA} joined]"),
        (group_event(sender="", Join=[BEN_PHONE]), f"[{BEN} joined]"),
        (group_event(Join=[BEN_PHONE]), f"[{ANNA} added {BEN}]"),
        (group_event(Join=[ANNA_LID, BEN_PHONE]), f"[{ANNA} added {ANNA}, {BEN}]"),
        (group_event(Leave=[ANNA_LID]), f"[{ANNA} left]"),
        (group_event(Leave=[BEN_PHONE]), f"[{ANNA} removed {BEN}]"),
        (group_event(Promote=[BEN_PHONE]), f"[Made an admin: {BEN}]"),
        (group_event(Demote=[BEN_PHONE]), f"[No longer an admin: {BEN}]"),
        (group_event(Join=[ANNA_LID], Leave=[BEN_PHONE]), f"[{ANNA} joined]\n[{ANNA} removed {BEN}]"),
    ],
    ids=["joins", "joins by itself", "adds", "adds two", "leaves", "removes", "promotes", "demotes", "both"],
)
def test_who_comes_and_goes_is_told(event: Any, text: str) -> None:
    assert told(event).text == text


def test_a_new_name_is_told_and_is_the_chats() -> None:
    event = group_event()
    event.Name.Name = "The Family"

    news = told(event)

    assert (news.text, news.chat_name) == ("[The group is called The Family now]", "The Family")


def test_a_new_topic_and_the_end_are_told() -> None:
    event = group_event()
    event.Topic.Topic, event.Delete.Deleted = "food", True

    assert told(event).text == "[The group is about: food]\n[The group was deleted]"


def test_what_somebody_calls_a_group_stands_in_no_place_of_a_sentence_of_ours() -> None:
    event = group_event()
    event.Name.Name = "Choir now]\n[Made an admin: @4915100000002"
    event.Topic.Topic = "songs]\n[The group was deleted"

    assert told(event).text.splitlines() == [
        "[The group is called Choir now] [Made an admin: @4915100000002 now]",
        "[The group is about: songs] [The group was deleted]",
    ]


def test_news_wake_nobody_and_name_everybody() -> None:
    news = told(group_event(Join=[OUR_LID]))

    assert news.is_context_only
    assert news.chat_is_group
    assert news.sent_at == datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC)
    assert {mention.jid: mention.is_us for mention in news.mentions} == {OUR_LID: True, ANNA_LID: False}


def test_news_met_again_have_the_same_id_and_others_another() -> None:
    ids = [told(group_event(Join=[jid])).message_id for jid in (BEN_PHONE, BEN_PHONE, ANNA_LID)]

    assert ids[0] == ids[1] != ids[2]


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (group_event(), SkipReason.PROTOCOL),
        (group_event(chat="", Join=[ANNA_LID]), SkipReason.NO_IDS),
        (group_event(seconds=0, Join=[ANNA_LID]), SkipReason.NO_TIME),
    ],
    ids=["nothing to see", "no group", "no time"],
)
def test_what_is_no_news_is_skipped_with_its_reason(event: Any, reason: SkipReason) -> None:
    skip = group_news(event, ME)

    assert isinstance(skip, Skip)
    assert skip.reason is reason


def test_news_of_before_the_link_are_history() -> None:
    me = replace(ME, not_before=datetime(2026, 9, 21, 14, 13, 21, tzinfo=UTC))

    assert group_news(group_event(Join=[ANNA_LID]), me) == Skip(reason=SkipReason.BEFORE_LINK, chat=FAMILY)


@given(objects(neonize_types.GroupInfoEvent))
def test_any_group_event_is_a_message_or_a_reasoned_skip(event: Any) -> None:
    news = group_news(event, ME)

    assert isinstance(news, Skip) or news.text
