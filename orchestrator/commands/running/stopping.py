"""Stopping an agent with all that came of it, in two phases. Source: agents.md section 2.

First, in one transaction and from the top: all are `stopping`, their tokens are void, none of them can start
another. Then, from the bottom: each is taken down, and what is said of it is what was looked up.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from orchestrator.commands.agents.agent_sight import asker_of, own_agent
from orchestrator.commands.command import Command, Context
from orchestrator.commands.running.burial import bury
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.services import Services
from orchestrator.commands.spawning.spawn_ends import note_orphan
from orchestrator.contracts.callers import AgentCaller, AnyCaller
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import Agent, AgentStatus, DeathCause, EndReason
from orchestrator.contracts.records.spawns import CascadeOutcome, StopOutcome, StopReason, StopVerdict
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.agent_requests import TerminateAgent
from orchestrator.core.agents.lineage import stop_order
from orchestrator.core.authority import Target
from orchestrator.core.states.agent import AGENT, AgentEventKind
from orchestrator.store import agents, lineage, spawns, tokens, trees
from orchestrator.store.transaction import Transaction

_NOT_GONE: Final = "It was told to stop, and nobody saw it end."


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """The first phase of a stop. to_stop: what runs, the deepest first. ended: those of which nothing had
    been started, and which are over. skipped: those that had ended before, and how."""

    to_stop: tuple[AgentId, ...] = ()
    ended: tuple[AgentId, ...] = ()
    skipped: Mapping[AgentId, AgentStatus] = field(default_factory=dict)


async def stop_cascade(
    services: Services,
    caller: AnyCaller,
    agent_id: AgentId,
    reason: StopReason = StopReason.MANUAL,
) -> CascadeOutcome:
    """Stop an agent and all below it, and say of each what came of it. Raises NotFound, InvalidRequest.

    agent_id: or that of a tree, which stands for its root. An agent may stop what came of it, not itself.
    One that had ended before is skipped; stopping twice is no error.
    """
    at = services.clock.now()
    frozen = await services.db.run(lambda tx: _freeze_for(tx, services, caller, agent_id, reason, at=at))
    services.checkpoints.reached("stop.frozen")
    outcomes = await services.control.stop_agents(frozen.to_stop, reason) if frozen.to_stop else []
    verified = await services.db.run(lambda tx: _verified(tx, frozen.to_stop, outcomes))
    return CascadeOutcome(
        terminated=(*_ids_of(verified, StopVerdict.TERMINATED), *frozen.ended),
        failed=tuple(each for each in verified if each.verdict is StopVerdict.FAILED),
        skipped=tuple(frozen.skipped),
        unstarted=frozen.ended,
        ended_as=frozen.skipped,
    )


def terminate_agent(tx: Transaction, context: Context, request: TerminateAgent) -> Mapping[str, object]:
    """The first phase, for the agent of a box; the engine does the second, as with all that are stopping.

    The answer names what is being stopped; `get_agent_status` says what came of it. Raises NotFound,
    InvalidRequest.
    """
    agent_id, reason = AgentId(request.agent_id), StopReason.MANUAL
    frozen = _freeze_for(tx, context.services, context.caller, agent_id, reason, at=context.at)
    return {
        "agentId": request.agent_id,
        "stopping": list(frozen.to_stop),
        "terminated": list(frozen.ended),
        "skipped": list(frozen.skipped),
        "totalProcessed": len(frozen.to_stop) + len(frozen.ended) + len(frozen.skipped),
    }


async def stop_frozen(services: Services, result: Mapping[str, object]) -> None:
    """The second phase of `terminate_agent`, which its caller does not wait for."""
    stopping = result["stopping"]
    if isinstance(stopping, list) and stopping:
        services.control.begin_stop([AgentId(str(each)) for each in stopping], StopReason.MANUAL)


def note_request(tx: Transaction, agent_id: AgentId, reason: StopReason) -> None:
    """Note that an agent alone is asked to stop; what is below it goes by what was agreed for its end."""
    if mark_stopping(tx, agent_id):
        spawns.note_stop(tx, agent_id, reason, stopped_by=None)


def mark_stopping(tx: Transaction, agent_id: AgentId) -> bool:
    """Its record says from now on that it is to stop; False if it has not begun, is stopping or is over."""
    agent = agents.get(tx, agent_id)
    if agent is None or agent.status not in (AgentStatus.STARTING, AgentStatus.RUNNING):
        return False
    now = AGENT.after(agent.status, AgentEventKind.TOLD_TO_STOP)
    agents.move(tx, agent_id, was=agent.status, now=now)
    return True


def freeze(
    tx: Transaction,
    services: Services,
    agent_id: AgentId,
    reason: StopReason,
    *,
    at: datetime,
    stopped_by: str | None = None,
) -> Frozen:
    """From the top down: an agent and all below it are told to stop, hold no token, and start nobody.

    reason: of that agent; those below it go by cascade. stopped_by: who asked for it, as `asker_of` says it.
    """
    below = lineage.subtree(tx, agent_id)
    live = [agent for agent in below if agent.ended_at is None]
    tokens.revoke(tx, [agent.agent_id for agent in live], at=at)
    for agent in live:
        why = reason if agent.agent_id == agent_id else StopReason.CASCADE
        spawns.note_stop(tx, agent.agent_id, why, stopped_by=stopped_by)
        if agent.agent_id == agent_id and agent.parent_agent_id is None:
            trees.end(tx, agent.tree_id, at=at)
        mark_stopping(tx, agent.agent_id)
    # After all are frozen, and the deepest first, so that who goes last knows how many went.
    reserved = [agent for agent in reversed(live) if agent.status is AgentStatus.PENDING]
    for agent in reserved:
        ran_out = reason is StopReason.TIMEOUT and agent.agent_id == agent_id
        bury(tx, services, agent.agent_id, _nothing_of_it(ran_out=ran_out), at=at)
    tx.wake(Topic.AGENTS)
    ended = tuple(agent.agent_id for agent in reserved)
    return Frozen(
        to_stop=_deepest_first(below, agent_id, {agent.agent_id for agent in live} - set(ended)),
        ended=ended,
        skipped={agent.agent_id: agent.status for agent in below if agent.ended_at is not None},
    )


def _freeze_for(
    tx: Transaction,
    services: Services,
    caller: AnyCaller,
    agent_id: AgentId,
    reason: StopReason,
    *,
    at: datetime,
) -> Frozen:
    agent = own_agent(tx, caller, agent_id)
    if isinstance(caller, AgentCaller) and agent.agent_id == caller.agent_id:
        raise InvalidRequest(
            "An agent can't stop itself.", suggestion="End your turn; what you started is stopped with you."
        )
    if reason is StopReason.ORPHAN_CLEANUP and agent.ended_at is None:
        note_orphan(tx, agent, at=at)
    return freeze(tx, services, agent.agent_id, reason, at=at, stopped_by=asker_of(caller))


def _nothing_of_it(*, ran_out: bool) -> Remains:
    """What is left of an agent that was only reserved."""
    return Remains(
        cause=DeathCause.TIMED_OUT if ran_out else DeathCause.STOPPED,
        reason=EndReason.TIMED_OUT if ran_out else EndReason.STOPPED,
        event=AgentEventKind.RAN_OUT if ran_out else AgentEventKind.TOLD_TO_STOP,
        acks={},
        unread=(),
        exit=None,
    )


def _deepest_first(below: Sequence[Agent], top: AgentId, wanted: Collection[AgentId]) -> tuple[AgentId, ...]:
    order = stop_order({agent.agent_id: agent.parent_agent_id for agent in below}, top)
    return tuple(each for each in order if each in wanted)


def _verified(
    tx: Transaction, wanted: Sequence[AgentId], outcomes: Sequence[StopOutcome]
) -> list[StopOutcome]:
    """Of each an outcome that its record does not contradict."""
    said = {each.agent_id: each for each in outcomes}
    unsaid = StopVerdict.FAILED
    return [_as_stored(tx, said.get(each) or StopOutcome(agent_id=each, verdict=unsaid)) for each in wanted]


def _as_stored(tx: Transaction, outcome: StopOutcome) -> StopOutcome:
    agent = agents.get(tx, outcome.agent_id)
    if agent is None:
        return outcome
    if agent.ended_at is None or agent.status is AgentStatus.LOST:
        return replace(outcome, verdict=StopVerdict.FAILED, error=outcome.error or _NOT_GONE)
    # It lived when it was told to stop: gone is stopped, also if it went by itself while others were taken
    # down, or after the engine had given up on it.
    return replace(outcome, verdict=StopVerdict.TERMINATED, error=None)


def _ids_of(outcomes: Sequence[StopOutcome], verdict: StopVerdict) -> tuple[AgentId, ...]:
    return tuple(each.agent_id for each in outcomes if each.verdict is verdict)


def _target(tx: Transaction, request: TerminateAgent) -> Target:
    """What came of the caller, which the command itself looks up."""
    return Target(chat_jid=None, group=None, is_registered=True)


COMMANDS: Final = (
    Command(
        request=TerminateAgent,
        name="terminate_agent",
        target=_target,
        run=terminate_agent,
        finish=stop_frozen,
    ),
)
"""The requests of this area."""
