"""The tree of agents as lines for a chat, from what the host says of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from container.drivers.shown_text import short
from orchestrator.contracts.wire.agent_words import stand_of

LIVE: Final = frozenset({"pending", "starting", "running", "stopping"})
_MOST_LINES: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAgent:
    """One agent. error: why it failed. waits_for: for how many others it waits."""

    agent_id: str
    parent_id: str | None
    name: str
    task: str
    lifecycle: str
    output: str
    error: str
    started_at: str
    ended_at: str | None
    waits_for: int

    @property
    def stand(self) -> str:
        """How it stands, in words."""
        return stand_of(self.lifecycle, waits_for=self.waits_for)

    @property
    def is_live(self) -> bool:
        """Whether it has not ended."""
        return self.lifecycle in LIVE


def shown_agents(content: Mapping[str, object]) -> list[ShownAgent]:
    """The agents in an answer of `get_agent_status`; what has no id is none."""
    found = content.get("agents")
    known = found if isinstance(found, list | tuple) else ()
    return [_agent(each) for each in known if isinstance(each, Mapping) and each.get("id")]


def tree_lines(agents: Sequence[ShownAgent], *, now: datetime) -> list[str]:
    """A bullet each, children below their parents; at most sixty. The first one is who asks."""
    lines: list[str] = []
    ids = {agent.agent_id for agent in agents}
    below: dict[str | None, list[ShownAgent]] = {}
    for agent in agents:
        below.setdefault(agent.parent_id if agent.parent_id in ids else None, []).append(agent)
    waiting = [(agent, 0) for agent in reversed(below.get(None, []))]
    while waiting:
        agent, depth = waiting.pop()
        lines.append("  " * depth + _line(agent, is_top=depth == 0, now=now))
        waiting += [(child, depth + 1) for child in reversed(below.get(agent.agent_id, []))]
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES:] = [f"- … and {len(lines) - _MOST_LINES} more"]
    return lines


def ended_lines(agents: Sequence[ShownAgent], *, now: datetime) -> list[str]:
    """A bullet each: what it was for, how it ended and with what."""
    return [_line(agent, is_top=False, now=now) for agent in agents]


def over_lines(agents: Sequence[ShownAgent], *, now: datetime) -> list[str]:
    """A bullet each: what it was for, how it ended and how long ago."""
    return [
        f"- **{short(each.name)}**: {short(each.task)} ({each.stand}, {_span(each.ended_at, None, now)} ago)"
        for each in agents
    ]


def _line(agent: ShownAgent, *, is_top: bool, now: datetime) -> str:
    if is_top:
        return f"- **me**: {agent.stand}"
    last = agent.output or agent.error
    said = f": {short(last)}" if last else ""
    return f"- **{short(agent.name)}**: {short(agent.task)} ({agent.stand}, {_elapsed(agent, now)}){said}"


def _elapsed(agent: ShownAgent, now: datetime) -> str:
    return _span(agent.started_at, agent.ended_at, now)


def _span(since: str | None, until: str | None, now: datetime) -> str:
    """until: None: now."""
    try:
        begin = datetime.fromisoformat(since or "")
        end = now if until is None else datetime.fromisoformat(until)
        seconds = max(0, round((end - begin).total_seconds()))
    except (ValueError, TypeError):
        return "?"
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"


def _agent(plain: Mapping[str, object]) -> ShownAgent:
    parent, ended = plain.get("parentAgentId"), plain.get("endedAt")
    waits_for = plain.get("waitsFor")
    agent_id = str(plain["id"])
    return ShownAgent(
        agent_id=agent_id,
        parent_id=None if parent is None else str(parent),
        name=str(plain.get("name") or agent_id),
        task=str(plain.get("task") or ""),
        lifecycle=str(plain.get("lifecycle") or plain.get("status") or ""),
        output=str(plain.get("output") or ""),
        error=str(plain.get("error") or ""),
        started_at=str(plain.get("startedAt") or ""),
        ended_at=None if ended is None else str(ended),
        waits_for=len(waits_for) if isinstance(waits_for, list | tuple) else 0,
    )
