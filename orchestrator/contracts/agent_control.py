"""What commands may ask of running agents."""

from collections.abc import Sequence
from typing import Protocol

from orchestrator.contracts.ids import AgentId, Jid
from orchestrator.contracts.records.agents import StopReach
from orchestrator.contracts.records.spawns import StopOutcome, StopReason


class AgentControl(Protocol):
    """The engine's hand on the agents that it runs."""

    async def close_chat(self, chat: Jid) -> None:
        """Let the agent that holds this chat finish its turn and exit, so that the next one starts afresh."""
        ...

    async def hand_over_answers(self, agent_id: AgentId) -> None:
        """Give a running agent the stored answers to its questions that it was not given before."""
        ...

    async def stop_chat(self, chat: Jid) -> StopReach:
        """Stop all agents at work in this chat, those of tasks too, and fail what they were given."""
        ...

    async def stop_answer(self, chat: Jid) -> StopReach:
        """Stop the agent that is about to answer this chat, and fail what it was given; tasks go on."""
        ...

    async def stop_agents(self, agents: Sequence[AgentId], reason: StopReason) -> list[StopOutcome]:
        """Stop these agents in this order, neighbours of one depth together; what came of each.

        Only what was looked up to be gone counts as terminated.
        """
        ...

    def begin_stop(self, agents: Sequence[AgentId], reason: StopReason) -> None:
        """As `stop_agents`, without waiting for it; their records say what came of it."""
        ...
