"""Which message an answer quotes, and what is told of it to the network."""

from orchestrator.commands.running.turns import PairKey
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import MessageId
from orchestrator.store import agents, messages
from orchestrator.store.transaction import Transaction


def quoted_by_pair(tx: Transaction, services: Services, key: PairKey) -> MessageId | None:
    """The message that set the turn off, for its first pair, where the settings want it quoted."""
    if not services.settings.outbox.quote_trigger or key.turn_id is None:
        return None
    turn = agents.turn(tx, key.agent.agent_id, key.turn_id)
    if turn is None or turn.outputs:
        return None
    held = messages.of_agent(tx, key.agent.agent_id)
    triggers = [each.message_id for each in held if each.turn_id == key.turn_id and each.is_trigger]
    return triggers[-1] if triggers else None
