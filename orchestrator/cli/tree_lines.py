"""Trees of agents as lines of text: who came of whom, who does what, since when, for how much."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from orchestrator.cli.labels import without_marks
from orchestrator.contracts.wire.agent_words import queued_in_words, stand_of
from orchestrator.core.text_cleaning import clean_name

Plain = Mapping[str, Any]
_HEADS: Final = ("AGENT", "STATUS", "ELAPSED", "TOKENS", "USD", "TASK · LAST LINE")
_NARROW_HEADS: Final = ("AGENT", "STATUS", "ELAPSED", "TASK · LAST LINE")
_WIDE_COLUMNS: Final = 120
"""From so many on there is room for what each agent used, and for its name beside its id."""
_MAX_TEXT: Final = 70


def tree_rows(trees: Sequence[Plain], *, width: int | None = None) -> list[tuple[str, ...]]:
    """The cells of a table, its heads first: a row a tree, and below it one an agent, by its place.

    Trees that live come first. width: of the terminal, None for any; in a narrow one only trees tell what
    was used.
    """
    is_narrow = width is not None and width < _WIDE_COLUMNS
    rows: list[tuple[str, ...]] = [_NARROW_HEADS if is_narrow else _HEADS]
    for tree in live_first(trees):
        rows.append(_narrow_head_of(tree) if is_narrow else _head_of(tree))
        row_of = _narrow_row if is_narrow else _row
        rows += [row_of(prefix, agent) for prefix, agent in _walk(tree["agents"])]
    return rows


def tree_lines(trees: Sequence[Plain], *, width: int | None = None) -> list[str]:
    """As `tree_rows`, one line a row, none longer than the terminal is wide."""
    rows = tree_rows(trees, width=width)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(f"{cell:<{wide}}" for cell, wide in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return lines if width is None else [_cut(line, width) for line in lines]


def live_first(trees: Sequence[Plain]) -> list[Plain]:
    """Those in which something lives, then those that are over; else as they come."""
    return sorted(trees, key=lambda tree: tree["liveAgents"] == 0)


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
    words = stand_of(agent["lifecycle"], activity=agent["activity"], waits_for=len(agent["waitsFor"]))
    is_over = agent["activity"] == "none"
    return words if is_over or agent["progress"] is None else f"{words} {agent['progress']:g}%"


def task_of(agent: Plain) -> str:
    """What it is for; of one that is not started yet also why."""
    why = agent["queuedBy"]
    return str(agent["task"]) if why is None else f"waits: {queued_in_words(why)} · {agent['task']}"


def _head_of(tree: Plain) -> tuple[str, ...]:
    agents = tree["agents"]
    return (tree["treeId"], _stand_of_tree(tree), "", _sum(agents, "tokens"), _cost(agents), _counts(tree))


def _narrow_head_of(tree: Plain) -> tuple[str, ...]:
    agents = tree["agents"]
    used = {"tokens": _sum(agents, "tokens"), "USD": _cost(agents)}
    words = [_counts(tree), *(f"{amount} {what}" for what, amount in used.items() if amount)]
    return (tree["treeId"], _stand_of_tree(tree), "", " · ".join(words))


def _stand_of_tree(tree: Plain) -> str:
    """`active` while something may be started in it; one that is stopped may have agents that still go."""
    if tree["status"] == "active":
        return "active"
    return "stopping" if tree["liveAgents"] else "ended"


def _counts(tree: Plain) -> str:
    return f"{tree['liveAgents']} live of {tree['totalAgents']}"


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


def _narrow_row(prefix: str, agent: Plain) -> tuple[str, ...]:
    name = f"{clean_name(agent['name'])}: " if agent["name"] else ""
    return (f"{prefix}{agent['id']}", status_of(agent), duration(agent["elapsedMs"]), name + _text(agent))


def _text(agent: Plain) -> str:
    """What it is for, and the last that was heard of it."""
    why = agent["queuedBy"]
    waits = None if why is None else f"waits: {queued_in_words(why)}"
    said = agent["error"] if agent.get("error") else agent["lastLine"]
    # What it waits for comes first, so that a narrow terminal has it.
    words = [clean_name(without_marks(str(each))) for each in (waits, agent["task"], said) if each]
    return " · ".join(_cut(each) for each in words)


def _cut(text: str, most: int = _MAX_TEXT) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


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
