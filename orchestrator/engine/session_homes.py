"""Where an agent's session home lies, and its end: a group's stays, a single agent's goes with it.

Source: agents.md section 4.
"""

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import Final

import structlog

from orchestrator.contracts.ids import BoxName, GroupFolder, is_own_box
from orchestrator.contracts.records.providers import AuthMode, Provider
from orchestrator.paths import Paths
from orchestrator.store.own_homes import own_homes, remove_own_home

_log = structlog.get_logger(__name__)
_BY_HAND: Final = "Remove it by hand; it is not used any more."


def session_home(paths: Paths, group: GroupFolder, box: BoxName, provider: Provider) -> Path:
    """The home of the agent that has `box`: its group's, or one of its own if the box is.

    A program that logs in by itself finds its login in the group's home only, so it is given that.
    """
    if is_own_box(box) and provider.auth_mode is not AuthMode.NATIVE_CLI:
        return paths.sessions / box
    return paths.sessions / group / provider.name


async def end_session_home(paths: Paths, box: BoxName) -> None:
    """Remove the home of an agent that is dead, if it had one of its own."""
    try:
        await asyncio.to_thread(remove_own_home, paths.sessions, box)
    except OSError as error:
        path = str(paths.sessions / box)
        _log.error("home.not_removed", path=path, error=str(error), suggestion=_BY_HAND)


async def end_left_homes(paths: Paths, *, live: Collection[BoxName]) -> None:
    """Remove the homes that an earlier process left; those of the agents with these boxes stay."""
    try:
        left = await asyncio.to_thread(own_homes, paths.sessions)
    except OSError as error:  # what could not be looked at keeps nobody from the start
        _log.error("home.not_looked_at", path=str(paths.sessions), error=str(error))
        return
    for box in left:
        if box not in live:
            await end_session_home(paths, box)
