"""What spawned agents leave on the disk, and how long: scratch a day, a workspace and a log as its record."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import structlog

from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, BoxName, is_own_box
from orchestrator.contracts.records.agents import Agent
from orchestrator.store import agents
from orchestrator.store.own_homes import remove_place
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)
SCRATCH_FOR: Final = timedelta(days=1)
_AGENT: Final = "agent-"


async def remove_old_workspaces(services: Services) -> None:
    """Remove the scratch of agents that ended a day ago, and all that nobody has a record of any more."""
    paths, now = services.paths, services.clock.now()
    logs = paths.logs / "agents"
    left = await asyncio.to_thread(lambda: {paths.workspaces: _names(paths.workspaces), logs: _names(logs)})
    named = {_agent_of(name) for names in left.values() for name in names}

    def body(tx: Transaction) -> dict[str, Agent | None]:
        return {agent_id: agents.get(tx, AgentId(agent_id)) for agent_id in named}

    records = await services.db.run(body)
    for directory, names in left.items():
        for name in names:
            if _is_over(name, records, now=now):
                await _remove(directory, name)


def _is_over(name: str, records: Mapping[str, Agent | None], *, now: datetime) -> bool:
    agent = records[_agent_of(name)]
    if agent is None:
        return True
    is_scratch = is_own_box(BoxName(name))
    return is_scratch and agent.ended_at is not None and now - agent.ended_at > SCRATCH_FOR


def _names(directory: Path) -> list[str]:
    """What belongs to single agents there; nothing where there is no such directory yet."""
    if not directory.is_dir():
        return []
    return [each.name for each in directory.iterdir() if _agent_of(each.name).startswith(_AGENT)]


def _agent_of(name: str) -> str:
    """The agent that a scratch `@ID`, a workspace `ID` or a log `ID.log…` belongs to."""
    return name.removeprefix("@").partition(".")[0]


async def _remove(directory: Path, name: str) -> None:
    try:
        await asyncio.to_thread(remove_place, directory, name)
    except OSError as error:
        path = str(directory / name)
        _log.error("workspace.not_removed", path=path, error=str(error), suggestion="Remove it by hand.")
