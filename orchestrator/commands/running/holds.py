"""Failures that are nobody's message's own: who waits for their end, and who is told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from orchestrator.commands.saying.operator_alerts import tell_operators
from orchestrator.commands.saying.outgoing import queue_notice
from orchestrator.commands.services import Services
from orchestrator.commands.usage.spending_notes import SPENT as BUDGET_INCIDENT
from orchestrator.contracts.ids import AgentId, Jid, TurnId
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.messages import StoredMessage
from orchestrator.contracts.seams import Topic
from orchestrator.core.agents.provider_trouble import ProviderTrouble, trouble_of
from orchestrator.core.agents.unstartable import NEVER_BEGUN, PROGRAM_ENDED, Need, why_unstartable
from orchestrator.core.backoff import delay_s
from orchestrator.core.chat.death import FIRST_WAIT_S
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.message import MESSAGE, MessageEvent
from orchestrator.store import groups, message_views, messages, notices, outbox, sessions
from orchestrator.store.times import to_ms
from orchestrator.store.transaction import Transaction

MOST_HOLD_S: Final = 300.0
LONGEST_WAIT: Final = timedelta(seconds=MOST_HOLD_S)
"""Nothing makes a message wait longer than a hold does at a time."""
_LEAST_PAUSE: Final = timedelta(seconds=10)
"""Who writes twice in a breath is told once."""
_SHARE_OF_AGE: Final = 0.25
"""The longer it lasts, the more rarely it is told again."""
HOLD_FOR: Final = timedelta(hours=24)
HOLD_FOR_A_BUDGET: Final = timedelta(days=32)
"""A budget may be one of a month."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A failure that is not a message's own. told_from: at which occurrence in a row the chat is told.

    sentence: None where whoever notices it tells of it. hold_for: how long messages wait for its end.
    gives_back: an agent was started for messages that wait for it; else none is even tried.
    """

    name: str
    sentence: Say | None
    told_from: int
    hold_for: timedelta = HOLD_FOR
    gives_back: bool = True


NO_START: Final = Incident(name="start", sentence=Say.CANNOT_START, told_from=3)
"""A start may fail once or twice by chance."""
NOT_SET_UP: Final = Incident(name="setup", sentence=Say.NOT_SET_UP, told_from=1)
NO_ROOM: Final = Incident(name="disk", sentence=Say.NO_ROOM, told_from=1, gives_back=False)
NO_PROVIDER: Final = Incident(name="provider", sentence=Say.PROVIDER_TROUBLE, told_from=1)
REFUSED: Final = Incident(name="refused", sentence=Say.PROVIDER_REFUSES, told_from=1)
NO_PROGRAM: Final = Incident(name="program", sentence=Say.NOT_SET_UP, told_from=1)
"""Its container starts; what it is to run there does not."""
NO_BUDGET: Final = Incident(name=BUDGET_INCIDENT, sentence=None, told_from=1, hold_for=HOLD_FOR_A_BUDGET)
"""The meter tells of it."""


_NO_AGENT: Final = (NO_START, NOT_SET_UP, NO_PROGRAM)
"""What kept an agent from its work before it had begun."""
_TROUBLES: Final[Mapping[ProviderTrouble, Incident]] = {
    ProviderTrouble.BUSY: NO_PROVIDER,
    ProviderTrouble.REFUSES: REFUSED,
    ProviderTrouble.SPENT: NO_BUDGET,
}
_SETUP_DETAILS: Final = "setup-details"
_PROGRAM_DETAILS: Final = "program-details"
_REFUSED_DETAILS: Final = "refused-details"
HOLDING: Final = (NO_START, NOT_SET_UP, NO_ROOM, NO_PROVIDER, REFUSED, NO_PROGRAM, NO_BUDGET)
"""What messages of a chat may wait for."""
_DETAILS: Final = {NOT_SET_UP: _SETUP_DETAILS, REFUSED: _REFUSED_DETAILS, NO_PROGRAM: _PROGRAM_DETAILS}
"""What is wrong with a definition, with what operators hear of it: only the newest is of it as it is now."""


def incident_of(
    tx: Transaction,
    services: Services,
    agent: Agent,
    code: str | None,
    failure: str | None,
    *,
    at: datetime,
    needed: Sequence[Need] = (),
    said: str | None = None,
) -> Incident | None:
    """What a turn that failed has to wait for; None if the failure is its own.

    code, failure: as of `trouble_of`, or code is one of an agent that can't be started inside.
    needed: what it can't start without. said: its own words for the failure. A conversation that is too long
    is given up: the next run begins a new one.
    """
    if code in NEVER_BEGUN:
        why = why_unstartable(code, needed, said=said, group=agent.group)
        words_of = agent.agent_id if code == PROGRAM_ENDED else None
        _tell_why(tx, services, agent, _PROGRAM_DETAILS, why=why, at=at, words_of=words_of)
        return NO_PROGRAM
    is_spent = notices.is_told(tx, f"{NO_BUDGET.name}:{agent.chat_jid}")
    trouble = trouble_of(code, failure, is_budget_spent=is_spent)
    if trouble is ProviderTrouble.TOO_LONG and sessions.drop_of(tx, agent, at=at):
        key, what = f"too-long:{agent.agent_id}:{at.timestamp():.3f}", Say.CONVERSATION_TOO_LONG
        queue_notice(tx, services, chat=agent.chat_jid, what=what, incident=key, at=at)
    if trouble is ProviderTrouble.REFUSES:
        _tell_refused(tx, services, agent, at=at)
    return None if trouble is None else _TROUBLES.get(trouble)


def _tell_refused(tx: Transaction, services: Services, agent: Agent, *, at: datetime) -> None:
    name = f"{_REFUSED_DETAILS}:{agent.group}"
    _, is_told = notices.count_one(tx, name, at=at)
    if is_told:
        return
    notices.mark_told(tx, name, at=at)
    key, what = f"{name}:{agent.agent_id}", Say.OPERATOR_PROVIDER_REFUSES
    tell_operators(tx, services, what=what, incident=key, at=at, group=agent.group, provider=agent.provider)


def note_answered(
    tx: Transaction, services: Services, agent: Agent, turn_id: TurnId, *, at: datetime
) -> None:
    """A turn ended well: if people were told of what kept it from that, they are told that it is over."""
    notices.close(tx, f"{_REFUSED_DETAILS}:{agent.group}")
    notices.close(tx, f"{_PROGRAM_DETAILS}:{agent.group}")
    if any([notices.close(tx, f"{each.name}:{agent.chat_jid}") for each in _NO_AGENT]):
        incident = f"program-back:{agent.agent_id}:{turn_id}"
        queue_notice(tx, services, chat=agent.chat_jid, what=Say.WORKING_AGAIN, incident=incident, at=at)
    if any([notices.close(tx, f"{each.name}:{agent.chat_jid}") for each in (NO_PROVIDER, REFUSED)]):
        incident = f"provider-back:{agent.agent_id}:{turn_id}"
        queue_notice(tx, services, chat=agent.chat_jid, what=Say.PROVIDER_BACK, incident=incident, at=at)


def hold(
    tx: Transaction,
    services: Services,
    agent: Agent,
    given: list[StoredMessage],
    *,
    incident: Incident,
    at: datetime,
) -> None:
    """Give messages back for a failure that is not theirs: they wait, up to 5 min apart, for a day.

    The chat is told of the incident once, and once more when it is over.
    """
    name = f"{incident.name}:{agent.chat_jid}"
    if incident in _DETAILS or incident is NO_PROVIDER:  # which only an agent that was started meets
        _forget_earlier_faults(tx, agent, but=incident)
    count, is_told = notices.count_one(tx, name, at=at)
    for message in given:
        since = messages.held_since(tx, message.seq)
        if since is not None and at - since > incident.hold_for:
            _give_up_holding(tx, services, message, at=at)
        else:
            _keep_for_later(tx, message, held_since=since)
    wait_s = delay_s(count, first_s=FIRST_WAIT_S, most_s=MOST_HOLD_S)
    messages.hold_chat(tx, agent.chat_jid, until=at + timedelta(seconds=wait_s), now=at)
    if incident.sentence is not None and not is_told and count >= incident.told_from:
        key = f"{name}:{agent.agent_id}"
        if not _is_told_as_operator(tx, agent, incident, at=at):
            queue_notice(tx, services, chat=agent.chat_jid, what=incident.sentence, incident=key, at=at)
        notices.mark_told(tx, name, at=at)
    note_progress(tx, agent.chat_jid)


def _is_told_as_operator(tx: Transaction, agent: Agent, incident: Incident, *, at: datetime) -> bool:
    """Whether its chat is the operators' own, and hears the reason in this very moment."""
    main, details = groups.main(tx), _DETAILS.get(incident)
    told = None if details is None else notices.last_told(tx, f"{details}:{agent.group}")
    is_main = main is not None and main.jid == agent.chat_jid
    return is_main and told is not None and to_ms(told[0]) == to_ms(at)


def tell_again(tx: Transaction, services: Services, chat: Jid, *, at: datetime) -> None:
    """A message came that will wait as others do: its chat hears so again, ever more rarely."""
    is_held = message_views.holds_any_now(tx, chat)
    for incident in HOLDING:
        if incident.gives_back and not is_held:
            continue
        name = f"{incident.name}:{chat}"
        told = None if incident.sentence is None else notices.last_told(tx, name)
        if incident.sentence is None or told is None:
            continue
        told_at, opened_at = told
        pause = min(max((at - opened_at) * _SHARE_OF_AGE, _LEAST_PAUSE), LONGEST_WAIT)
        if abs(at - told_at) >= pause:
            key = f"{name}:{at.timestamp():.3f}"
            queue_notice(tx, services, chat=chat, what=incident.sentence, incident=key, at=at)
            notices.mark_told(tx, name, at=at)
        return


def _forget_earlier_faults(tx: Transaction, agent: Agent, *, but: Incident) -> None:
    """What was wrong with the definition before is so no more, or is told again when it is met again."""
    for each, details in _DETAILS.items():
        if each is not but:
            notices.close(tx, f"{each.name}:{agent.chat_jid}")
            notices.close(tx, f"{details}:{agent.group}")


def _give_up_holding(tx: Transaction, services: Services, message: StoredMessage, *, at: datetime) -> None:
    now = MESSAGE.after(message.status, MessageEvent.GAVE_UP)
    messages.move(tx, [message.seq], was=message.status, now=now)
    key = f"held-too-long:{message.chat_jid}:{message.seq}"
    queue_notice(tx, services, chat=message.chat_jid, what=Say.HELD_TOO_LONG, incident=key, at=at)


def _keep_for_later(tx: Transaction, message: StoredMessage, *, held_since: datetime | None) -> None:
    MESSAGE.check(message.status, MessageEvent.GIVEN_BACK)
    messages.give_back(
        tx,
        message,
        tries=message.tries,
        deaths=message.deaths,
        held_since=held_since,
        is_nudged=message.is_nudged,
    )
    outbox.mark_untold(tx, message.chat_jid, with_seq=message.seq)


def note_no_room(tx: Transaction, services: Services, chat: Jid, *, at: datetime) -> None:
    """The disk is too full to start an agent for this chat: it is told once."""
    name = f"{NO_ROOM.name}:{chat}"
    count, is_told = notices.count_one(tx, name, at=at)
    if not is_told and count >= NO_ROOM.told_from:
        key = f"{name}:{at.timestamp():.0f}"
        queue_notice(tx, services, chat=chat, what=Say.NO_ROOM, incident=key, at=at)
        notices.mark_told(tx, name, at=at)


def tell_not_set_up(tx: Transaction, services: Services, agent: Agent, *, why: str, at: datetime) -> None:
    """Operators hear once an incident why an agent of this group can't be started, and what mends it."""
    _tell_why(tx, services, agent, _SETUP_DETAILS, why=why, at=at)


def _tell_why(
    tx: Transaction,
    services: Services,
    agent: Agent,
    details: str,
    *,
    why: str,
    at: datetime,
    words_of: AgentId | None = None,
) -> None:
    """details: the kind of the incident in which operators hear it once. words_of: as of `tell_operators`."""
    name = f"{details}:{agent.group}"
    _, is_told = notices.count_one(tx, name, at=at)
    if not is_told:
        key, what = f"{name}:{agent.agent_id}", Say.OPERATOR_NOT_SET_UP
        tell_operators(
            tx, services, what=what, incident=key, at=at, words_of=words_of, group=agent.group, why=why
        )
        notices.mark_told(tx, name, at=at)


def note_good_start(tx: Transaction, services: Services, agent: Agent, *, at: datetime) -> None:
    """An agent of this chat runs: there is room again, and people who were told otherwise are told so.

    Whether it works, the end of its turn tells: what is mended in one place may be broken in the next.
    """
    notices.close(tx, f"{_SETUP_DETAILS}:{agent.group}")
    if notices.close(tx, f"{NO_ROOM.name}:{agent.chat_jid}"):
        incident = f"start-again:{agent.agent_id}"
        queue_notice(tx, services, chat=agent.chat_jid, what=Say.WORKING_AGAIN, incident=incident, at=at)


def note_progress(tx: Transaction, chat: Jid) -> None:
    """Something of the chat is settled or waits again: the cursor follows, and who listens looks."""
    messages.move_cursor(tx, chat)
    tx.wake(Topic.WORK)
    tx.wake(Topic.CHAT_VIEW)
