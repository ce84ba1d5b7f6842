"""How long a program that was started may take to answer, and the word in the log if it takes its time."""

import asyncio
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Final

USUAL_S: Final = 60.0
_QUIET_S: Final = 10.0


def answer_s(options: Mapping[str, object] | None) -> float:
    """The bound of a definition's options, in seconds; a usual one where there is none."""
    given = (options or {}).get("answer_s")
    if isinstance(given, bool) or not isinstance(given, int | float) or given <= 0:
        return USUAL_S
    return float(given)


@contextmanager
def told_when_slow(bound_s: float) -> Iterator[None]:
    """Write a line into the agent's log if the program has not answered after 10 s, or half of the bound."""
    after_s = min(_QUIET_S, bound_s / 2)
    line = (
        f"The agent program has not answered for {after_s:g} s since it was started; it is given up after "
        f"{bound_s:g} s."
    )
    tell = partial(print, line, file=sys.stderr, flush=True)
    timer = asyncio.get_running_loop().call_later(after_s, tell)
    try:
        yield
    finally:
        timer.cancel()
