"""The lines between the orchestrator and its WhatsApp child."""

import contextlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.channels.whatsapp import lines
from orchestrator.channels.whatsapp.lines import (
    Confirm,
    Heard,
    LineError,
    Send,
    child_line,
    encode,
    parent_line,
)
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import InboundMessage, OutboundMessage, Quoted

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
MESSAGE = InboundMessage(
    chat_jid=Jid("1203@g.us"),
    message_id=MessageId("A1"),
    sender_jid=Jid("4917@s.whatsapp.net"),
    sender_name="Ada",
    text="hello",
    sent_at=datetime(2026, 1, 1, tzinfo=UTC),
)


@given(
    text=TEXT,
    name=TEXT,
    quoted=TEXT,
    minutes=st.integers(-12 * 60, 12 * 60),
    at=st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)),  # noqa: DTZ001 - made aware below
)
def test_a_message_comes_out_as_it_went_in(
    text: str, name: str, quoted: str, minutes: int, at: datetime
) -> None:
    message = replace(
        MESSAGE,
        text=text,
        sender_name=name,
        sent_at=at.replace(tzinfo=timezone(timedelta(minutes=minutes))),
        quoted=Quoted(message_id=MessageId("Q"), sender_name=name, text=quoted),
    )
    line = Heard(generation=3, spool="0000000000000001.row", message=message)

    raw = encode(line)

    assert child_line(raw) == line
    assert raw.count(b"\n") == 1


@given(st.binary(max_size=300))
def test_any_bytes_are_a_line_or_a_reasoned_refusal(raw: bytes) -> None:
    for read in (child_line, parent_line):
        with contextlib.suppress(LineError):
            read(raw)


def test_what_a_parent_says_is_no_line_of_a_child_and_the_other_way_round() -> None:
    wish = Send(id=1, message=OutboundMessage(chat_jid=Jid("1203@g.us"), text="x", outbox_id=1))

    assert parent_line(encode(wish)) == wish
    with pytest.raises(LineError):
        child_line(encode(wish))
    with pytest.raises(LineError):
        parent_line(encode(Heard(generation=1, spool="x", message=MESSAGE)))


def test_a_line_that_no_reader_takes_is_not_written() -> None:
    long = Confirm(spool="x" * lines.MAX_LINE_BYTES)

    with pytest.raises(LineError, match="a line has at most"):
        encode(long)


def test_a_later_version_may_say_more() -> None:
    assert parent_line(b'{"kind":"confirm","spool":"x","colour":"red"}') == Confirm(spool="x")
