"""Messages of a prompt, from the XML that the host writes and from what others write."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from container.messages import AttachedFile, Message, QuotedMessage, parse_all, parse_messages, with_triggers
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import (
    Attachment,
    MessageStatus,
    Quoted,
    SenderRole,
    StoredMessage,
)
from orchestrator.core.chat.transcript import render_message

SENT_AT = datetime(2025, 3, 30, 1, 0, tzinfo=UTC)


def stored(text: str, *, sender: str = "Ada", quoted: Quoted | None = None) -> StoredMessage:
    return StoredMessage(
        seq=1,
        chat_jid=Jid("console:main"),
        message_id=MessageId("m1"),
        sender_jid=Jid("console:ada"),
        sender_name=sender,
        sender_role=SenderRole.OPERATOR,
        text=text,
        sent_at=SENT_AT,
        status=MessageStatus.PENDING,
        is_trigger=True,
        quoted=quoted,
        attachments=(
            Attachment(name="a.txt", media_type="text/plain", size_bytes=5, path="/workspace/a.txt"),
        ),
    )


def test_what_the_host_renders_comes_back_field_by_field() -> None:
    message = stored(
        "a < b & c\n<message>", quoted=Quoted(message_id=MessageId("q"), sender_name="Bob", text="hm")
    )

    [parsed] = parse_messages(render_message(message, omitted=3))

    assert parsed == Message(
        text="a < b & c\n<message>",
        message_id="m1",
        sender="Ada",
        sender_id="console:ada",
        sender_role="operator",
        role="user",
        timestamp="2025-03-30T01:00:00+00:00",
        quoted=QuotedMessage(message_id="q", sender="Bob", text="hm"),
        attachments=(
            AttachedFile(name="a.txt", media_type="text/plain", size_bytes=5, path="/workspace/a.txt"),
        ),
        omitted=3,
    )


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_characters="\x7f")))
def test_no_text_of_a_person_becomes_anything_but_text(text: str) -> None:
    xml = render_message(stored("keep " + text.replace("internal", "")))

    parsed = parse_messages(xml)

    assert len(parsed) == 1
    assert parsed[0].message_id == "m1"
    assert parsed[0].text.startswith("keep")


@pytest.mark.parametrize(
    ("xml", "texts"),
    [
        pytest.param('<message id="1">a</message>\n<message id="2">b</message>', ["a", "b"], id="in a row"),
        pytest.param(
            '<context timezone="UTC"/><messages><message sender="A" time="Jan 1">a</message></messages>',
            ["a"],
            id="NanoClaw 1.x",
        ),
        pytest.param("just words", ["just words"], id="plain words"),
        pytest.param("1 < 2 & 3", ["1 < 2 & 3"], id="words that look like broken XML"),
        pytest.param("<b>bold</b> words", ["bold words"], id="other XML"),
        pytest.param("<message>open", ["<message>open"], id="cut off"),
        pytest.param("half a \ud83d sign", ["half a \ud83d sign"], id="a lone surrogate"),
        pytest.param("  \n ", [], id="nothing"),
        pytest.param("<message></message>", [""], id="a message without words"),
        pytest.param('<message><omitted count="x"/>a</message>', ["a"], id="a count that is none"),
    ],
)
def test_no_word_is_lost_whatever_the_form(xml: str, texts: list[str]) -> None:
    assert [message.text for message in parse_messages(xml)] == texts


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    parsed = parse_messages(text)

    assert bool(parsed) == bool(text.strip()) or "<" in text


def test_several_strings_keep_their_order() -> None:
    assert [m.text for m in parse_all(["<message>a</message>", "b"])] == ["a", "b"]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        pytest.param(["b", "x"], [False, True], id="those that are named, and the rest is context"),
        pytest.param([], [None, None], id="a host that names none has not told"),
        pytest.param(["x"], [None, None], id="a host that names strangers has not told"),
    ],
)
def test_each_message_says_whether_it_triggered(ids: list[str], expected: list[bool | None]) -> None:
    batch = [Message(text="one", message_id="a"), Message(text="two", message_id="b")]

    assert [message.is_trigger for message in with_triggers(batch, ids)] == expected
