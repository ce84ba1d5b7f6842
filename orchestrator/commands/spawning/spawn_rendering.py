"""Stops in the shapes of seed 000."""

from collections.abc import Mapping

from orchestrator.contracts.records.spawns import CascadeOutcome


def as_cascade(outcome: CascadeOutcome) -> Mapping[str, object]:
    """`TerminateAgentResponse`, and who had ended before. success: nobody was left alive."""
    return {
        "success": not outcome.failed,
        "terminated": list(outcome.terminated),
        "failed": [{"agentId": each.agent_id, "error": each.error or ""} for each in outcome.failed],
        "skipped": list(outcome.skipped),
        "totalProcessed": outcome.total_processed,
    }
