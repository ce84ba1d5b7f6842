"""`dovecote usage`: what groups used of their providers, and what it cost."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orchestrator.cli.home import Home, open_home_to_ask
from orchestrator.cli.place import ask_or_look
from orchestrator.cli.table import columns
from orchestrator.commands.usage.usage_report import usage_by_day, usage_by_turn
from orchestrator.contracts.ids import GroupFolder

Rows = Sequence[Mapping[str, Any]]


def show_usage(
    home_option: Path | None, *, group: str | None, days: int, by_turn: bool, as_json: bool
) -> None:
    """A table, or all that is known as JSON."""
    found = asyncio.run(_found(open_home_to_ask(home_option), group, days=days, by_turn=by_turn))
    if as_json:
        print(json.dumps(found, indent=2))
    elif not found:
        print("Nothing was used.")
    elif by_turn:
        heads = ("BEGAN", "GROUP", "PROVIDER", "CALLS", "TOKENS", "USD")
        _print(heads, [_turn_row(row) for row in found])
    else:
        of_a_day = ("DAY", "GROUP", "PROVIDER", "MODEL", "TURNS", "CALLS", "IN", "OUT", "CACHED", "USD")
        _print(of_a_day, [_day_row(row) for row in found])


def _turn_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    tokens = f"{row['tokens']:,}"
    return row["beganAt"], row["group"], row["provider"], str(row["calls"]), tokens, _cost(row)


def _day_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    cached = row["cacheReadTokens"] + row["cacheWriteTokens"]
    return (
        row["day"],
        row["group"],
        row["provider"],
        row["model"] or "?",
        str(row["turns"]),
        str(row["calls"]),
        f"{row['inputTokens']:,}",
        f"{row['outputTokens']:,}",
        f"{cached:,}",
        _cost(row),
    )


def _cost(row: Mapping[str, Any]) -> str:
    """In US dollars; a question mark where a price is not known."""
    cost = row["costUsd"]
    if cost is None:
        return "?"
    return f"{cost:.4f}" + (" + ?" if row.get("unpricedCalls") else "")


def _print(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for line in columns(heads, rows):
        print(line)


async def _found(home: Home, group: str | None, *, days: int, by_turn: bool) -> Rows:
    query = {"days": str(days), "by": "turn" if by_turn else "day"} | (
        {} if group is None else {"group": group}
    )
    look = usage_by_turn if by_turn else usage_by_day
    found: Rows = await ask_or_look(
        home,
        lambda client: client.call("GET", "/api/v1/usage", query=query),
        lambda services: look(services, None if group is None else GroupFolder(group), days=days),
        nothing=[],
    )
    return found
