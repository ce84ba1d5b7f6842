"""What happens to an agent that is no more: its turns, its messages, its record."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from orchestrator.commands.agents.event_writing import note_ended
from orchestrator.commands.agents.tokens import revoke_tokens
from orchestrator.commands.running.holds import (
    NO_BUDGET,
    NO_START,
    NOT_SET_UP,
    Incident,
    hold,
    incident_of,
    note_progress,
    tell_not_set_up,
)
from orchestrator.commands.running.lost_helpers import tell_of_lost_helper, tell_of_lost_helpers
from orchestrator.commands.running.remains import Remains, exit_code_of
from orchestrator.commands.running.restarts import end_or_restart
from orchestrator.commands.running.spawned_burial import close_open_turn, settle_spawned
from orchestrator.commands.running.task_runs import end_run_badly, hold_run, settle_broken_run
from orchestrator.commands.running.turns import begin_turn, break_off, end_turn
from orchestrator.commands.saying.questions import withdraw_questions
from orchestrator.commands.services import Services
from orchestrator.commands.spawning.spawn_ends import note_agent_gone
from orchestrator.contracts.ids import AgentId, TurnId
from orchestrator.contracts.records.agents import Agent, AgentStatus, DeathCause, EndReason, TurnOutcome
from orchestrator.contracts.records.messages import StoredMessage
from orchestrator.contracts.records.spawns import SpawnRecord
from orchestrator.contracts.wire.codec import WireError, from_plain
from orchestrator.contracts.wire.container_io import TurnEnded, TurnStarted
from orchestrator.core.agents.endings import ended_in_words
from orchestrator.core.states.agent import AGENT, AgentEventKind
from orchestrator.core.states.task_run import RunEvent
from orchestrator.store import agents, messages, requests, spawns, waits
from orchestrator.store.transaction import Transaction

_ENDS_OF_STARTED: Final = frozenset(
    {AgentEventKind.ENDED_WELL, AgentEventKind.ENDED_BADLY, AgentEventKind.RAN_OUT}
)


def begin_acknowledged_turns(tx: Transaction, agent: Agent, acks: Mapping[TurnId, object]) -> TurnId | None:
    """Believe `acks/` that turns began whose events were not read; the one that still runs.

    Done before a dead agent's box is drained: what lies there counts for that turn, so that a
    message whose turn asked for something is never run again as if it had not.
    """
    open_turn: TurnId | None = None
    for turn_id, plain in acks.items():
        event = _turn_started(plain)
        if event is None or event.turn_id != turn_id:
            continue
        known = agents.turn(tx, agent.agent_id, turn_id)
        if known is None or known.ended_at is None:
            open_turn = begin_turn(tx, agent, event) or open_turn
    return open_turn


def _turn_started(plain: object) -> TurnStarted | None:
    try:
        return from_plain(TurnStarted, plain)
    except WireError:
        return None


def bury(tx: Transaction, services: Services, agent_id: AgentId, remains: Remains, *, at: datetime) -> None:
    """Settle all that the agent left, once; a second burial changes nothing."""
    agent = agents.get(tx, agent_id)
    if agent is None or agent.ended_at is not None:
        return
    if agent.is_legacy:
        _settle_legacy_inputs(tx, agent, remains, at=at)
    else:
        _end_acknowledged_turns(tx, services, agent, remains, at=at)
        _take_in_what_was_read(tx, agent, remains)
    spawn = spawns.get(tx, agent_id)
    if spawn is None:
        _settle_what_it_was_given(tx, services, agent, remains, at=at)
        _end_record(tx, agent, remains, remains.event, at=at)
    else:
        close_open_turn(tx, agent, at=at)
        end = end_or_restart(tx, services, agent, spawn, remains, at=at)
        if end is None:
            _close_behind(tx, services, agent, at=at)
            return
        ended_as = _end_record(tx, agent, remains, end.event, at=at)
        settle_spawned(tx, services, agent, spawn, remains, ended_as=ended_as, error=end.error, at=at)
    if remains.cause is DeathCause.ORCHESTRATOR:
        _tell_what_is_lost(tx, services, agent_id, spawn, at=at)
    note_ended(tx, agent_id, at=at, cause=remains.cause, why=remains.misconfigured)
    note_agent_gone(tx, agent_id, at=at, cause=remains.cause)
    revoke_tokens(tx, [agent_id], at=at)
    _close_behind(tx, services, agent, at=at)
    note_progress(tx, agent.chat_jid)


def _tell_what_is_lost(
    tx: Transaction, services: Services, agent_id: AgentId, spawn: SpawnRecord | None, *, at: datetime
) -> None:
    agent = agents.get(tx, agent_id)
    if agent is None:
        return
    if spawn is None:
        tell_of_lost_helpers(tx, services, agent, at=at)
    elif agent.status is not AgentStatus.COMPLETED:
        tell_of_lost_helper(tx, services, agent, spawn, at=at)


def _end_record(
    tx: Transaction, agent: Agent, remains: Remains, event: AgentEventKind, *, at: datetime
) -> AgentStatus:
    ended_as = AGENT.after(agent.status, _end_event(agent.status, event))
    agents.end(
        tx,
        agent.agent_id,
        was=agent.status,
        now=ended_as,
        at=at,
        exit_code=exit_code_of(remains, ended_as),
        reason=remains.reason,
    )
    return ended_as


def _close_behind(tx: Transaction, services: Services, agent: Agent, *, at: datetime) -> None:
    """What its process had open, whether or not it is started again."""
    waits.end_of_waiter(tx, agent.agent_id)
    withdraw_questions(tx, services, agent.agent_id, at=at)
    requests.close_box(tx, agent.box)


def _settle_what_it_was_given(
    tx: Transaction, services: Services, agent: Agent, remains: Remains, *, at: datetime
) -> None:
    """The messages and the task's run that it held."""
    if agent.task_run_id is not None:
        _settle_run(tx, services, agent, remains, at=at)
    left = messages.of_agent(tx, agent.agent_id)
    if remains.reason is EndReason.START_FAILED:
        _hold(tx, services, agent, left, remains, at=at)
    else:
        _break_off_by_turn(tx, services, agent, left, remains, at=at)


def _hold(
    tx: Transaction,
    services: Services,
    agent: Agent,
    left: list[StoredMessage],
    remains: Remains,
    *,
    at: datetime,
) -> None:
    """An agent that could not be started gives its messages back; what only operators can mend, they hear."""
    if remains.misconfigured is None:
        incident = NO_BUDGET if remains.is_budget_spent else NO_START
        hold(tx, services, agent, left, incident=incident, at=at)
        return
    tell_not_set_up(tx, services, agent, why=remains.misconfigured, at=at)
    hold(tx, services, agent, left, incident=NOT_SET_UP, at=at)


def _settle_run(tx: Transaction, services: Services, agent: Agent, remains: Remains, *, at: datetime) -> None:
    """The run of a task whose agent is no more, if its turn did not end before."""
    has_effects = agents.has_effects(tx, agent.agent_id)
    if remains.reason is EndReason.START_FAILED:
        hold_run(tx, agent, why="no agent could be started", at=at)
    elif remains.cause is DeathCause.STOPPED:
        why = "stopped by people"
        end_run_badly(tx, services, agent, event=RunEvent.STOPPED, why=why, failure=None, at=at)
    elif remains.cause in (DeathCause.TIMED_OUT, DeathCause.VIOLATED):
        event = RunEvent.RAN_OUT if remains.cause is DeathCause.TIMED_OUT else RunEvent.FAILED
        end_run_badly(tx, services, agent, event=event, why=ended_in_words(remains.reason), at=at)
    elif not has_effects and _incident(tx, services, agent, remains, at=at) is not None:
        hold_run(tx, agent, why=f"its provider failed: {remains.provider_failure}", at=at)
    else:
        settle_broken_run(
            tx,
            services,
            agent,
            has_effects=has_effects,
            is_host=remains.cause in (DeathCause.ORCHESTRATOR, DeathCause.HOST),
            why=ended_in_words(remains.reason),
            at=at,
        )


def _end_event(status: AgentStatus, event: AgentEventKind) -> AgentEventKind:
    """Its end in the words of its record: a run that was cut short may not know whether it took its input."""
    if status is AgentStatus.PENDING:
        return event
    has_started = status is not AgentStatus.STARTING
    if has_started and event is AgentEventKind.START_FAILED:
        return AgentEventKind.ENDED_BADLY
    if not has_started and event in _ENDS_OF_STARTED:
        return AgentEventKind.START_FAILED
    return event


def _end_acknowledged_turns(
    tx: Transaction, services: Services, agent: Agent, remains: Remains, *, at: datetime
) -> None:
    """A turn whose end lies in `acks/` ended, if every pair it printed is stored."""
    for turn_id, plain in remains.acks.items():
        event = _turn_ended(plain)
        if event is None or event.turn_id != turn_id:
            continue
        turn = agents.turn(tx, agent.agent_id, turn_id)
        stored = 0 if turn is None else turn.outputs
        if event.outputs <= stored:
            end_turn(
                tx,
                services,
                agent,
                event,
                cancelled_by=remains.cause,
                at=at,
                provider_failure=remains.provider_failure,
                needed=remains.needed,
            )


def _turn_ended(plain: object) -> TurnEnded | None:
    if not isinstance(plain, dict) or plain.get("status") == "started":
        return None
    try:
        return from_plain(TurnEnded, plain)
    except WireError:
        return None


def _take_in_what_was_read(tx: Transaction, agent: Agent, remains: Remains) -> None:
    """What the agent took but never named: its standard input, and follow-ups whose files are gone.

    It counts as in its turn, so that an agent that reads and ends in silence is not started for ever.
    """
    if agent.status is AgentStatus.STARTING:
        return
    files = messages.input_files(tx, agent.agent_id)
    for message in messages.of_agent(tx, agent.agent_id):
        stem = files[message.seq]
        was_read = stem is None or stem not in remains.unread
        if was_read and not message.is_in_turn and message.turn_id is not None:
            messages.enter_turn(tx, agent.agent_id, message.turn_id, [message.message_id])


def _settle_legacy_inputs(tx: Transaction, agent: Agent, remains: Remains, *, at: datetime) -> None:
    """An agent that knows no events took a follow-up when it removed its file."""
    files = messages.input_files(tx, agent.agent_id)
    for message in messages.of_agent(tx, agent.agent_id):
        stem = files[message.seq]
        if stem is not None and stem not in remains.unread and message.turn_id is not None:
            agents.start_turn(tx, agent.agent_id, message.turn_id, agent.chat_jid, at=at)
            messages.enter_turn(tx, agent.agent_id, message.turn_id, [message.message_id])


def _break_off_by_turn(
    tx: Transaction,
    services: Services,
    agent: Agent,
    left: list[StoredMessage],
    remains: Remains,
    *,
    at: datetime,
) -> None:
    incident = _incident(tx, services, agent, remains, at=at) if left else None
    by_turn: dict[tuple[TurnId | None, bool], list[StoredMessage]] = {}
    for message in left:
        by_turn.setdefault((message.turn_id, message.is_in_turn), []).append(message)
    for (turn_id, is_in_turn), given in by_turn.items():
        turn = None if turn_id is None or not is_in_turn else agents.turn(tx, agent.agent_id, turn_id)
        has_effects = turn is not None and turn.effects > 0
        if incident is not None and is_in_turn and not has_effects:
            hold(tx, services, agent, given, incident=incident, at=at)
        else:
            break_off(tx, services, agent, given, has_effects=has_effects, cause=remains.cause, at=at)
        if turn is not None and turn.ended_at is None:
            agents.end_turn(tx, agent.agent_id, turn.turn_id, outcome=TurnOutcome.DIED, at=at)


def _incident(
    tx: Transaction, services: Services, agent: Agent, remains: Remains, *, at: datetime
) -> Incident | None:
    """What its turn has to wait for, if it died because its provider failed it."""
    if remains.cause is not DeathCause.AGENT:
        return None
    return incident_of(tx, services, agent, None, remains.provider_failure, at=at)
