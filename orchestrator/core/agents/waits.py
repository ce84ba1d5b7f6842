"""Who waits for whom, so that nobody waits in a circle. Source: agents.md section 2."""

from collections import deque
from collections.abc import Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=str)


def closes_cycle(edges: Iterable[tuple[Node, Node]], edge: tuple[Node, Node]) -> tuple[Node, ...]:
    """The circle that `edge` would close, from its waiter round to it again; empty if it closes none.

    edges, edge: waiter and awaited.
    """
    waiter, awaited = edge
    next_of: dict[Node, list[Node]] = {}
    for before, after in edges:
        next_of.setdefault(before, []).append(after)
    came_from: dict[Node, Node] = {}
    to_visit = deque([awaited])
    while to_visit:
        here = to_visit.popleft()
        if here == waiter:
            return _path(came_from, waiter, awaited)
        for after in next_of.get(here, ()):
            if after not in came_from and after != awaited:
                came_from[after] = here
                to_visit.append(after)
    return ()


def _path(came_from: dict[Node, Node], waiter: Node, awaited: Node) -> tuple[Node, ...]:
    back = [waiter]
    here = waiter
    while here != awaited:
        here = came_from[here]
        back.append(here)
    return (waiter, *reversed(back))
