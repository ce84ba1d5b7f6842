"""`dovecote events`: what happened to agents, and with `--follow` what happens."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from orchestrator.cli.client import ApiClient, not_running
from orchestrator.cli.event_lines import event_line
from orchestrator.cli.home import Home, open_home_to_ask
from orchestrator.cli.output import put
from orchestrator.cli.place import open_place
from orchestrator.commands.agents.event_views import (
    ALL_EVENTS,
    EventChoice,
    flat,
    newest_page,
    wait_for_events,
)
from orchestrator.commands.services import Services
from orchestrator.contracts.events import EventClass
from orchestrator.contracts.ids import TreeId

Plain = Mapping[str, Any]
_WAIT_S: Final = 20.0
_SELDOM_WANTED: Final = frozenset({"agent.progress", "token.generated"})
"""Of these there are many, and they say little: who wants them asks for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which events are wanted. since: None for the newest. all_types: also those of which there are many."""

    tree: str | None
    since: int | None
    count: int
    only_audit: bool
    all_types: bool = False

    @property
    def choice(self) -> EventChoice:
        """Of these types. For the audit all of them are."""
        return EventChoice(
            event_class=EventClass.AUDIT if self.only_audit else None,
            without=frozenset() if self.all_types or self.only_audit else _SELDOM_WANTED,
        )


def show_events(home_option: Path | None, wanted: Wanted, *, follow: bool, as_json: bool) -> None:
    """One line an event, the newest last; with `follow` until interrupted. Raises DovecoteError."""
    home = open_home_to_ask(home_option)
    pages = _follow(home, wanted) if follow else _once(home, wanted)
    with contextlib.suppress(KeyboardInterrupt):  # how a reader ends what he follows
        asyncio.run(_print(pages, as_json=as_json))


async def _print(pages: AsyncGenerator[Sequence[Plain]], *, as_json: bool) -> None:
    # Closed here when nobody reads any longer: it would be found half-way at the end of the loop.
    async with contextlib.aclosing(pages):
        async for page in pages:
            for event in page:
                put(json.dumps(event, ensure_ascii=False) if as_json else event_line(event))


async def _once(home: Home, wanted: Wanted) -> AsyncGenerator[Sequence[Plain]]:
    async with open_place(home) as place:
        match place:
            case ApiClient():
                yield (await _ask(place, wanted))["events"]
            case Services():
                yield await _look(place, wanted)
            case None:
                yield ()


async def _follow(home: Home, wanted: Wanted) -> AsyncGenerator[Sequence[Plain]]:
    async with open_place(home) as place:
        if not isinstance(place, ApiClient):
            raise not_running(home.paths)
        while True:
            page = await _ask(place, wanted, wait_s=0 if wanted.since is None else _WAIT_S)
            yield page["events"]
            wanted = replace(wanted, since=page["since"])


async def _ask(client: ApiClient, wanted: Wanted, *, wait_s: float = 0) -> Plain:
    query = {"count": str(wanted.count), "wait_s": f"{wait_s:g}"}
    if wanted.tree is not None:
        query["tree"] = wanted.tree
    if wanted.since is not None:
        query["since"] = str(wanted.since)
    choice = wanted.choice
    if choice.event_class is not None:
        query["class"] = choice.event_class.value
    if choice.without:
        query["without"] = ",".join(sorted(choice.without))
    page: Plain = await client.call("GET", "/api/v1/events", query=query, timeout_s=wait_s + 30)
    return page


async def _look(services: Services, wanted: Wanted) -> Sequence[Plain]:
    tree = None if wanted.tree is None else TreeId(wanted.tree)
    if wanted.since is None:
        page = await newest_page(services, tree, ALL_EVENTS, count=wanted.count, choice=wanted.choice)
    else:
        page = await wait_for_events(
            services, tree, ALL_EVENTS, since=wanted.since, count=wanted.count, wait_s=0, choice=wanted.choice
        )
    return [flat(each) for each in page.events]
