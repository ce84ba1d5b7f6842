"""How much was heard of what an agent prints beside its answers."""

from typing import Final

from orchestrator.contracts.ids import AgentId
from orchestrator.store.transaction import Transaction

COUNT: Final = """
UPDATE agents SET lines = max(lines, :lines), error_lines = max(error_lines, :error_lines)
 WHERE agent_id = :agent_id
"""


def count_lines(tx: Transaction, agent_id: AgentId, *, lines: int = 0, error_lines: int = 0) -> None:
    """So many lines of its standard output, or of its standard error, were heard; no count ever falls."""
    tx.execute(COUNT, {"agent_id": agent_id, "lines": lines, "error_lines": error_lines})
