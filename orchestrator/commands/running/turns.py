"""The life of a turn: begun, its pairs taken, ended well or badly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from orchestrator.commands.running.task_runs import end_run_with_turn, note_output
from orchestrator.commands.saying.operator_alerts import tell_operators
from orchestrator.commands.saying.outgoing import OutgoingText, queue_notice, queue_text
from orchestrator.commands.saying.questions import withdraw_questions
from orchestrator.commands.services import Services
from orchestrator.commands.usage.budget_notes import SPENT as BUDGET_INCIDENT
from orchestrator.contracts.ids import Jid, MessageId, TurnId
from orchestrator.contracts.records.agents import Agent, TurnOutcome
from orchestrator.contracts.records.messages import MessageStatus, StoredMessage, TextSource
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.container_io import TurnEnded, TurnStarted, TurnStatus
from orchestrator.core.agents.provider_trouble import ProviderTrouble, trouble_of
from orchestrator.core.backoff import delay_s
from orchestrator.core.chat.death import FIRST_WAIT_S, DeathCause, after_death
from orchestrator.core.states.message import MESSAGE, MessageEvent
from orchestrator.core.wording import Say
from orchestrator.store import agents, messages, notices, outbox, sessions
from orchestrator.store import waits as open_waits
from orchestrator.store.database import Transaction

MOST_HOLD_S: Final = 300.0
LONGEST_WAIT: Final = timedelta(seconds=MOST_HOLD_S)
"""Nothing makes a message wait longer than a hold does at a time."""
HOLD_FOR: Final = timedelta(hours=24)
HOLD_FOR_A_BUDGET: Final = timedelta(days=32)
"""A budget may be one of a month."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A failure that is not a message's own. told_from: at which occurrence in a row the chat is told.

    sentence: None where whoever notices it tells of it. hold_for: how long messages wait for its end.
    """

    name: str
    sentence: Say | None
    told_from: int
    hold_for: timedelta = HOLD_FOR


NO_START: Final = Incident(name="start", sentence=Say.CANNOT_START, told_from=3)
"""A start may fail once or twice by chance."""
NOT_SET_UP: Final = Incident(name="setup", sentence=Say.NOT_SET_UP, told_from=1)
NO_ROOM: Final = Incident(name="disk", sentence=Say.NO_ROOM, told_from=1)
NO_PROVIDER: Final = Incident(name="provider", sentence=Say.PROVIDER_TROUBLE, told_from=1)
REFUSED: Final = Incident(name="refused", sentence=Say.PROVIDER_REFUSES, told_from=1)
NO_BUDGET: Final = Incident(name=BUDGET_INCIDENT, sentence=None, told_from=1, hold_for=HOLD_FOR_A_BUDGET)
"""The meter tells of it."""


_TROUBLES: Final[Mapping[ProviderTrouble, Incident]] = {
    ProviderTrouble.BUSY: NO_PROVIDER,
    ProviderTrouble.REFUSES: REFUSED,
    ProviderTrouble.SPENT: NO_BUDGET,
}
_SETUP_DETAILS: Final = "setup-details"
_REFUSED_DETAILS: Final = "refused-details"
HOLDING: Final = (NO_START, NOT_SET_UP, NO_ROOM, NO_PROVIDER, REFUSED, NO_BUDGET)
"""What messages of a chat may wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairKey:
    """What tells one pair of an agent from every other: its place in the agent's output."""

    agent: Agent
    ordinal: int
    turn_id: TurnId | None


def begin_turn(tx: Transaction, agent: Agent, event: TurnStarted) -> TurnId | None:
    """The agent took these messages into a turn; the turn it is, None if it is none of this agent's.

    Ids it was never given are passed over. A turn id of its own invention stands for the turn of the
    first message it names: what it did before it said so counts for that one.
    """
    turn_id = _given_turn(tx, agent, event.turn_id, event.inputs)
    if turn_id is not None:
        messages.enter_turn(tx, agent.agent_id, turn_id, event.inputs)
    return turn_id


def _given_turn(tx: Transaction, agent: Agent, named: TurnId, inputs: Sequence[str]) -> TurnId | None:
    if agents.turn(tx, agent.agent_id, named) is not None:
        return named
    ids = frozenset(inputs)
    held = (each for each in messages.of_agent(tx, agent.agent_id) if each.message_id in ids)
    return next((each.turn_id for each in held), None)


def count_pair(tx: Transaction, key: PairKey) -> bool:
    """Count a pair for its turn; one of no turn is an effect of the agent's. False if it was counted before:
    its output is read again from the first byte."""
    agent_id = key.agent.agent_id
    if not agents.count_pair(tx, agent_id, key.ordinal):
        return False
    turn = None if key.turn_id is None else agents.turn(tx, agent_id, key.turn_id)
    if turn is None:
        agents.count_effect(tx, agent_id)
    else:
        agents.count_output(tx, agent_id, turn.turn_id)
    return True


def take_pair(
    tx: Transaction, key: PairKey, text: OutgoingText, *, at: datetime, reply_to: MessageId | None = None
) -> bool:
    """Take what the agent printed: count it, and put its text into the outbox. Whether the text is there now.

    False for one that repeats what a request of this turn sent, for one of a task that keeps what it says
    to itself, and for a pair that was taken before.
    reply_to: the message that it quotes.
    """
    if not count_pair(tx, key):
        return False
    agent_id = key.agent.agent_id
    is_silent = key.agent.task_run_id is not None and not note_output(tx, agent_id, text.text)
    turn = None if key.turn_id is None else agents.turn(tx, agent_id, key.turn_id)
    if turn is not None:
        said = outbox.requested_texts(tx, agent_id, since=turn.started_at)
        if _folded(text.text) in {_folded(each) for each in said}:
            return False
    if is_silent:
        return False
    return queue_text(
        tx,
        chat=key.agent.chat_jid,
        parts=text.parts,
        source=TextSource.PAIR,
        source_key=f"{agent_id}/{key.ordinal}",
        at=at,
        agent_id=agent_id,
        turn_id=key.turn_id,
        reply_to=reply_to,
    )


def end_turn(
    tx: Transaction,
    services: Services,
    agent: Agent,
    event: TurnEnded,
    *,
    cancelled_by: DeathCause,
    at: datetime,
    provider_failure: str | None = None,
) -> None:
    """Settle what the turn was given, by how it ended. Said twice it changes nothing.

    cancelled_by: on whose account the agent was told to stop, if it was. provider_failure: how its latest
    call to the provider failed, as the egress proxy saw it.
    """
    turn_id = _given_turn(tx, agent, event.turn_id, event.inputs)
    if turn_id is None:
        return
    messages.enter_turn(tx, agent.agent_id, turn_id, event.inputs)
    turn = agents.end_turn(
        tx,
        agent.agent_id,
        turn_id,
        outcome=TurnOutcome(event.status.value),
        at=at,
        error=event.error,
        usage=event.usage,
    )
    if turn is None:
        return
    given = [each for each in messages.of_agent(tx, agent.agent_id) if _is_in(each, turn_id)]
    has_effects = turn.effects > 0
    incident = None
    # Some programs end well, and in silence, where their provider let them down.
    is_silent = event.status is TurnStatus.SUCCESS and not has_effects and provider_failure is not None
    if event.status is TurnStatus.ERROR or is_silent:
        code = None if event.error is None else event.error.code
        incident = incident_of(tx, services, agent, code, provider_failure, at=at)
    if event.status is TurnStatus.SUCCESS and incident is None:
        _settle_well(tx, services, agent, turn_id, given, has_effects=has_effects, at=at)
    elif incident is not None and not has_effects:
        hold(tx, services, agent, given, incident=incident, at=at)
    else:
        cause = cancelled_by if event.status is TurnStatus.CANCELLED else DeathCause.AGENT
        break_off(tx, services, agent, given, has_effects=has_effects, cause=cause, at=at)
    if agent.task_run_id is not None:
        waits = incident is not None and not has_effects
        end_run_with_turn(tx, services, agent, event, waits=waits, at=at)
    agents.end_joined_turns(tx, agent.agent_id, at=at)
    if open_waits.end_of_waiter(tx, agent.agent_id):
        tx.wake(Topic.AGENTS)
    withdraw_questions(tx, services, agent.agent_id, at=at)
    note_progress(tx, agent.chat_jid)


def _settle_well(
    tx: Transaction,
    services: Services,
    agent: Agent,
    turn_id: TurnId,
    given: list[StoredMessage],
    *,
    has_effects: bool,
    at: datetime,
) -> None:
    """A success. Without text or effect its triggers get one prompt more, then a sentence."""
    unanswered = [] if has_effects else [each for each in given if each.is_trigger]
    again = [each for each in unanswered if not each.is_nudged]
    for message in again:
        MESSAGE.check(message.status, MessageEvent.GIVEN_BACK)
        messages.give_back(tx, message, tries=message.tries, deaths=message.deaths, is_nudged=True)
    done = [each.seq for each in given if each not in again]
    messages.move(
        tx,
        done,
        was=MessageStatus.DISPATCHED,
        now=MESSAGE.after(MessageStatus.DISPATCHED, MessageEvent.ANSWERED),
    )
    if len(unanswered) > len(again):  # the others are given once more, and hear of it then
        incident = f"empty:{agent.agent_id}:{turn_id}"
        queue_notice(tx, services, chat=agent.chat_jid, what=Say.EMPTY_ANSWER, incident=incident, at=at)
    notices.close(tx, f"{_REFUSED_DETAILS}:{agent.group}")
    if any([notices.close(tx, f"{each.name}:{agent.chat_jid}") for each in (NO_PROVIDER, REFUSED)]):
        incident = f"provider-back:{agent.agent_id}:{turn_id}"
        queue_notice(tx, services, chat=agent.chat_jid, what=Say.PROVIDER_BACK, incident=incident, at=at)


def incident_of(
    tx: Transaction, services: Services, agent: Agent, code: str | None, failure: str | None, *, at: datetime
) -> Incident | None:
    """What a turn that failed has to wait for; None if the failure is its own.

    code, failure: as of `trouble_of`. A conversation that is too long is given up: the next run begins a new
    one.
    """
    is_spent = notices.is_told(tx, f"{NO_BUDGET.name}:{agent.chat_jid}")
    trouble = trouble_of(code, failure, is_budget_spent=is_spent)
    if trouble is ProviderTrouble.TOO_LONG and sessions.drop_of(tx, agent, at=at):
        key, what = f"too-long:{agent.agent_id}:{at.timestamp():.3f}", Say.CONVERSATION_TOO_LONG
        queue_notice(tx, services, chat=agent.chat_jid, what=what, incident=key, at=at)
    if trouble is ProviderTrouble.REFUSES:
        name = f"{_REFUSED_DETAILS}:{agent.group}"
        _, is_told = notices.count_one(tx, name, at=at)
        if not is_told:
            notices.mark_told(tx, name, at=at)
            key, what = f"{name}:{agent.agent_id}", Say.OPERATOR_PROVIDER_REFUSES
            tell_operators(
                tx,
                services,
                what=what,
                incident=key,
                at=at,
                group=agent.group,
                provider=agent.provider,
            )
    return None if trouble is None else _TROUBLES.get(trouble)


def break_off(
    tx: Transaction,
    services: Services,
    agent: Agent,
    given: list[StoredMessage],
    *,
    has_effects: bool,
    cause: DeathCause,
    at: datetime,
) -> None:
    """The rule of death, for messages of one turn or of none. One sentence for all of them."""
    broken: set[MessageEvent] = set()
    for message in given:
        verdict = after_death(message, has_effects=has_effects, cause=cause)
        now = MESSAGE.after(message.status, verdict.event)
        if verdict.event is MessageEvent.GIVEN_BACK:
            due_at = at + timedelta(seconds=verdict.wait_s) if verdict.wait_s else None
            messages.give_back(
                tx,
                message,
                tries=verdict.tries,
                deaths=verdict.deaths,
                due_at=due_at,
                is_nudged=message.is_nudged,
            )
            outbox.mark_untold(tx, message.chat_jid, with_seq=message.seq)
        else:
            messages.move(tx, [message.seq], was=message.status, now=now)
            if message.is_trigger:
                broken.add(verdict.event)
    if not broken or cause in (DeathCause.STOPPED, DeathCause.VIOLATED):
        return
    what = Say.PARTIAL if MessageEvent.BROKEN_OFF in broken else Say.FAILED
    if cause is DeathCause.TIMED_OUT:
        what = Say.TIMED_OUT
    incident = f"broken:{agent.agent_id}:{given[0].turn_id}"
    queue_notice(tx, services, chat=agent.chat_jid, what=what, incident=incident, at=at)


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
        queue_notice(tx, services, chat=agent.chat_jid, what=incident.sentence, incident=key, at=at)
        notices.mark_told(tx, name, at=at)
    note_progress(tx, agent.chat_jid)


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
    name = f"{_SETUP_DETAILS}:{agent.group}"
    _, is_told = notices.count_one(tx, name, at=at)
    if not is_told:
        key, what = f"{name}:{agent.agent_id}", Say.OPERATOR_NOT_SET_UP
        tell_operators(tx, services, what=what, incident=key, at=at, group=agent.group, why=why)
        notices.mark_told(tx, name, at=at)


def note_good_start(tx: Transaction, services: Services, agent: Agent, *, at: datetime) -> None:
    """An agent of this chat runs: if people were told that none could, they are told that it is over."""
    over = [notices.close(tx, f"{each.name}:{agent.chat_jid}") for each in (NO_START, NOT_SET_UP, NO_ROOM)]
    notices.close(tx, f"{_SETUP_DETAILS}:{agent.group}")
    if any(over):
        incident = f"start-again:{agent.agent_id}"
        queue_notice(tx, services, chat=agent.chat_jid, what=Say.WORKING_AGAIN, incident=incident, at=at)


def note_progress(tx: Transaction, chat: Jid) -> None:
    """Something of the chat is settled or waits again: the cursor follows, and who listens looks."""
    messages.move_cursor(tx, chat)
    tx.wake(Topic.MESSAGES)
    tx.wake(Topic.CHAT_VIEW)


def _is_in(message: StoredMessage, turn_id: TurnId) -> bool:
    return message.is_in_turn and message.turn_id == turn_id


def _folded(text: str) -> str:
    return " ".join(text.split())
