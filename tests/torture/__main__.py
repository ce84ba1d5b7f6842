"""`make torture MINUTES=10 SEED=1`: seed after seed until the time is over; each that fails is kept.

One seed again: `python -m tests.torture --seed 17 --runs 1`. The model of `model` at length, with its
first finding shrunk: `python -m tests.torture --examples 2000`.
"""

import argparse
import asyncio
import logging
import os
import shutil
import sys
import tempfile
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Final

import structlog
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.torture.model import StoreLife
from tests.torture.plan import STORM, Size, draw_plan
from tests.torture.play import play, rig_in
from tests.torture.totals import Totals
from tests.torture.verdict import faults_of

_LARGE: Final = Size(lives=6, asks=16, life_s=6.0, own_disk=os.geteuid() == 0, long_pause_s=30.0)


def main() -> int:
    """The number of seeds that failed, at most 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--runs", type=int, default=1_000_000, help="at most so many")
    parser.add_argument("--runner", action="append", help="default: bubblewrap; may be given again")
    parser.add_argument("--storm", action="store_true", help="many messages, requests and kills")
    parser.add_argument("--examples", type=int, help="of the model of the store, instead of the rig")
    given = parser.parse_args()
    if given.examples is not None:
        at_length = settings(max_examples=given.examples, stateful_step_count=50, deadline=None)
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
        run_state_machine_as_test(
            StoreLife, settings=settings(at_length, suppress_health_check=[*HealthCheck])
        )
        return 0
    size = replace(STORM if given.storm else _LARGE, runners=tuple(given.runner or ["bubblewrap"]))
    os.umask(0o022)
    ends = time.monotonic() + 60 * given.minutes
    failed, seed, totals = [], given.seed, Totals()
    while time.monotonic() < ends and seed < given.seed + given.runs:
        if not _run(seed, size, totals):
            failed.append(seed)
        seed += 1
    print(f"{seed - given.seed} seeds from {given.seed} on: {totals}; failed: {failed or 'none'}")
    return 1 if failed else 0


def _run(seed: int, size: Size, totals: Totals) -> bool:
    """Whether every promise was kept; if not, what broke is printed and the home is kept."""
    root = Path(tempfile.mkdtemp(prefix=f"torture-{seed}-"))
    root.chmod(0o711)
    drawn = draw_plan(seed, size)
    try:
        with rig_in(root, drawn) as rig:
            try:
                asyncio.run(play(rig))
                faults = faults_of(rig)
                deeds = len(rig.ledger.deeds)
            finally:
                totals.add(rig)
                if (root / "home" / "data").is_mount():
                    shutil.copytree(root / "home" / "data" / "store", root / "store")
                    shutil.copytree(root / "home" / "data" / "logs", root / "logs")
    except Exception:  # whatever a run ends with is its finding, and the next seed goes on
        faults, deeds = [traceback.format_exc()], 0
    print(f"seed {seed}: {deeds} deeds, {'well' if not faults else f'FAILED, kept in {root}'}", flush=True)
    for fault in faults:
        print(f"  {fault}", flush=True)
    if not faults:
        shutil.rmtree(root)
    return not faults


if __name__ == "__main__":
    sys.exit(main())
