"""Turns of agents that know only the seed document: each pair ends one. Source: contracts.md section 2."""

from collections.abc import Collection
from datetime import datetime

from orchestrator.commands.running.turns import end_turn
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.records.agents import Agent, DeathCause
from orchestrator.contracts.wire.container_io import TurnEnded, TurnError, TurnStatus
from orchestrator.store import agents, messages
from orchestrator.store.transaction import Transaction


def begin_legacy_turn(tx: Transaction, agent: Agent, turn_id: TurnId, *, at: datetime) -> None:
    """Standard input was written: whatever it held is in the turn from now on."""
    agents.start_turn(tx, agent.agent_id, turn_id, agent.chat_jid, at=at)
    files = messages.input_files(tx, agent.agent_id)
    ids = [each.message_id for each in messages.of_agent(tx, agent.agent_id) if files[each.seq] is None]
    messages.enter_turn(tx, agent.agent_id, turn_id, ids)


def end_legacy_turn(
    tx: Transaction,
    services: Services,
    agent: Agent,
    turn_id: TurnId,
    *,
    unread: Collection[str],
    error: TurnError | None,
    at: datetime,
) -> None:
    """A pair came, or a good exit: all that the agent took by then is answered.

    unread: stems of follow-ups that still lie in `input/`; their messages stay with the agent.
    """
    files = messages.input_files(tx, agent.agent_id)
    taken = [
        each.message_id
        for each in messages.of_agent(tx, agent.agent_id)
        if files[each.seq] is None or files[each.seq] not in unread
    ]
    if not taken:
        return
    event = TurnEnded(
        turn_id=turn_id,
        inputs=tuple(taken),
        status=TurnStatus.SUCCESS if error is None else TurnStatus.ERROR,
        error=error,
    )
    end_turn(tx, services, agent, event, cancelled_by=DeathCause.AGENT, at=at)
