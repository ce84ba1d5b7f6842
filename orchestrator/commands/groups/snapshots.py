"""What an agent may know of tasks and groups without asking. Source: contracts.md section 4.

Bounded: an agent that wants more than a snapshot holds asks with `list_tasks`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.commands.services import Services
from orchestrator.commands.tasks.task_views import sees_all_groups, task_view
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.records.rights import Rights
from orchestrator.store import agents, chats, facts, tasks
from orchestrator.store.chats import KnownChat
from orchestrator.store.transaction import Transaction

MAX_SNAPSHOT_CHARS: Final = 256 * 1024
_MAX_ROWS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxSnapshots:
    """The texts of `current_tasks.json` and `available_groups.json` for one box."""

    tasks: str
    groups: str


async def box_snapshots(services: Services, caller: AgentCaller) -> BoxSnapshots:
    """What the agent of a box may see now: main all, while only operators spoke to it; others their own."""
    return await services.db.run(lambda tx: _snapshots(tx, caller))


def _snapshots(tx: Transaction, caller: AgentCaller) -> BoxSnapshots:
    agent = agents.get(tx, caller.agent_id)
    own_tasks = tasks.of_group(tx, caller.group)
    if sees_all_groups(caller, Rights.BOT if agent is None else agent.rights):
        others = [task for task in tasks.everywhere(tx, count=_MAX_ROWS) if task.group != caller.group]
        known = chats.known(tx, count=_MAX_ROWS)
    else:
        others, known = [], chats.known_of_group(tx, caller.group)
    shown = (task_view(task, reader=caller) for task in (*own_tasks, *others))
    return BoxSnapshots(
        tasks=json.dumps(_that_fit(shown), ensure_ascii=False),
        groups=json.dumps(
            {"groups": _that_fit(_group(chat) for chat in known), "lastSync": _iso(facts.last_sync(tx))},
            ensure_ascii=False,
        ),
    )


def _that_fit(objects: Iterable[Mapping[str, object]]) -> list[Mapping[str, object]]:
    kept: list[Mapping[str, object]] = []
    room = MAX_SNAPSHOT_CHARS
    for each in objects:
        room -= len(json.dumps(each, ensure_ascii=False))
        if room < 0:
            break
        kept.append(each)
    return kept


def _group(chat: KnownChat) -> Mapping[str, object]:
    return {
        "jid": chat.jid,
        "name": chat.name,
        "folder": chat.folder,
        "lastActivity": _iso(chat.last_activity_at),
        "isRegistered": chat.folder is not None,
    }


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
