"""Agents of a home on disk that start agents: how they ask for it, and what is then in the store."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk

MINUTE_MS = 60_000


def spawn(task: str, **fields: object) -> dict[str, object]:
    """A step of a scenario: ask, by the box, for an agent that does this task."""
    body = {"type": "spawn_agent", "requestId": f"r-{abs(hash(task))}", "task": task, "timeoutMs": MINUTE_MS}
    return {"request": {"directory": "agents", "body": body | fields}}


def rule(match: str, *steps: object) -> dict[str, object]:
    """What agents do that are given such a text; children see the scenario of their parent's workspace."""
    return {"match": match, "steps": list(steps)}


def scenario(*rules: Mapping[str, object]) -> dict[str, object]:
    """A scenario of rules."""
    return {"rules": list(rules), "default": [{"say": "re: {texts}"}]}


def agents_of(home: HomeOnDisk, *, task: str | None = None) -> list[dict[str, Any]]:
    """The spawned agents, oldest first, with what they were spawned with and what came of it."""
    found = home.rows(
        "SELECT a.status, a.parent_agent_id, a.depth, a.box, a.end_reason, a.started_ms, a.ended_ms, s.*"
        "  FROM spawns AS s JOIN agents AS a ON a.agent_id = s.agent_id ORDER BY s.created_ms, s.rowid"
    )
    for row in found:
        del row["reply_state"]  # the host's own note, which changes behind whoever looks
    return [row for row in found if task is None or row["task"] == task]


async def ended(home: HomeOnDisk, *tasks: str, within_s: float = 50.0) -> list[dict[str, Any]]:
    """Wait until the agents with these tasks have ended; what became of them, in that order."""

    def all_ended() -> bool:
        return all(
            (rows := agents_of(home, task=task)) and all(row["ended_ms"] is not None for row in rows)
            for task in tasks
        )

    await eventually(all_ended, within_s=within_s, what=lambda: (agents_of(home), home.story()))
    return [agents_of(home, task=task)[0] for task in tasks]


async def running(home: HomeOnDisk, *tasks: str) -> Sequence[str]:
    """Wait until the agents with these tasks have their input; their ids."""

    def all_run() -> bool:
        return all(
            (rows := agents_of(home, task=task)) and all(row["status"] == "running" for row in rows)
            for task in tasks
        )

    await eventually(all_run, what=lambda: (agents_of(home), home.story()))
    return [agents_of(home, task=task)[0]["agent_id"] for task in tasks]


def reply_of(home: HomeOnDisk, agent_id: str, box: str = "kitchen") -> Path:
    """Where the parent that has that box finds what came of its child."""
    return home.path / "data" / "ipc" / box / "replies" / f"{agent_id}.json"
