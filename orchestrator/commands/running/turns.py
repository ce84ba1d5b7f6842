"""The life of a turn: begun, its pairs taken, ended well or badly."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from orchestrator.commands.running.holds import (
    Incident,
    hold,
    incident_of,
    note_answered,
    note_progress,
)
from orchestrator.commands.running.task_runs import end_run_with_turn, note_output
from orchestrator.commands.saying.outgoing import OutgoingText, queue_notice, queue_text
from orchestrator.commands.saying.questions import withdraw_questions
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import MessageId, TurnId
from orchestrator.contracts.records.agents import Agent, DeathCause, Turn, TurnOutcome
from orchestrator.contracts.records.messages import MessageStatus, StoredMessage, TextSource
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.container_io import TurnEnded, TurnStarted, TurnStatus
from orchestrator.core.agents.unstartable import Need
from orchestrator.core.chat.death import after_death
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.message import MESSAGE, MessageEvent
from orchestrator.store import agents, messages, outbox
from orchestrator.store import waits as open_waits
from orchestrator.store.transaction import Transaction
from orchestrator.store.turn_overlaps import may_all_be_of_others


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
    if turn_id is not None and not _is_over(tx, agent, turn_id):
        messages.enter_turn(tx, agent.agent_id, turn_id, event.inputs)
    return turn_id


def _is_over(tx: Transaction, agent: Agent, turn_id: TurnId) -> bool:
    """Whether its end was settled: what it held then may be in a later turn by now, and stays there."""
    turn = agents.turn(tx, agent.agent_id, turn_id)
    return turn is not None and turn.ended_at is not None


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
    needed: Sequence[Need] = (),
) -> None:
    """Settle what the turn was given, by how it ended. Said twice it changes nothing.

    cancelled_by: on whose account the agent was told to stop, if it was. provider_failure: how its latest
    call to the provider failed, as the egress proxy saw it. needed: what it can't start without.
    """
    turn_id = _given_turn(tx, agent, event.turn_id, event.inputs)
    if turn_id is None or _is_over(tx, agent, turn_id):
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
    incident = _incident_in(tx, services, agent, event, turn, provider_failure, at=at, needed=needed)
    _settle(tx, services, agent, event, turn, incident, cancelled_by=cancelled_by, at=at)
    if agent.task_run_id is not None:
        waits = incident is not None and not turn.effects
        end_run_with_turn(tx, services, agent, event, waits=waits, at=at)
    agents.end_joined_turns(tx, agent.agent_id, at=at)
    if open_waits.end_of_waiter(tx, agent.agent_id):
        tx.wake(Topic.AGENTS)
    withdraw_questions(tx, services, agent.agent_id, at=at)
    note_progress(tx, agent.chat_jid)


def _incident_in(
    tx: Transaction,
    services: Services,
    agent: Agent,
    event: TurnEnded,
    turn: Turn,
    provider_failure: str | None,
    *,
    at: datetime,
    needed: Sequence[Need],
) -> Incident | None:
    """What the turn failed by that is not its own. Some programs end well, and in silence, where their
    provider let them down."""
    is_silent = event.status is TurnStatus.SUCCESS and not turn.effects and provider_failure is not None
    if event.status is not TurnStatus.ERROR and not is_silent:
        return None
    code = None if event.error is None else event.error.code
    said = None if event.error is None else event.error.message
    return incident_of(tx, services, agent, code, provider_failure, at=at, needed=needed, said=said)


def _settle(
    tx: Transaction,
    services: Services,
    agent: Agent,
    event: TurnEnded,
    turn: Turn,
    incident: Incident | None,
    *,
    cancelled_by: DeathCause,
    at: datetime,
) -> None:
    """Bring the messages of an ended turn to where its end leaves them."""
    given = [each for each in messages.of_agent(tx, agent.agent_id) if _is_in(each, turn.turn_id)]
    has_effects = turn.effects > 0
    if event.status is TurnStatus.SUCCESS and incident is None:
        _settle_well(tx, services, agent, turn, given, at=at)
    elif incident is not None and not has_effects:
        hold(tx, services, agent, given, incident=incident, at=at)
    else:
        cause = cancelled_by if event.status is TurnStatus.CANCELLED else DeathCause.AGENT
        break_off(tx, services, agent, given, has_effects=has_effects, cause=cause, at=at)


def _settle_well(
    tx: Transaction,
    services: Services,
    agent: Agent,
    turn: Turn,
    given: list[StoredMessage],
    *,
    at: datetime,
) -> None:
    """A success. Without text or effect its triggers get one prompt more, then a sentence."""
    triggers = [each for each in given if each.is_trigger]
    unanswered = [] if turn.effects else triggers
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
    incident = f"empty:{agent.agent_id}:{turn.turn_id}"
    if len(unanswered) > len(again):  # the others are given once more, and hear of it then
        queue_notice(tx, services, chat=agent.chat_jid, what=Say.EMPTY_ANSWER, incident=incident, at=at)
    elif turn.effects and triggers and may_all_be_of_others(tx, turn):
        # It may have done it all the same, so it must not run again; silent it must not be either.
        queue_notice(tx, services, chat=agent.chat_jid, what=Say.MAYBE_UNANSWERED, incident=incident, at=at)
    note_answered(tx, services, agent, turn.turn_id, at=at)


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


def _is_in(message: StoredMessage, turn_id: TurnId) -> bool:
    return message.is_in_turn and message.turn_id == turn_id


def _folded(text: str) -> str:
    return " ".join(text.split())
