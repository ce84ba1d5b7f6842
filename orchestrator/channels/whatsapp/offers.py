"""Messages of businesses, and answers to them: buttons, lists, templates, products, orders."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from orchestrator.channels.whatsapp.content_words import (
    ON_PHONE_ONLY,
    Content,
    bracketed,
    counted,
    join_lines,
    joined,
    listed,
    money,
)
from orchestrator.channels.whatsapp.media import MessageFile, document_file, picture_file, video_file

_HEADERS: Final[Mapping[str, Callable[[Any], MessageFile]]] = MappingProxyType(
    {"imageMessage": picture_file, "videoMessage": video_file, "documentMessage": document_file}
)
_MOST_PARAMETER_CHARS: Final = 10_000


def _said(text: str, message: Any, file: MessageFile | None = None) -> Content | None:
    return Content(text=text, context=message, file=file) if text.strip() or file is not None else None


def _buttons(message: Any) -> Content | None:
    buttons = [f"- {button.buttonText.displayText}" for button in message.buttons]
    text = join_lines(message.text, message.contentText, message.footerText, *buttons)
    return _said(text, message, _header_file(message))


def _buttons_answer(message: Any) -> Content | None:
    return _said(message.selectedDisplayText or message.selectedButtonID, message)


def _list(message: Any) -> Content | None:
    rows = [joined(row.title, row.description) for section in message.sections for row in section.rows]
    text = join_lines(message.title, message.description, listed("List", message.buttonText, rows))
    return _said(join_lines(text, message.footerText), message)


def _list_answer(message: Any) -> Content | None:
    chosen = joined(message.title, message.description)
    return _said(chosen or message.singleSelectReply.selectedRowID, message)


def _template(message: Any) -> Content | None:
    if message.HasField("interactiveMessageTemplate"):
        return _interactive(message.interactiveMessageTemplate)
    has_older = message.HasField("hydratedFourRowTemplate")
    filled = message.hydratedFourRowTemplate if has_older else message.hydratedTemplate
    buttons = [f"- {text}" for button in filled.hydratedButtons if (text := _button_text(button))]
    text = join_lines(
        filled.hydratedTitleText, filled.hydratedContentText, filled.hydratedFooterText, *buttons
    )
    said = _said(text, message, _header_file(filled))
    if said is None and filled.maskLinkedDevices:
        return Content(text=ON_PHONE_ONLY, context=message, is_context_only=True)
    return said


def _button_text(button: Any) -> str:
    for _, value in button.ListFields():
        if hasattr(value, "displayText"):
            return str(value.displayText)
    return ""


def _template_answer(message: Any) -> Content | None:
    return _said(message.selectedDisplayText or message.selectedID, message)


def _interactive(message: Any) -> Content | None:
    header, flow = message.header, message.nativeFlowMessage
    cards = [join_lines(card.header.title, card.body.text) for card in message.carouselMessage.cards]
    buttons = [f"- {text}" for button in flow.buttons if (text := _flow_text(button))]
    text = join_lines(header.title, header.subtitle, message.body.text, message.footer.text, *cards, *buttons)
    said = _said(text, message, _header_file(header))
    if said is None:
        steps = joined(*[button.name for button in flow.buttons])
        return Content(text=bracketed("Form of a business", steps), context=message, is_context_only=True)
    return said


def _flow_text(button: Any) -> str:
    """What is written on a button, as its JSON says."""
    if len(button.buttonParamsJSON) > _MOST_PARAMETER_CHARS:
        return ""
    try:
        found = json.loads(button.buttonParamsJSON)
    except (ValueError, RecursionError):
        return ""
    text = found.get("display_text") if isinstance(found, dict) else None
    # JSON can escape halves of characters, which no line can carry.
    return text.strip().encode("utf-8", "replace").decode() if isinstance(text, str) else ""


def _interactive_answer(message: Any) -> Content | None:
    return _said(message.body.text or message.nativeFlowResponseMessage.name, message)


def _highly_structured(message: Any) -> Content | None:
    if message.HasField("hydratedHsm"):
        return _template(message.hydratedHsm)
    return _said(join_lines(message.elementName, *message.params), None)


def _product(message: Any) -> Content | None:
    product = message.product
    price = money(product.priceAmount1000, product.currencyCode)
    facts = joined(product.title or message.catalog.title, price, product.URL)
    text = join_lines(bracketed("Product", facts), product.description, message.body, message.footer)
    file = picture_file(product.productImage) if product.HasField("productImage") else None
    return _said(text, message, file)


def _order(message: Any) -> Content | None:
    count = counted(message.itemCount, "item")
    facts = joined(message.orderTitle, count, money(message.totalAmount1000, message.totalCurrencyCode))
    return _said(join_lines(bracketed("Order", facts), message.message), message)


def _invoice(message: Any) -> Content | None:
    return _said(bracketed("Invoice", message.note), None)


def _payment_invite(message: Any) -> Content | None:
    return _said("[Invitation to payments]", None)


def _header_file(holder: Any) -> MessageFile | None:
    """The picture, film or document over the text."""
    for name, file_of in _HEADERS.items():
        if holder.HasField(name):
            return file_of(getattr(holder, name))
    return None


OFFERS: Final[Mapping[str, Callable[[Any], Content | None]]] = MappingProxyType(
    {
        "buttonsMessage": _buttons,
        "buttonsResponseMessage": _buttons_answer,
        "listMessage": _list,
        "listResponseMessage": _list_answer,
        "templateMessage": _template,
        "templateButtonReplyMessage": _template_answer,
        "interactiveMessage": _interactive,
        "interactiveResponseMessage": _interactive_answer,
        "highlyStructuredMessage": _highly_structured,
        "productMessage": _product,
        "orderMessage": _order,
        "invoiceMessage": _invoice,
        "paymentInviteMessage": _payment_invite,
    }
)
"""Readers by the field of the message."""
