"""What runs and what waits just now; how the whole stands is `commands.standing`."""

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.commands.services import Services
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.groups import Group
from orchestrator.store import agents, groups, message_views, outbox


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningView:
    """What runs and what waits, at one moment.

    settled_up_to: by chat, the number of the last message before the first unsettled one. troubles:
    of each part that is being started again: why.
    """

    groups: tuple[Group, ...]
    settled_up_to: Mapping[Jid, int]
    troubles: Mapping[str, str]
    live_agents: tuple[Agent, ...]
    messages_waiting: int
    texts_waiting: int


async def running_view(services: Services) -> RunningView:
    """Groups, running agents and what waits."""
    async with services.db.reader() as reader:
        return RunningView(
            groups=tuple(await groups.list_all(reader)),
            settled_up_to=await message_views.cursors(reader),
            troubles=dict(services.troubles),
            live_agents=tuple(await agents.list_live(reader)),
            messages_waiting=await message_views.count_waiting(reader),
            texts_waiting=await outbox.count_all_waiting(reader),
        )
