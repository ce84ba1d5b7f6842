"""Trees of agents as lines of text: who came of whom, who does what, since when, for how much."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from orchestrator.core.text_cleaning import clean_name

Plain = Mapping[str, Any]
_HEADS: Final = ("AGENT", "STATUS", "ELAPSED", "TOKENS", "USD", "TASK · LAST LINE")
_MAX_TEXT: Final = 70


def tree_rows(trees: Sequence[Plain]) -> list[tuple[str, ...]]:
    """The cells of a table, its heads first: a row a tree, and below it one an agent, by its place."""
    rows: list[tuple[str, ...]] = [_HEADS]
    for tree in trees:
        rows.append(_head_of(tree))
        rows += [_row(prefix, agent) for prefix, agent in _walk(tree["agents"])]
    return rows


def tree_lines(trees: Sequence[Plain]) -> list[str]:
    """As `tree_rows`, one line a row."""
    rows = tree_rows(trees)
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def duration(ms: int | None) -> str:
    """A time as people say it: `4 s`, `3:05`, `2:03:05`."""
    if ms is None:
        return ""
    seconds = ms // 1000
    if seconds < 60:
        return f"{seconds} s"
    minutes, hours = seconds // 60, seconds // 3600
    return f"{hours}:{minutes % 60:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def status_of(agent: Plain) -> str:
    """How it stands: what it does while it lives, how it ended after that."""
    if agent["activity"] == "none":
        return str(agent["lifecycle"])
    percent = "" if agent["progress"] is None else f" {agent['progress']:g}%"
    return f"{_doing(agent)}{percent}"


def _doing(agent: Plain) -> str:
    match agent["activity"]:
        case "waiting_agent":
            count = len(agent["waitsFor"])
            return f"waits for {count} agent" + ("s" if count > 1 else "")
        case "waiting_input":
            return "waits for an answer"
        case activity:
            return str(activity)


def _head_of(tree: Plain) -> tuple[str, ...]:
    agents = tree["agents"]
    counts = f"{tree['liveAgents']} live of {tree['totalAgents']}"
    return (tree["treeId"], tree["status"], "", _sum(agents, "tokens"), _cost(agents), counts)


def _row(prefix: str, agent: Plain) -> tuple[str, ...]:
    name = f"{prefix}{agent['id']}" + (f" ({clean_name(agent['name'])})" if agent["name"] else "")
    return (
        name,
        status_of(agent),
        duration(agent["elapsedMs"]),
        _sum([agent], "tokens"),
        _cost([agent]),
        _text(agent),
    )


def _text(agent: Plain) -> str:
    """What it is for, and the last that was heard of it."""
    said = agent["error"] if agent.get("error") else agent["lastLine"]
    words = [clean_name(str(each)) for each in (agent["task"], said) if each]
    return " · ".join(_cut(each) for each in words)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"


def _walk(agents: Sequence[Plain]) -> Iterator[tuple[str, Plain]]:
    """Parents before their children, each with the lines that lead to it.

    One whose parent is not among them stands at the top.
    """
    known = {agent["id"] for agent in agents}
    below: dict[str | None, list[Plain]] = {}
    for agent in agents:
        parent = agent["parentAgentId"] if agent["parentAgentId"] in known else None
        below.setdefault(parent, []).append(agent)
    waiting = _branches(below.get(None, []), "")
    while waiting:
        prefix, further, agent = waiting.pop()
        yield prefix, agent
        waiting += _branches(below.get(agent["id"], []), further)


def _branches(agents: Sequence[Plain], lead: str) -> list[tuple[str, str, Plain]]:
    """Of each its own prefix and that of what is below it, the last one first."""
    branches: list[tuple[str, str, Plain]] = []
    for agent in reversed(agents):
        is_last = not branches
        branches.append(
            (f"{lead}{'└─ ' if is_last else '├─ '}", f"{lead}{'   ' if is_last else '│  '}", agent)
        )
    return branches


def _sum(agents: Sequence[Plain], name: str) -> str:
    known = [agent[name] for agent in agents if agent[name] is not None]
    return f"{sum(known):,}" if known else ""


def _cost(agents: Sequence[Plain]) -> str:
    """In US dollars; a question mark where tokens were used and no price is known."""
    known = [agent["costUsd"] for agent in agents if agent["costUsd"] is not None]
    if known:
        return f"{sum(known):.4f}"
    return "?" if any(agent["tokens"] for agent in agents) else ""
