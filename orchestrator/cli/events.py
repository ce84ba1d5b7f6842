"""`dovecote events`: what happened to agents, and with `--follow` what happens."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator.cli.client import ApiClient, not_running
from orchestrator.cli.home import Home, open_home_to_ask
from orchestrator.cli.output import put
from orchestrator.cli.place import open_place
from orchestrator.commands.agents.event_views import ALL_EVENTS, flat, newest_page, wait_for_events
from orchestrator.commands.services import Services
from orchestrator.contracts.events import EventClass
from orchestrator.contracts.ids import TreeId
from orchestrator.core.text_cleaning import clean_name

Plain = Mapping[str, Any]
_BREAK: Final = " / "
"""Stands for the end of a line where all has to be one."""
_WAIT_S: Final = 20.0
_SAYING: Final = ("message", "description", "task", "error", "output", "reason", "parentStatus")
"""Of the fields of an event, those that say something to people; the first that it has is shown."""

_STOPPED_AS: Final[Mapping[str, str]] = {
    "cascade": "with what had started it, or with Dovecote",
    "manual": "somebody stopped it",
    "timeout": "its time was over",
    "orphan_cleanup": "what had started it was gone",
}
"""Why an agent was stopped, in words for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which events are wanted. since: None for the newest."""

    tree: str | None
    since: int | None
    count: int
    only_audit: bool


def show_events(home_option: Path | None, wanted: Wanted, *, follow: bool, as_json: bool) -> None:
    """One line an event, the newest last; with `follow` until interrupted. Raises DovecoteError."""
    home = open_home_to_ask(home_option)
    pages = _follow(home, wanted) if follow else _once(home, wanted)
    with contextlib.suppress(KeyboardInterrupt):  # how a reader ends what he follows
        asyncio.run(_print(pages, as_json=as_json))


def event_line(event: Plain) -> str:
    """An event as one line for people."""
    when = str(event.get("timestamp") or "")[:19].replace("T", " ")
    if event["type"] == "gap":
        span = f"{event['firstSeq']} to {event['lastSeq']} " if "firstSeq" in event else ""
        return f"{when:<19}  {event['treeId']}  events {span}are missing ({event['reason']})"
    who = event.get("agentId") or event.get("treeId") or ""
    return f"{when:<19}  {who:<22}  {event['type']:<18}  {_said(event)}".rstrip()


def _said(event: Plain) -> str:
    """What an event says beside who and what."""
    match event:
        case {"depth": depth, "maxDepth": most}:
            return f"depth {depth} of {most}"
        case {"totalAgents": total, "maxAgents": most}:
            return f"{total} of {most} agents"
        case {"totalAgents": total}:
            return f"{total} agents"
        case {"type": "spawn.parent_not_found", "parentAgentId": parent}:
            return f"there is no parent {clean_name(str(parent))}; who asked: dovecote errors"
        case {"parentAgentId": parent, "parentStatus": status}:
            return f"the parent {clean_name(str(parent))} is {status}; who asked: dovecote errors"
        case {"type": "agent.terminated", "reason": reason}:
            return _STOPPED_AS.get(str(reason), clean_name(str(reason)))
        case {"terminatedCount": count, "reason": reason}:
            return f"{reason}, {count} agents"
    words = [clean_name(_BREAK.join(str(event[name]).splitlines())) for name in _SAYING if event.get(name)]
    percent = [f"{event['progress']:g}%"] if "progress" in event else []
    return "  ".join([*percent, *words[:1]])


async def _print(pages: AsyncIterator[Sequence[Plain]], *, as_json: bool) -> None:
    async for page in pages:
        for event in page:
            put(json.dumps(event, ensure_ascii=False) if as_json else event_line(event))


async def _once(home: Home, wanted: Wanted) -> AsyncIterator[Sequence[Plain]]:
    async with open_place(home) as place:
        match place:
            case ApiClient():
                yield (await _ask(place, wanted))["events"]
            case Services():
                yield await _look(place, wanted)
            case None:
                yield ()


async def _follow(home: Home, wanted: Wanted) -> AsyncIterator[Sequence[Plain]]:
    async with open_place(home) as place:
        if not isinstance(place, ApiClient):
            raise not_running(home.paths)
        while True:
            page = await _ask(place, wanted, wait_s=0 if wanted.since is None else _WAIT_S)
            yield page["events"]
            wanted = Wanted(
                tree=wanted.tree,
                since=page["since"],
                count=wanted.count,
                only_audit=wanted.only_audit,
            )


async def _ask(client: ApiClient, wanted: Wanted, *, wait_s: float = 0) -> Plain:
    query = {"count": str(wanted.count), "wait_s": f"{wait_s:g}"}
    if wanted.tree is not None:
        query["tree"] = wanted.tree
    if wanted.since is not None:
        query["since"] = str(wanted.since)
    if wanted.only_audit:
        query["class"] = EventClass.AUDIT.value
    page: Plain = await client.call("GET", "/api/v1/events", query=query, timeout_s=wait_s + 30)
    return page


async def _look(services: Services, wanted: Wanted) -> Sequence[Plain]:
    tree = None if wanted.tree is None else TreeId(wanted.tree)
    kind = EventClass.AUDIT if wanted.only_audit else None
    if wanted.since is None:
        page = await newest_page(services, tree, ALL_EVENTS, count=wanted.count, event_class=kind)
    else:
        page = await wait_for_events(
            services, tree, ALL_EVENTS, since=wanted.since, count=wanted.count, wait_s=0, event_class=kind
        )
    return [flat(each) for each in page.events]
