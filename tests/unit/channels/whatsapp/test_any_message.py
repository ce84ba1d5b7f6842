"""Whatever an object holds, the answer is a message or a reasoned skip, never an exception."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.channels.whatsapp.lines import Heard, child_line, encode
from orchestrator.channels.whatsapp.media import fill_fetch_message
from orchestrator.channels.whatsapp.translate import (
    Skip,
    SkipReason,
    file_in,
    same_participants,
    same_people,
    to_inbound,
    undecryptable,
)
from orchestrator.contracts.records.messages import InboundMessage
from tests.support.whatsapp_events import ME, e2e, event, neonize_types, undecryptable_event
from tests.support.whatsapp_objects import objects


def check(answer: InboundMessage | Skip) -> None:
    """It is one of both, and a message can go to the orchestrator as a line."""
    if isinstance(answer, Skip):
        assert answer.reason in SkipReason
        return
    line = Heard(generation=1, spool="x", message=answer)
    assert child_line(encode(line)) == line


@given(objects(e2e.Message))
def test_any_content_is_a_message_or_a_reasoned_skip(message: Any) -> None:
    check(to_inbound(event(message), ME))


@given(objects(neonize_types.Message))
def test_any_event_is_a_message_or_a_reasoned_skip(made: Any) -> None:
    check(to_inbound(made, ME))
    same_people(made.Info)


@given(objects(e2e.Message))
def test_the_file_of_any_content_is_the_one_that_its_message_describes(message: Any) -> None:
    file, answer = file_in(event(message)), to_inbound(event(message), ME)

    if isinstance(answer, InboundMessage):
        assert answer.files == (() if file is None else (file.described,))
    if file is not None:
        fill_fetch_message(e2e.Message(), file)


LONG = "\x07" * 5_000_000


@pytest.mark.parametrize(
    "message",
    [
        {"conversation": LONG},
        {"pollCreationMessage": {"name": LONG, "options": [{"optionName": LONG}] * 3}},
        {"documentMessage": {"fileName": LONG, "mimetype": LONG, "caption": "x"}},
        {
            "extendedTextMessage": {
                "text": "x",
                "contextInfo": {"stanzaID": "1", "quotedMessage": {"conversation": LONG}},
            }
        },
    ],
    ids=["a text", "a poll", "a file", "a quote"],
)
def test_what_is_far_too_long_is_cut_and_still_fits_a_line(message: dict[str, Any]) -> None:
    answer = to_inbound(event(message, name=LONG), ME)

    assert isinstance(answer, InboundMessage)
    check(answer)
    assert len(answer.text) <= 100_000


@given(objects(neonize_types.UndecryptableMessage), st.booleans())
def test_any_undecryptable_event_is_a_message_or_a_reasoned_skip(made: Any, is_filled: bool) -> None:
    check(undecryptable(undecryptable_event() if is_filled else made, ME))


@given(objects(neonize_types.GroupInfo))
def test_any_group_names_pairs_of_people_or_none(group: Any) -> None:
    assert all(lid.endswith("@lid") for lid, _ in same_participants(group))


@given(objects(e2e.ProtocolMessage))
def test_any_word_of_the_protocol_is_a_change_or_a_skip(protocol: Any) -> None:
    answer = to_inbound(event(e2e.Message(protocolMessage=protocol)), ME)

    check(answer)
    assert isinstance(answer, Skip) or answer.change is not None


@given(st.binary(min_size=1, max_size=6), st.sampled_from(["conversation", "caption", "mention", "name"]))
def test_bytes_that_are_no_text_become_text(raw: bytes, where: str) -> None:
    mark = b"M" * len(raw)
    made = event({"conversation": "x"}, name="Anna")
    if where == "conversation":
        made.Message.conversation = mark.decode()
    elif where == "caption":
        made.Message.imageMessage.caption = mark.decode()
    elif where == "mention":
        made.Message.extendedTextMessage.contextInfo.mentionedJID.append(mark.decode())
    else:
        made.Info.Pushname = mark.decode()
    sent = type(made).FromString(made.SerializePartialToString().replace(mark, raw))

    answer = to_inbound(sent, ME)

    check(answer)
    if where == "conversation" and isinstance(answer, InboundMessage):
        assert answer.text == raw.decode("utf-8", "replace")
