"""How many agents there may be, how deep, how fast and how long. Source: agents.md section 2.

What is counted are rows, also of agents that are only reserved; who counts and who adds the row stands in
one transaction, so no limit is ever exceeded.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from orchestrator.contracts.errors import ErrorCode, InvalidRequest, LimitExceeded
from orchestrator.contracts.records.spawns import QuotaInfo

LONGEST_TIMEOUT_MS: Final = 86_400_000
PARENT_DEADLINE: Final = "parent_deadline"
ABSOLUTE_MAX_TIMEOUT: Final = "absolute_max_timeout"
"""What may have shortened an agent's time."""
RATE_WINDOW: Final = timedelta(seconds=60)
SAFE_DEPTH: Final = 1
SAFE_CHILDREN: Final = 5
"""In profile `safe`: levels below a root, and live children of a parent."""
_CAPACITY_RETRY_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnLimits:
    """The bounds that hold for one spawn. children: of one parent; None: no bound."""

    depth: int
    tree_agents: int
    tree_spawns: int
    live_agents: int
    per_minute: int
    children: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnUsage:
    """What there is before the spawn.

    depth: of the parent; None: the new agent is a root. tree_agents: live ones, the root too. tree_spawns:
    ever, without the root. live_agents: in all. retry_after_s: 0 while the caller may spawn at once.
    """

    depth: int | None
    tree_agents: int = 0
    tree_spawns: int = 0
    live_agents: int
    children: int = 0
    retry_after_s: float = 0.0


def quota_of(usage: SpawnUsage, limits: SpawnLimits) -> QuotaInfo:
    """What may still be started in the tree, and how deep below the agent whose depth is given."""
    rest = min(limits.tree_agents - usage.tree_agents, limits.tree_spawns - usage.tree_spawns)
    depth = limits.depth if usage.depth is None else limits.depth - usage.depth
    return QuotaInfo(tree_agents_remaining=max(rest, 0), depth_remaining=max(depth, 0))


def check_limits(usage: SpawnUsage, limits: SpawnLimits) -> None:
    """Return if one agent more is allowed. Raises LimitExceeded that names the limit and how to change it."""
    # Of several that which no waiting lifts: who is told to wait is not to wait in vain.
    if usage.depth is not None:
        if usage.depth >= limits.depth:
            raise _of_tree(ErrorCode.DEPTH_EXCEEDED, "depth", usage.depth, limits.depth, usage, limits)
        if usage.tree_spawns >= limits.tree_spawns:
            most = limits.tree_spawns
            raise _of_tree(ErrorCode.QUOTA_EXCEEDED, "tree_spawns", usage.tree_spawns, most, usage, limits)
        if usage.tree_agents >= limits.tree_agents:
            most = limits.tree_agents
            raise _of_tree(ErrorCode.QUOTA_EXCEEDED, "tree_agents", usage.tree_agents, most, usage, limits)
    if limits.children is not None and usage.children >= limits.children:
        raise _exceeded(ErrorCode.LIMIT_EXCEEDED, "children", usage.children, limits.children)
    if usage.live_agents >= limits.live_agents:
        raise _exceeded(
            ErrorCode.LIMIT_EXCEEDED,
            "live_agents",
            usage.live_agents,
            limits.live_agents,
            retry_after_s=_CAPACITY_RETRY_S,
        )
    if usage.retry_after_s > 0:
        most, wait_s = limits.per_minute, usage.retry_after_s
        raise _exceeded(ErrorCode.RATE_LIMITED, "spawns_per_minute", most, most, retry_after_s=wait_s)


def checked_timeout_ms(
    wished_ms: int | None, *, default_s: float, longest_s: float
) -> tuple[int, str | None]:
    """The time of an agent in ms, and what shortened it. Raises InvalidRequest outside of 1 ms to 24 h."""
    if wished_ms is not None and not 1 <= wished_ms <= LONGEST_TIMEOUT_MS:
        raise InvalidRequest(
            f"timeoutMs is {wished_ms}, but must be from 1 to {LONGEST_TIMEOUT_MS} (24 h).",
            code=ErrorCode.INVALID_TIMEOUT,
            suggestion="Give the time in milliseconds, or leave it out.",
        )
    longest_ms = max(int(longest_s * 1000), 1)
    wanted_ms = max(int(default_s * 1000), 1) if wished_ms is None else wished_ms
    return (wanted_ms, None) if wanted_ms <= longest_ms else (longest_ms, ABSOLUTE_MAX_TIMEOUT)


def within_parent(
    timeout_ms: int, capped_by: str | None, *, now: datetime, parent_deadline: datetime | None
) -> tuple[int, str | None]:
    """The same, ended by the parent's deadline at the latest; 0 or less when that has passed."""
    if parent_deadline is None:
        return timeout_ms, capped_by
    rest_ms = int((parent_deadline - now) / timedelta(milliseconds=1))
    return (timeout_ms, capped_by) if timeout_ms <= rest_ms else (rest_ms, PARENT_DEADLINE)


_WORDS: Final = {
    "depth": ("The parent is at depth {current}, and {max} is the deepest", "spawn.max_depth"),
    "tree_agents": ("The tree has {current} live agents, and {max} is the most", "spawn.max_agents_per_tree"),
    "tree_spawns": (
        "In the tree {current} agents were started, and {max} is the most ever",
        "spawn.max_spawns_per_tree",
    ),
    "children": ("The parent has {current} live children, and {max} is the most in profile safe", None),
    "live_agents": ("{current} agents live here, and {max} is the most in all", "queue.max_live"),
    "spawns_per_minute": ("This caller started {max} agents within a minute", "spawn.per_minute"),
}
_ADVICE: Final = {
    "depth": "Do it in this agent, or let an operator raise",
    "tree_spawns": "Do it without further agents, or let an operator raise",
    "children": "Wait until one has ended, or use profile standard.",
    "spawns_per_minute": "Start the next one in {retry_s} s, or let an operator raise",
}
_USUAL_ADVICE: Final = "Wait until one has ended, or let an operator raise"


def _of_tree(
    code: ErrorCode, limit: str, current: int, most: int, usage: SpawnUsage, limits: SpawnLimits
) -> LimitExceeded:
    """With what the tree has left, the depth as an agent that was started would have it below itself."""
    refused = usage if usage.depth is None else replace(usage, depth=usage.depth + 1)
    return _exceeded(code, limit, current, most, {"quota_info": quota_of(refused, limits).as_json()})


def _exceeded(
    code: ErrorCode,
    limit: str,
    current: int,
    most: int,
    left: Mapping[str, object] = MappingProxyType({}),
    *,
    retry_after_s: float | None = None,
) -> LimitExceeded:
    sentence, setting = _WORDS[limit]
    retry_s = 0 if retry_after_s is None else math.ceil(retry_after_s)
    advice = _ADVICE.get(limit, _USUAL_ADVICE).format(retry_s=retry_s)
    suggestion = advice if setting is None else f"{advice} {setting}."
    return LimitExceeded(
        sentence.format(current=current, max=most) + ".",
        code=code,
        suggestion=suggestion,
        details={
            "limit": limit,
            "current": current,
            "max": most,
            "howToChange": "profile standard" if setting is None else setting,
            **left,
        },
        retry_after_s=retry_after_s,
    )
