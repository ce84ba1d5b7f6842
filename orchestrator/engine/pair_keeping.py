"""Where the pairs of an agent go: into the outbox, or those of a spawned agent into its result."""

from collections.abc import Awaitable, Callable

from orchestrator.commands.agents.event_writing import note_said
from orchestrator.commands.running.quoting import quoted_by_pair
from orchestrator.commands.running.results import take_result_text
from orchestrator.commands.running.turns import PairKey, take_pair
from orchestrator.commands.saying.outgoing import prepare_text
from orchestrator.commands.services import Services
from orchestrator.engine.persistence import persist
from orchestrator.store.transaction import Transaction

KeepPair = Callable[[Services, PairKey, str], Awaitable[None]]
"""Stores one pair; it is durable when this returns. Done again for the same key it changes nothing."""


async def keep_for_chat(services: Services, key: PairKey, text: str) -> None:
    """It is a message of the agent's chat."""
    shown, at = await prepare_text(services, key.agent.chat_jid, text), services.clock.now()

    def body(tx: Transaction) -> None:
        if take_pair(tx, key, shown, at=at, reply_to=quoted_by_pair(tx, services, key)):
            note_said(tx, key.agent, text, at=at)

    await persist(services, body)


async def keep_for_result(services: Services, key: PairKey, text: str) -> None:
    """It is part of what the agent was spawned for."""
    at = services.clock.now()
    await persist(services, lambda tx: take_result_text(tx, key, text, at=at))
