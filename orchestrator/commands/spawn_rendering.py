"""Stops and trees in the shapes of seed 000."""

from collections.abc import Mapping

from orchestrator.commands.event_views import utc_ms
from orchestrator.contracts.records.spawns import CascadeOutcome, Tree


def as_cascade(outcome: CascadeOutcome) -> Mapping[str, object]:
    """`TerminateAgentResponse`, and who had ended before. success: nobody was left alive."""
    return {
        "success": not outcome.failed,
        "terminated": list(outcome.terminated),
        "failed": [{"agentId": each.agent_id, "error": each.error or ""} for each in outcome.failed],
        "skipped": list(outcome.skipped),
        "totalProcessed": outcome.total_processed,
    }


def as_listed_tree(tree: Tree) -> Mapping[str, object]:
    """`SpawnTree` without its agents."""
    return {
        "treeId": tree.tree_id,
        "rootAgentId": tree.root_agent_id,
        "status": tree.status.value,
        "createdAt": utc_ms(tree.created_at),
        "endedAt": None if tree.ended_at is None else utc_ms(tree.ended_at),
        "totalAgents": tree.total_agents,
        "maxDepthReached": tree.max_depth_reached,
    }
