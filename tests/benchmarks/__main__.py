"""`python -m tests.benchmarks [name…]`: figures beside their floors. Nothing fails on a duration."""

import argparse
import asyncio
import importlib
import logging
import sys
import time

import structlog

from tests.benchmarks.table import Row, lines_of

NAMES = (
    "cli_help",
    "group_commit",
    "agent_ready",
    "container_start",
    "cold_start",
    "spawn_ready",
    "follow_up",
    "slow_channel",
    "ipc_latency",
    "ipc_burst",
    "egress",
    "first_token",
    "burst",
    "many_tasks",
    "idle",
    "channel_off",
    "live_events",
    "agent_records",
)
"""In the order in which they run. Each is a module here whose `run` gives rows."""


def main() -> int:
    """Run the named ones, or all; the exit code is 1 only if one could not be run."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of: {', '.join(NAMES)}")
    names = parser.parse_args().names or list(NAMES)
    if unknown := set(names) - set(NAMES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    began, rows, failed = time.monotonic(), list[Row](), list[str]()
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        module = importlib.import_module(f"tests.benchmarks.{name}")
        try:
            rows += asyncio.run(module.run())
        except Exception as error:  # one benchmark that can't run must not cost the others' figures
            failed.append(f"{name} could not be run: {error!r}")
    print("\n".join([*lines_of(rows), *failed]))
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
