"""What goes out as a protobuf message: the text, what it quotes, and whom it calls."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.channels.whatsapp.translate import to_inbound, to_message
from orchestrator.contracts.ids import MessageId
from orchestrator.contracts.records.messages import InboundMessage, Mention, OutboundMessage
from tests.support.whatsapp_events import ANNA_LID, BEN_PHONE, FAMILY, ME, Message, event

HELLO = OutboundMessage(chat_jid=FAMILY, text="*Hello* @4915100000002", outbox_id=1)
ANSWER = replace(
    HELLO, reply_to=MessageId("3EB0OLD"), reply_to_sender=ANNA_LID, reply_to_text="Is it raining?"
)
BEN = Mention(token="@4915100000002", jid=BEN_PHONE)


def test_a_text_goes_out_as_it_is() -> None:
    message = Message()

    to_message(message, HELLO)

    assert message == Message(conversation="*Hello* @4915100000002")


def test_an_answer_quotes_by_the_id_that_came_from_the_network() -> None:
    message = Message()

    to_message(message, ANSWER)

    context = message.extendedTextMessage.contextInfo
    assert message.extendedTextMessage.text == ANSWER.text
    assert (context.stanzaID, context.participant) == ("3EB0OLD", ANNA_LID)
    assert context.quotedMessage == Message(conversation="Is it raining?")


def test_an_answer_to_nobody_known_goes_out_without_a_quote() -> None:
    message = Message()

    to_message(message, replace(ANSWER, reply_to_sender=None))

    assert message == Message(conversation=ANSWER.text)


def test_a_mention_names_whom_it_calls() -> None:
    message = Message()

    to_message(message, replace(HELLO, mentions=(BEN,)))

    assert list(message.extendedTextMessage.contextInfo.mentionedJID) == [BEN_PHONE]
    assert not message.extendedTextMessage.contextInfo.HasField("quotedMessage")


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.booleans(), st.booleans())
def test_what_goes_out_comes_back_as_the_same_text(text: str, is_quoting: bool, is_calling: bool) -> None:
    message = Message()

    to_message(
        message,
        replace(ANSWER if is_quoting else HELLO, text=text, mentions=(BEN,) if is_calling else ()),
    )
    echo = to_inbound(event(Message.FromString(message.SerializeToString())), ME)

    assert isinstance(echo, InboundMessage)
    assert echo.text == text
