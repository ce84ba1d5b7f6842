"""Who comes from whom, worked out from each one's parent. Source: agents.md section 2.

Whatever the parents say, and be it a circle, each of these functions ends, and names nobody twice.
"""

from collections.abc import Collection, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=str)


def subtree(parents: Mapping[Node, Node | None], root: Node) -> tuple[Node, ...]:
    """`root` and all below it, parents before their children; the order of `parents` among siblings.

    parents: of each agent its parent, None of a root. Empty if `root` is not among them.
    """
    if root not in parents:
        return ()
    children: dict[Node, list[Node]] = {}
    for node, parent in parents.items():
        if parent is not None:
            children.setdefault(parent, []).append(node)
    found = {root: None}
    level = [root]
    while level:
        below = [child for node in level for child in children.get(node, ()) if child not in found]
        found.update(dict.fromkeys(below))
        level = below
    return tuple(found)


def stop_order(parents: Mapping[Node, Node | None], root: Node) -> tuple[Node, ...]:
    """`root` and all below it, children before their parents: the order in which they are stopped."""
    return tuple(reversed(subtree(parents, root)))


def orphans(parents: Mapping[Node, Node | None], live: Collection[Node]) -> tuple[Node, ...]:
    """The live ones whose parent does not live."""
    return tuple(
        node for node, parent in parents.items() if node in live and parent is not None and parent not in live
    )
