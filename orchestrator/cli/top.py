"""`dovecote top`: all trees as they are, again each second; once where there is no terminal."""

import asyncio
import contextlib
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.cli.agent_trees import PAST, Plain, fetch_overview, overview_at, shown_width
from orchestrator.cli.client import ApiClient, NotRunning, not_running, running_client
from orchestrator.cli.home import Home, open_home_to_ask
from orchestrator.cli.output import put
from orchestrator.cli.tree_lines import tree_lines, tree_rows
from orchestrator.paths import Paths

if TYPE_CHECKING:
    from rich.table import Table

_NOBODY: Final = "No agent is running. Write in a chat: dovecote chat"
_HOW: Final = "Ctrl+C ends this. Stop one: dovecote agent stop ID"
_DIM: Final = frozenset({"completed", "terminated"})
_BAD: Final = frozenset({"failed", "timed out", "lost"})


def run_top(home_option: Path | None, *, every_s: float, ended_within_s: float) -> None:
    """Show it until interrupted; what is known last where no orchestrator runs. Raises NotRunning."""
    home = open_home_to_ask(home_option)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_show(home, every_s=every_s, ended_within_s=ended_within_s))


async def _show(home: Home, *, every_s: float, ended_within_s: float) -> None:
    paths = home.paths
    client = await running_client(paths)
    if client is None:
        trees = await overview_at(home, ended_within_s=ended_within_s)
        if not trees:
            raise not_running(paths)
        put("\n".join([PAST, *tree_lines(trees, width=shown_width())]))
        return
    async with client:
        trees = await fetch_overview(client, ended_within_s=ended_within_s)
        if not sys.stdout.isatty():
            put("\n".join(tree_lines(trees, width=shown_width())) if trees else _NOBODY)
            return
        await _follow(client, paths, trees, every_s=every_s, ended_within_s=ended_within_s)


async def _follow(
    client: ApiClient, paths: Paths, trees: Sequence[Plain], *, every_s: float, ended_within_s: float
) -> None:
    """Show them until interrupted. Raises NotRunning: what was shown last is no more than that."""
    # rich costs a tenth of a second to import, and only a terminal needs it.
    from rich.live import Live

    with contextlib.suppress(NotRunning), Live(_table(trees), screen=True, auto_refresh=False) as live:
        while True:
            await asyncio.sleep(every_s)
            trees = await fetch_overview(client, ended_within_s=ended_within_s)
            live.update(_table(trees), refresh=True)
    raise not_running(paths)


def rows_that_fit(rows: Sequence[tuple[str, ...]], *, lines: int) -> tuple[list[tuple[str, ...]], str]:
    """The first of them, and what stands below: how to end this, and how many more there are.

    lines: of the terminal; besides them there are the heads, and what stands below.
    """
    if len(rows) <= lines - 2:
        return list(rows), _HOW
    shown = list(rows[: max(lines - 3, 0)])
    return shown, f"… and {len(rows) - len(shown)} more: dovecote agent tree\n{_HOW}"


def _table(trees: Sequence[Plain]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    size = shutil.get_terminal_size()
    heads, *rows = tree_rows(trees, width=size.columns)
    rows, caption = rows_that_fit(rows, lines=size.lines)
    table = Table(box=None, expand=True, pad_edge=False, caption=caption)
    for head in heads:
        table.add_column(head, no_wrap=True, overflow="ellipsis", ratio=1 if head == heads[-1] else None)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row), style=_style(row))
    if not rows:
        table.add_row(Text(_NOBODY))
    return table


def _style(row: Sequence[str]) -> str:
    if not row[0].startswith(("├", "└", "│", " ")):
        return "bold"  # the row of a tree
    if row[1] in _BAD:
        return "red"
    return "dim" if row[1] in _DIM else ""
