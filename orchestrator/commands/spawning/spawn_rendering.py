"""What came of a stop, for programs: who was stopped, who was not, who had ended before. Shape: seed 000."""

from collections.abc import Mapping

from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.spawns import CascadeOutcome, StopVerdict


def as_cascade(outcome: CascadeOutcome) -> Mapping[str, object]:
    """`TerminateAgentResponse`, and who had ended before. success: nobody was left alive.

    outcomes: the same of each agent, with whether it had been started and how it had ended before.
    """
    return {
        "success": not outcome.failed,
        "terminated": list(outcome.terminated),
        "failed": [{"agentId": each.agent_id, "error": each.error or ""} for each in outcome.failed],
        "skipped": list(outcome.skipped),
        "totalProcessed": outcome.total_processed,
        "outcomes": [
            *(_each(agent_id, StopVerdict.TERMINATED, outcome) for agent_id in outcome.terminated),
            *(_each(failed.agent_id, StopVerdict.FAILED, outcome) for failed in outcome.failed),
            *(_each(agent_id, StopVerdict.SKIPPED, outcome) for agent_id in outcome.skipped),
        ],
    }


def _each(agent_id: AgentId, verdict: StopVerdict, outcome: CascadeOutcome) -> Mapping[str, object]:
    ended_as = outcome.ended_as.get(agent_id)
    return {
        "agentId": agent_id,
        "outcome": verdict.value,
        "wasStarted": agent_id not in outcome.unstarted,
        "endedAs": None if ended_as is None else ended_as.value,
    }
