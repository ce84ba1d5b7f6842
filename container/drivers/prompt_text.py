"""The messages of a turn as a model reads them: `<message>` elements, one after the other.

Source: contracts.md section 1.
"""

from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from container.messages import Message

_BESIDE: Final = "context"


def prompt_text(messages: Sequence[Message]) -> str:
    """The messages, oldest first. Those that ask for nothing are marked as context, where that is known."""
    some_ask = any(message.is_trigger for message in messages)
    return "\n".join(_element(message, some_ask=some_ask) for message in messages)


def _element(message: Message, *, some_ask: bool) -> str:
    element = Element("message", _filled(_attributes(message)))
    if some_ask and message.is_trigger is False:
        element.set("for", _BESIDE)
    if message.omitted:
        SubElement(element, "omitted", {"count": str(message.omitted)})
    if message.quoted is not None:
        of_quote = {"id": message.quoted.message_id, "sender": message.quoted.sender}
        SubElement(element, "quoted", _filled(of_quote)).text = message.quoted.text
    for file in message.attachments:
        of_file = {"name": file.name, "type": file.media_type, "path": file.path or ""}
        SubElement(element, "attachment", _filled(of_file) | {"size": str(file.size_bytes)})
    if len(element):
        element[-1].tail = message.text
    else:
        element.text = message.text
    return tostring(element, encoding="unicode")


def _attributes(message: Message) -> dict[str, str]:
    return {
        "id": message.message_id,
        "timestamp": message.timestamp,
        "sender": message.sender,
        "sender_id": message.sender_id,
        "sender_role": message.sender_role,
        "role": message.role,
    }


def _filled(attributes: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in attributes.items() if value}
