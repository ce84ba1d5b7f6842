"""The messages of a prompt as values. Source: contracts.md section 1."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from xml.etree import ElementTree


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedMessage:
    """What a message answers."""

    message_id: str = ""
    sender: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile:
    """A file that came with a message. path: where it lies in here; None if it could not be kept."""

    name: str
    media_type: str = ""
    size_bytes: int = 0
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of the chat. sender: the name shown, which anyone may choose. timestamp: ISO 8601.

    is_trigger: whether it asks for an answer, or is context only; None if the host does not tell.
    """

    text: str
    message_id: str = ""
    sender: str = ""
    sender_id: str = ""
    sender_role: str = ""
    role: str = "user"
    timestamp: str = ""
    quoted: QuotedMessage | None = None
    attachments: tuple[AttachedFile, ...] = ()
    omitted: int = 0
    is_trigger: bool | None = None


_ASSISTANT_ROLE: Final = "assistant"


def is_from_person(message: Message) -> bool:
    """Whether somebody else than the assistant said it."""
    return message.role != _ASSISTANT_ROLE


def parse_messages(xml: str) -> tuple[Message, ...]:
    """The messages in `xml`: one element, several in a row, or several in a wrapper.

    What is no such XML is one message with the whole as its text, so that no word is ever lost.
    """
    try:
        root = ElementTree.fromstring(f"<batch>{xml}</batch>")
    except (ElementTree.ParseError, UnicodeEncodeError):
        return (Message(text=xml.strip()),) if xml.strip() else ()
    found = tuple(_message(element) for element in root.iter("message"))
    if found:
        return found
    text = "".join(root.itertext()).strip()
    return (Message(text=text),) if text else ()


def parse_all(xml_messages: Sequence[str]) -> tuple[Message, ...]:
    """The messages of several XML strings, in their order."""
    return tuple(message for xml in xml_messages for message in parse_messages(xml))


def with_triggers(messages: Sequence[Message], ids: Sequence[str]) -> tuple[Message, ...]:
    """The messages, each with whether it is one of `ids`, those that triggered.

    As they are where none of `ids` is among them: a host that names no trigger has not told.
    """
    named = {message.message_id for message in messages}.intersection(ids)
    if not named:
        return tuple(messages)
    return tuple(replace(message, is_trigger=message.message_id in named) for message in messages)


def _message(element: ElementTree.Element) -> Message:
    attributes = element.attrib
    return Message(
        text=_own_text(element),
        message_id=attributes.get("id", ""),
        sender=attributes.get("sender", ""),
        sender_id=attributes.get("sender_id", ""),
        sender_role=attributes.get("sender_role", ""),
        role=attributes.get("role", "user"),
        timestamp=attributes.get("timestamp") or attributes.get("time", ""),
        quoted=_quoted(element),
        attachments=tuple(_attachment(child) for child in element.findall("attachment")),
        omitted=sum(_whole_number(child.get("count")) for child in element.findall("omitted")),
    )


def _own_text(element: ElementTree.Element) -> str:
    """The text of the element without that of its children."""
    return ((element.text or "") + "".join(child.tail or "" for child in element)).strip()


def _quoted(element: ElementTree.Element) -> QuotedMessage | None:
    child = element.find("quoted")
    if child is None:
        return None
    return QuotedMessage(
        message_id=child.get("id", ""), sender=child.get("sender", ""), text="".join(child.itertext()).strip()
    )


def _attachment(element: ElementTree.Element) -> AttachedFile:
    return AttachedFile(
        name=element.get("name", ""),
        media_type=element.get("type", ""),
        size_bytes=_whole_number(element.get("size")),
        path=element.get("path"),
    )


def _whole_number(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else 0
