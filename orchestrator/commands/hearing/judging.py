"""What a message counts as: whose it is, whether it may trigger, and whether that is too often."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from orchestrator.commands.contacts import in_known_chat
from orchestrator.commands.hearing.sender_rules import look_at_rules, note_look
from orchestrator.commands.hearing.words import WORDS_WITHOUT_BOUND
from orchestrator.commands.saying.outgoing import queue_notice
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.messages import InboundMessage, SenderRole
from orchestrator.contracts.records.senders import SenderLook
from orchestrator.core.chat.bounds import (
    WINDOW,
    Bound,
    BoundLimits,
    Tally,
    bound_incident,
    bound_met,
    is_silent,
)
from orchestrator.core.chat.identities import person_key
from orchestrator.core.chat.senders import Hearing, hearing_of, is_one_of
from orchestrator.core.chat.slash_words import SlashWord, slash_word
from orchestrator.core.chat.trigger import compile_trigger, wakes
from orchestrator.core.sentence_keys import Say
from orchestrator.core.tasks.schedule import zone_or_utc
from orchestrator.store import bounds, contacts, groups, messages, notices
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)

_SENTENCE: Final = {
    Bound.SENDER: Say.BOUND_SENDER,
    Bound.CHAT: Say.BOUND_CHAT,
    Bound.BOTS: Say.BOUND_BOTS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a message is to us. word: the word to us that it is and that its sender may say now.

    is_trigger: it counts as one of its sender's. is_word: it is a word to us, done or not, and no
    agent's to read.
    """

    role: SenderRole
    is_trigger: bool
    is_word: bool
    word: SlashWord | None


def hear(
    tx: Transaction, services: Services, group: Group, message: InboundMessage, look: SenderLook, at: datetime
) -> Heard | None:
    """Judge a message by the group's rules, then its trigger, then the bounds; None: it is dropped."""
    sender = contacts.ids_of(tx, message.sender_jid)
    role = role_in(services, group, message, sender)
    note_look(tx, services, group, look, at=at)
    hearing = hearing_of(look.rules, sender, role)
    if hearing is Hearing.NONE:
        _count_dropped(tx, group, at)
        return None
    if hearing is Hearing.CONTEXT_ONLY or message.is_context_only:
        return Heard(role=role, is_trigger=False, is_word=False, word=None)
    word = _word(group, message, role)
    if word is None and not wakes(group, message.text, quoted=message.quoted):
        return Heard(role=role, is_trigger=False, is_word=False, word=None)
    is_bounded = not group.is_main and (word is None or word.name not in WORDS_WITHOUT_BOUND)
    if is_bounded and (met := _bound(tx, services, group, sender, role, at)) is not None:
        _tell_of_bound(tx, services, group, message, person_key(sender), met, at)
        return Heard(role=role, is_trigger=False, is_word=word is not None, word=None)
    counts = word is None or role is not SenderRole.OPERATOR
    return Heard(role=role, is_trigger=counts, is_word=word is not None, word=word)


async def is_read(services: Services, inbound: InboundMessage) -> bool:
    """Whether a message is kept for anybody to read: its chat is registered, and its sender is not dropped.

    An edit of a message that is stored changes its words only, a repetition nothing. Raises Unavailable.
    """
    message = await in_known_chat(services, inbound)
    look = await look_at_rules(services, message.chat_jid)

    def body(tx: Transaction) -> bool:
        group = groups.by_jid(tx, message.chat_jid)
        if group is None:
            return False
        change = message.change
        if change is not None and messages.role_of(tx, message.chat_jid, change.message_id) is not None:
            return False
        sender = contacts.ids_of(tx, message.sender_jid)
        role = role_in(services, group, message, sender)
        return hearing_of(look.rules, sender, role) is not Hearing.NONE

    return await services.db.run(body)


async def may_set_off(services: Services, group: Group, sender: Jid) -> bool:
    """Whether a person may set the assistant off in a chat that is no group chat. Raises Unavailable."""
    look = await look_at_rules(services, group.jid)

    def body(tx: Transaction) -> bool:
        ids = contacts.ids_of(tx, sender)
        role = _role(services, group, ids, is_bot=False, is_group=False)
        return hearing_of(look.rules, ids, role) is Hearing.FULL

    return await services.db.run(body)


async def is_operator_in(services: Services, group: Group, sender: Jid) -> bool:
    """Whether a person is an operator in a chat that is no group chat. Raises Unavailable."""

    def body(tx: Transaction) -> bool:
        role = _role(services, group, contacts.ids_of(tx, sender), is_bot=False, is_group=False)
        return role is SenderRole.OPERATOR

    return await services.db.run(body)


def role_in(services: Services, group: Group, message: InboundMessage, sender: frozenset[Jid]) -> SenderRole:
    """What the sender is to us, by any of the person's ids.

    In a main chat that is no group chat everybody is the operator; in a main group chat only where the
    settings say so.
    """
    return _role(services, group, sender, is_bot=message.sender_is_bot, is_group=message.chat_is_group)


def _role(
    services: Services, group: Group, sender: frozenset[Jid], *, is_bot: bool, is_group: bool
) -> SenderRole:
    assistant = services.settings.assistant
    if is_bot or is_one_of(sender, assistant.bots):
        return SenderRole.BOT
    counts_all = not is_group or assistant.main_members == "everyone"
    if (group.is_main and counts_all) or is_one_of(sender, assistant.operators):
        return SenderRole.OPERATOR
    return SenderRole.MEMBER


def _word(group: Group, message: InboundMessage, role: SenderRole) -> SlashWord | None:
    """The word that runs here and now. Whoever may trigger may say it; a bot may not."""
    if role is SenderRole.BOT:
        return None
    trigger = compile_trigger(
        group.trigger, assistant_name=group.assistant_name, position=group.trigger_position
    )
    return slash_word(message.text, trigger)


def _count_dropped(tx: Transaction, group: Group, at: datetime) -> None:
    """Of what is dropped only the number stays, and one line in the log."""
    count, _ = notices.count_one(tx, f"dropped:{group.jid}", at=at)
    if count == 1:
        _log.info("message.dropped", chat=group.jid, group=group.folder, why="senders.toml")


def _bound(
    tx: Transaction, services: Services, group: Group, sender: frozenset[Jid], role: SenderRole, at: datetime
) -> Bound | None:
    if role is SenderRole.OPERATOR:
        return None
    given = services.settings.bounds
    limits = BoundLimits(
        triggers_of_sender=given.triggers_per_sender,
        turns_of_chat=given.turns_per_chat,
        bot_turns_in_a_row=given.bot_turns_in_a_row,
    )
    since = at - WINDOW
    tally = Tally(
        triggers_of_sender=bounds.triggers_of_sender(
            tx, sender, since=since, now=at, count=limits.triggers_of_sender
        ),
        turns_of_chat=bounds.turns_of_chat(tx, group.jid, since=since, now=at, count=limits.turns_of_chat),
        bot_turns_in_a_row=bounds.bot_turns_in_a_row(
            tx, group.jid, since=since, now=at, count=limits.bot_turns_in_a_row
        ),
        met=[
            bound
            for bound in Bound
            if _is_silent(tx, bound_incident(bound, group.jid, person_key(sender)), at)
        ],
    )
    return bound_met(role, tally, limits)


def _is_silent(tx: Transaction, incident: str, at: datetime) -> bool:
    met_at = notices.opened_at(tx, incident)
    return met_at is not None and is_silent(met_at, at)


def _tell_of_bound(
    tx: Transaction,
    services: Services,
    group: Group,
    message: InboundMessage,
    sender: Jid,
    met: Bound,
    at: datetime,
) -> None:
    """One sentence when it is met; from then on silence until its hour is over."""
    incident = bound_incident(met, group.jid, sender)
    met_at = notices.opened_at(tx, incident)
    if met_at is not None and is_silent(met_at, at):
        notices.count_one(tx, incident, at=at)
        return
    notices.close(tx, incident)
    notices.count_one(tx, incident, at=at)
    zone = zone_or_utc(group.timezone or services.settings.assistant.timezone)
    # Whose clock it is goes without saying only where it is the assistant's.
    is_other = zone != zone_or_utc(services.settings.assistant.timezone)
    facts = {"time": f"{(at + WINDOW).astimezone(zone):%H:%M}{f' ({zone})' if is_other else ''}"}
    if met is Bound.SENDER:
        facts["name"] = message.sender_name or message.sender_jid
    key = f"{incident}:{at.timestamp():.0f}"
    queue_notice(
        tx, services, chat=group.jid, what=_SENTENCE[met], incident=key, at=at, words_of=None, **facts
    )
    _log.warning("bound.met", chat=group.jid, group=group.folder, bound=met.value)
