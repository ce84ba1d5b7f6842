"""All trees at a glance: who is at work, on what, since when, and what it has cost."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from orchestrator.commands.agents.agent_views import agent_views, as_metadata, tree_list, with_agents
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import BearerCaller
from orchestrator.contracts.events import LoggedEvent
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.spawns import AgentView, Tree
from orchestrator.core.agents.activity import activity_of
from orchestrator.store import agent_activity, event_log

Object = Mapping[str, Any]
MAX_TREES: Final = 200
_MAX_OUTPUT_CHARS: Final = 2_000


async def overview(
    services: Services, caller: BearerCaller, *, ended_within_s: float, is_past: bool = False
) -> list[Object]:
    """The live trees, and those that ended within that time, the newest first; each with its agents.

    An agent sees its own tree, from itself down.

    Each tree and agent as `dovecote agent show` has it, and besides: `activity`, `lastLine`, `progress`,
    `elapsedMs`, `tokens`, `costUsd`, which are null where nothing is known. is_past: nobody minds the agents,
    so nothing is known of them after the last that was noted.
    """
    now = services.clock.now()
    listed = await tree_list(services, count=MAX_TREES)
    since = now - timedelta(seconds=ended_within_s)
    shown = [tree for tree in listed if tree.ended_at is None or tree.ended_at >= since]
    by_tree: dict[TreeId, list[AgentView]] = {tree.tree_id: [] for tree in shown}
    for view in await agent_views(services, caller):
        if view.tree_id in by_tree:
            by_tree[view.tree_id].append(view)
    views = [view for views in by_tree.values() for view in views]
    until = await _last_known(services, views) if is_past else {}
    doing = await _doing(services, views, until, now=now)
    return [_plain_tree(tree, by_tree[tree.tree_id], doing) for tree in shown if by_tree[tree.tree_id]]


def _plain_tree(tree: Tree, views: Sequence[AgentView], doing: Mapping[AgentId, dict[str, Any]]) -> Object:
    in_order = sorted(views, key=lambda view: (view.depth, view.started_at, view.agent_id))
    shown = [_without_long_output(as_metadata(view)) | doing[view.agent_id] for view in in_order]
    return with_agents(tree, views, shown)


def _without_long_output(plain: Object) -> dict[str, Any]:
    """An agent's record with no more than the beginning of its output."""
    short = dict(plain)
    if isinstance(short.get("output"), str):
        short["output"] = short["output"][:_MAX_OUTPUT_CHARS]
    return short


async def _last_known(services: Services, views: Sequence[AgentView]) -> dict[AgentId, datetime]:
    """When each was heard of last: nobody knows how it went on from there."""
    async with services.db.reader() as reader:
        heard = await event_log.last_at(reader, [view.agent_id for view in views])
    return {view.agent_id: heard.get(view.agent_id, view.started_at) for view in views}


async def _doing(
    services: Services, views: Sequence[AgentView], until: Mapping[AgentId, datetime], *, now: datetime
) -> dict[AgentId, dict[str, Any]]:
    """What each agent is at, beside its record."""
    ids = [view.agent_id for view in views]
    async with services.db.reader() as reader:
        busy = await agent_activity.in_a_turn(reader, ids)
        asking = await agent_activity.asking(reader, ids)
        used = await agent_activity.used(reader, ids)
        lines = await event_log.last_of_agents(reader, ids, "agent.log")
        progress = await event_log.last_of_agents(reader, ids, "agent.progress")
    found: dict[AgentId, dict[str, Any]] = {}
    for view in views:
        spent = used.get(view.agent_id, agent_activity.Used())
        found[view.agent_id] = {
            "activity": activity_of(
                view.status,
                has_open_turn=view.agent_id in busy,
                asks_people=view.agent_id in asking,
                waits_for_agents=bool(view.waits_for),
            ).value,
            "lastLine": _field(lines.get(view.agent_id), "message"),
            "progress": _field(progress.get(view.agent_id), "progress"),
            "elapsedMs": _elapsed_ms(view, until.get(view.agent_id, now)),
            "tokens": spent.tokens,
            "costUsd": spent.cost_usd,
        }
    return found


def _elapsed_ms(view: AgentView, now: datetime) -> int:
    return max(round(((view.ended_at or now) - view.started_at).total_seconds() * 1000), 0)


def _field(event: LoggedEvent | None, name: str) -> object:
    return None if event is None else event.body.get(name)
