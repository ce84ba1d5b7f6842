"""`make soak MINUTES=60`: twenty messages a second over eight warm chats, and what they left behind.

Nothing fails on a duration or a size; the exit code is 1 if anything was lost, doubled or unanswered.
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

from tests.benchmarks.bench_app import usable_runners
from tests.soak.mix import RATE
from tests.soak.play import Soak, play, soak_in
from tests.soak.trends import table


def main() -> int:
    """Run one; its home is kept where something broke."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runner", help="default: bubblewrap, or process where that cannot be used")
    given = parser.parse_args()
    os.umask(0o022)
    usable = asyncio.run(usable_runners()) if given.runner is None else ()
    runner = given.runner or ("bubblewrap" if "bubblewrap" in usable else "process")
    root = Path(tempfile.mkdtemp(prefix="soak-"))
    root.chmod(0o711)
    soak = soak_in(root, runner=runner, minutes=given.minutes, seed=given.seed)
    try:
        asyncio.run(play(soak))
    except Exception:  # whatever it ends with is its finding, and what was measured until then is shown
        soak.faults.append(traceback.format_exc())
    _show(soak, runner)
    if soak.faults:
        print(f"FAILED, kept in {root}")
        return 1
    shutil.rmtree(root)
    return 0


def _show(soak: Soak, runner: str) -> None:
    count = len(soak.ledger.said_at_s)
    print("\n".join(table(soak.measures, soak.samples)))
    print(
        f"{count} messages in {soak.load_s:.0f} s (meant: {RATE:g} a second), {len(soak.samples)} samples; "
        f"{soak.ledger.planned} tasks made and taken back; agents under {runner}"
    )
    for text in dict.fromkeys(soak.ledger.others):
        print(f"people were also told {soak.ledger.others.count(text)} times: {text}")
    print("\n".join(soak.faults) or "nothing was lost, doubled or left unanswered")


if __name__ == "__main__":
    sys.exit(main())
