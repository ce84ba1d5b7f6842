"""Messages about money between people."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from orchestrator.channels.whatsapp.content_words import Content, bracketed, join_lines, joined, money
from orchestrator.channels.whatsapp.unwrapping import unwrap

_MOST_OFFSET: Final = 10**9


def _request(message: Any) -> Content:
    amount = money(message.amount1000, message.currencyCodeIso4217)
    return Content(text=join_lines(bracketed("Asks for a payment", amount), _note(message)))


def _payment(message: Any) -> Content:
    return Content(text=join_lines("[Payment]", _note(message)))


def _step(message: Any) -> Content:
    return Content(text="[Answer to a payment]", is_context_only=True)


def _reminder(message: Any) -> Content:
    facts = joined(message.description, _amount(message.amount))
    return Content(text=bracketed("Reminder of a payment", facts), is_context_only=True)


def _split(message: Any) -> Content:
    facts = joined(message.description, _amount(message.totalAmount))
    return Content(text=bracketed("Asks to share a payment", facts), context=message)


def _split_step(message: Any) -> Content:
    return Content(text="[Shared payment, changed]", is_context_only=True)


def _amount(given: Any) -> str:
    """`value` counts in parts of which `offset` are one of the currency; without offset it says nothing."""
    if not 0 < given.offset <= _MOST_OFFSET:
        return ""
    return money(given.value * 1000 // given.offset, given.currencyCode)


def _note(message: Any) -> str:
    """Of a note only plain text counts: notes within notes could go on for ever."""
    if not message.HasField("noteMessage"):
        return ""
    note = unwrap(message.noteMessage)
    return str(note.conversation or note.extendedTextMessage.text)


PAYMENTS: Final[Mapping[str, Callable[[Any], Content | None]]] = MappingProxyType(
    {
        "requestPaymentMessage": _request,
        "sendPaymentMessage": _payment,
        "declinePaymentRequestMessage": _step,
        "cancelPaymentRequestMessage": _step,
        "paymentReminderMessage": _reminder,
        "splitPaymentMessage": _split,
        "splitPaymentUpdateMessage": _split_step,
    }
)
"""Readers by the field of the message."""
