"""`dovecote agent list|tree|show|logs|stop`, and what `top` draws: agents that live, and those that did."""

import asyncio
import contextlib
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from orchestrator.cli.client import ApiClient, not_running
from orchestrator.cli.event_lines import event_line
from orchestrator.cli.home import Home, open_home_to_ask
from orchestrator.cli.labels import labelled
from orchestrator.cli.output import put
from orchestrator.cli.place import ask_or_look, open_place
from orchestrator.cli.table import columns
from orchestrator.cli.tree_lines import duration, live_first, status_of, task_of, tree_lines
from orchestrator.commands.agents.agent_views import agent_views, as_metadata
from orchestrator.commands.agents.event_views import ALL_EVENTS, MAX_EVENTS, flat, wait_for_events
from orchestrator.commands.agents.overview import overview
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import ErrorCode, NotFound
from orchestrator.contracts.ids import TreeId
from orchestrator.contracts.wire.agent_words import queued_in_words, stand_of, stopped_in_words
from orchestrator.core.text_cleaning import clean_text

Plain = Mapping[str, Any]
DAY_S: Final = 86_400
_STOP_WITHIN_S: Final = 330.0
_WAIT_S: Final = 20.0
_ENDS: Final = ("agent.completed", "agent.failed", "agent.terminated")
_BEGINS: Final = ("spawn.nested", "agent.started")
PAST: Final = "No orchestrator runs here: these are the last known states. Start one: dovecote serve"


def list_agents(home_option: Path | None, *, ended: bool, as_json: bool) -> None:
    """One line an agent. ended: also those that ended within a day."""
    trees = asyncio.run(overview_at(open_home_to_ask(home_option), ended_within_s=DAY_S if ended else 0))
    trees = live_first(trees)
    agents = [agent for tree in trees for agent in tree["agents"] if ended or agent["activity"] != "none"]
    if as_json:
        print(json.dumps(agents, indent=2))
    elif not agents:
        print("No agents." if ended else "No agent is running. With ended ones: dovecote agent list --ended")
    else:
        _say_if_past(agents)
        heads = ("AGENT", "STATUS", "GROUP", "PROVIDER", "ELAPSED", "TREE", "TASK")
        for row in columns(heads, [_row(agent) for agent in agents]):
            print(row)


def show_trees(home_option: Path | None, tree_id: str | None, *, as_json: bool) -> None:
    """Each tree with its agents below each other; all of a day, or one. Raises NotFound."""
    trees = asyncio.run(overview_at(open_home_to_ask(home_option), ended_within_s=DAY_S))
    if tree_id is not None:
        trees = [tree for tree in trees if tree_id == tree["treeId"] or _holds(tree, tree_id)]
        if not trees:
            raise NotFound(
                f"There is no tree or agent {tree_id!r} of the last day.",
                suggestion="See which there are: dovecote agent tree",
            )
    if as_json:
        print(json.dumps(trees, indent=2))
    elif not trees:
        print("No trees.")
    else:
        _say_if_past(trees)
        print("\n".join(tree_lines(trees, width=shown_width())))


def show_agent(home_option: Path | None, agent_id: str, *, as_json: bool) -> None:
    """All that is known of one agent. Raises NotFound."""
    agent = asyncio.run(_agent(open_home_to_ask(home_option), agent_id))
    if as_json:
        print(json.dumps(agent, indent=2))
        return
    _say_if_past([agent])
    print("\n".join(labelled(_for_people(agent))))


def show_log(home_option: Path | None, agent_id: str, *, follow: bool, as_json: bool) -> None:
    """What an agent said and what happened to it, oldest first; with `follow` until it has ended.

    agent_id: or the id of a tree, for all of it.
    """
    with contextlib.suppress(KeyboardInterrupt):  # how a reader ends what he follows
        asyncio.run(_log(open_home_to_ask(home_option), agent_id, follow=follow, as_json=as_json))


def stop_agent(home_option: Path | None, agent_id: str) -> int:
    """Stop it and all below it, and say of each what came of it; 1 if one could not be stopped."""
    outcome = asyncio.run(_stop(open_home_to_ask(home_option), agent_id))
    errors = {failed["agentId"]: failed["error"] for failed in outcome["failed"]}
    for each in outcome["outcomes"]:
        print(f"{each['agentId']}  {_outcome_in_words(each, errors.get(each['agentId']))}")
    return 1 if outcome["failed"] else 0


def _outcome_in_words(each: Plain, error: object) -> str:
    match each["outcome"]:
        case "terminated":
            return "stopped" if each["wasStarted"] else "stopped before it was started"
        case "skipped":
            return f"had ended before: {stand_of(str(each['endedAs']))}"
        case _:
            return f"NOT STOPPED: {clean_text(str(error))}"


def _for_people(agent: Plain) -> Plain:
    """The fields of an agent with words in place of codes; what says the same twice is said once."""
    shown = {name: value for name, value in agent.items() if name not in ("lifecycle", "orchestratorRuns")}
    waits_for = len(agent["waitsFor"])
    shown["status"] = stand_of(agent["lifecycle"], waits_for=waits_for)
    reason, asker = shown.pop("stopReason"), shown.pop("stoppedBy")
    if reason is not None:
        shown["status"] += f": {stopped_in_words(reason, asker)}"
    if (queued_by := shown.pop("queuedBy")) is not None:
        shown["status"] += f": {queued_in_words(queued_by)}"
    if agent["lifecycle"] == "pending":
        shown = {"askedForAt" if name == "startedAt" else name: value for name, value in shown.items()}
    if "durationMs" in shown:
        shown["duration"] = duration(shown.pop("durationMs"))
    return shown


def _say_if_past(shown: Sequence[Plain]) -> None:
    """Nobody minds what the store says of agents while no orchestrator runs."""
    if not all(each["orchestratorRuns"] for each in shown):
        print(PAST)


def shown_width() -> int | None:
    """Of the terminal, or what COLUMNS says; None where there is neither."""
    is_bounded = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size().columns if is_bounded else None


def _row(agent: Plain) -> tuple[str, ...]:
    elapsed = duration(agent["elapsedMs"])
    return (
        agent["id"],
        status_of(agent),
        agent["group"],
        agent["provider"],
        elapsed,
        agent["treeId"],
        task_of(agent),
    )


def _holds(tree: Plain, agent_id: str) -> bool:
    return any(agent["id"] == agent_id for agent in tree["agents"])


async def overview_at(home: Home, *, ended_within_s: float) -> Sequence[Plain]:
    """The trees, each and each agent with `orchestratorRuns`: whether what is said of them is so now."""

    async def ask(client: ApiClient) -> Sequence[Plain]:
        found = await fetch_overview(client, ended_within_s=ended_within_s)
        return [_tree_as_of(tree, runs=True) for tree in found]

    async def look(services: Services) -> Sequence[Plain]:
        asks = OperatorCaller()
        found = await overview(services, asks, ended_within_s=ended_within_s, is_past=True)
        return [_tree_as_of(tree, runs=False) for tree in found]

    found: Sequence[Plain] = await ask_or_look(home, ask, look, ())
    return found


def _tree_as_of(tree: Plain, *, runs: bool) -> Plain:
    agents = [{**agent, "orchestratorRuns": runs} for agent in tree["agents"]]
    return {**tree, "agents": agents, "orchestratorRuns": runs}


async def fetch_overview(client: ApiClient, *, ended_within_s: float) -> Sequence[Plain]:
    """All trees at a glance, of the running orchestrator."""
    query = {"ended_within_s": f"{ended_within_s:g}"}
    found: Sequence[Plain] = await client.call("GET", "/api/v1/overview", query=query)
    return found


async def _agent(home: Home, agent_id: str) -> Plain:
    async def ask(client: ApiClient) -> Plain:
        path = f"/api/v1/agents/{quote(agent_id, safe='')}"
        return {**await client.call("GET", path), "orchestratorRuns": True}

    async def look(services: Services) -> Plain:
        (view,) = await agent_views(services, OperatorCaller(), agent_id)
        return {**as_metadata(view), "orchestratorRuns": False}

    found: Plain | None = await ask_or_look(home, ask, look, None)
    if found is None:
        raise NotFound(
            f"There is no agent or tree {agent_id!r} here.",
            code=ErrorCode.AGENT_NOT_FOUND,
            suggestion="Nothing has run here yet.",
        )
    return found


async def _log(home: Home, agent_id: str, *, follow: bool, as_json: bool) -> None:
    agent = await _agent(home, agent_id)
    is_of_tree = agent_id == agent["treeId"]
    since, live, is_over = 0, {agent["id"]}, False
    async with open_place(home) as place:
        if follow and not isinstance(place, ApiClient):
            raise not_running(home.paths)
        while True:
            page = await _page(place, agent["treeId"], since, wait_s=_WAIT_S if follow and since else 0)
            for event in page["events"]:
                if not is_of_tree and event.get("agentId") != agent["id"] and event["type"] != "gap":
                    continue
                put(json.dumps(event, ensure_ascii=False) if as_json else event_line(event))
                if event["type"] in _BEGINS:
                    live.add(event["agentId"])
                elif event["type"] in _ENDS:
                    live.discard(event["agentId"])
                is_over = not live
            since = page["since"]
            if not page["more"] and (is_over or not follow):
                return


async def _page(place: ApiClient | Services | None, tree_id: str, since: int, *, wait_s: float) -> Plain:
    match place:
        case ApiClient():
            query = {"tree": tree_id, "since": str(since), "wait_s": f"{wait_s:g}"}
            page: Plain = await place.call("GET", "/api/v1/events", query=query, timeout_s=wait_s + 30)
            return page
        case Services():
            found = await wait_for_events(
                place, TreeId(tree_id), ALL_EVENTS, since=since, count=MAX_EVENTS, wait_s=0
            )
            events = [flat(each) for each in found.events]
            return {"events": events, "since": found.cursor, "more": found.is_full}
        case None:
            return {"events": (), "since": since, "more": False}


async def _stop(home: Home, agent_id: str) -> Plain:
    async with open_place(home) as place:
        if not isinstance(place, ApiClient):
            raise not_running(home.paths)
        path = f"/api/v1/agents/{quote(agent_id, safe='')}/stop"
        outcome: Plain = await place.call("POST", path, timeout_s=_STOP_WITHIN_S)
        return outcome
