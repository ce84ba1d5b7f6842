"""The fate of an outbound text: claimed, sent, held off, lost, given up. Source: contracts.md section 6."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from orchestrator.commands.contacts import people_called
from orchestrator.commands.saying.operator_alerts import tell_operators
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import Mention, OutboxItem, OutboxStatus, Receipt
from orchestrator.contracts.seams import Topic
from orchestrator.core.backoff import delay_s, is_due
from orchestrator.core.chat.attachments import MAX_CAPTION_CHARS
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.outbox import OUTBOX, OutboxEvent
from orchestrator.core.wording import say
from orchestrator.store import groups, messages, outbox
from orchestrator.store.transaction import Transaction

_HOLD_UNKNOWN_FOR: Final = timedelta(hours=1)
_CARRIES_TIME_AFTER: Final = timedelta(hours=6)
_QUOTED_CHARS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class NextText:
    """What a chat's sender does now: send `item`, or look again at `not_before` (None: nothing waits).

    reply_to_sender, reply_to_text: who wrote what it answers, and what. mentions: whom it calls.
    """

    item: OutboxItem | None = None
    reply_to_sender: Jid | None = None
    reply_to_text: str = ""
    mentions: tuple[Mention, ...] = ()
    not_before: datetime | None = None


def claim_next(tx: Transaction, services: Services, chat: Jid, *, at: datetime) -> NextText:
    """The text whose turn it is, now `sending`. What came to no end keeps its place in its chat."""
    while (oldest := outbox.oldest(tx, chat)) is not None:
        item, unknown_since, send_after = oldest
        if item.status is OutboxStatus.SENDING:
            return NextText()
        if item.status is OutboxStatus.UNKNOWN:
            if item.was_resent:
                _fail(tx, services, item, OutboxEvent.GAVE_UP, why="twice no answer", at=at)
                continue
            held_until = (unknown_since or at) + _HOLD_UNKNOWN_FOR
            is_held = services.settings.outbox.on_unknown_send == "hold"
            if is_held and not is_due(held_until, now=at, longest=_HOLD_UNKNOWN_FOR):
                return NextText(not_before=held_until)
            OUTBOX.check(item.status, OutboxEvent.RESENT)
            return _to_send(tx, outbox.claim(tx, item, is_resend=True))
        longest = timedelta(seconds=services.settings.outbox.backoff_most_s)
        if not is_due(send_after, now=at, longest=longest):
            return NextText(not_before=send_after)
        OUTBOX.check(item.status, OutboxEvent.CLAIMED)
        return _to_send(tx, outbox.claim(tx, item, is_resend=False))
    return NextText()


def _to_send(tx: Transaction, item: OutboxItem | None) -> NextText:
    if item is None:
        return NextText()
    mentions = people_called(tx, item.chat_jid, item.text)
    if item.reply_to is None:
        return NextText(item=item, mentions=mentions)
    return NextText(
        item=item,
        reply_to_sender=messages.sender_of(tx, item.chat_jid, item.reply_to),
        reply_to_text=messages.text_of(tx, item.chat_jid, item.reply_to)[:_QUOTED_CHARS],
        mentions=mentions,
    )


def note_sent(tx: Transaction, item: OutboxItem, receipt: Receipt, *, at: datetime) -> None:
    """The network took it."""
    now = OUTBOX.after(item.status, OutboxEvent.ACCEPTED)
    outbox.move(tx, item, now=now, at=at, channel_message_id=receipt.message_id)
    tx.wake(Topic.CHAT_VIEW)


def note_unavailable(
    tx: Transaction, services: Services, item: OutboxItem, *, why: str, at: datetime
) -> None:
    """It was certainly not taken: it is tried again in its place, for a day."""
    limits = services.settings.outbox
    if at - item.created_at > timedelta(seconds=limits.retry_for_s):
        _fail(tx, services, item, OutboxEvent.GAVE_UP, why=why, at=at)
        return
    wait_s = delay_s(item.attempts, first_s=limits.backoff_first_s, most_s=limits.backoff_most_s)
    now = OUTBOX.after(item.status, OutboxEvent.HELD_OFF)
    outbox.move(tx, item, now=now, at=at, send_after=at + timedelta(seconds=wait_s), error=why)


def note_unknown(tx: Transaction, item: OutboxItem, *, why: str, at: datetime) -> None:
    """It may or may not have been taken."""
    now = OUTBOX.after(item.status, OutboxEvent.ANSWER_LOST)
    outbox.move(tx, item, now=now, at=at, error=why)


def note_refused(tx: Transaction, services: Services, item: OutboxItem, *, why: str, at: datetime) -> None:
    """The network will never take it."""
    _fail(tx, services, item, OutboxEvent.REFUSED, why=why, at=at)


def _fail(
    tx: Transaction, services: Services, item: OutboxItem, event: OutboxEvent, *, why: str, at: datetime
) -> None:
    """It will not be sent; the operator is told now, the agent in its next turn."""
    outbox.move(tx, item, now=OUTBOX.after(item.status, event), at=at, error=why)
    tx.wake(Topic.CHAT_VIEW)
    group = groups.by_jid(tx, item.chat_jid)
    tell_operators(
        tx,
        services,
        what=Say.DELIVERY_FAILED,
        incident=f"undelivered:{item.id}",
        at=at,
        about=item.chat_jid,
        chat_name=group.name if group is not None else item.chat_jid,
    )


def mark_in_flight_unknown(tx: Transaction, *, at: datetime) -> list[OutboxItem]:
    """At a start: the fate of what an earlier process was sending is unknown now. Gives those texts."""
    items = outbox.in_flight(tx)
    for item in items:
        note_unknown(tx, item, why="the orchestrator was stopped while sending", at=at)
    return items


def text_to_send(services: Services, item: OutboxItem, *, locale: str, at: datetime) -> str:
    """The text as it goes out: one that waited for hours carries its time, one sent again says so."""
    text, limit = item.text, services.text_limit(item.chat_jid)
    if item.file is not None:
        limit = min(limit, MAX_CAPTION_CHARS)
    if item.part == 1 and at - item.created_at >= _CARRIES_TIME_AFTER:
        prefix = say(Say.DELAYED_PREFIX, locale, time=f"{item.created_at:%Y-%m-%d %H:%M} UTC")
        text = _if_it_fits(prefix + text, limit, otherwise=text)
    if item.was_resent:
        note = say(Say.RESENT_NOTE, locale)
        text = _if_it_fits(f"{text}\n\n{note}" if text else note, limit, otherwise=text)
    return text.strip() if item.file is not None else text


def _if_it_fits(noted: str, limit: int, *, otherwise: str) -> str:
    """A text that fills its message goes out bare: with a word more the network would refuse it."""
    return noted if len(noted) <= limit else otherwise
