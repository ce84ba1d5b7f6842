"""Answers, writes the end of its turn into `acks/`, removes its input, and hangs before it says so."""

import json
import os
import signal
import sys
from pathlib import Path

box = Path(os.environ["DOVECOTE_BOX"])


def say(event: dict[str, object]) -> None:
    sys.stdout.write(f"AGENT_EVENT {json.dumps(event)}\n")
    sys.stdout.flush()


def acknowledge(name: str, plain: dict[str, object]) -> None:
    temporary = box / "acks" / f".{name}.json.tmp"
    temporary.write_text(json.dumps(plain))
    temporary.rename(box / "acks" / f"{name}.json")


say({"type": "ready", "protocol": 1})
given = json.loads(sys.stdin.readline())
turn = {"turnId": given["turnId"], "inputs": given["inputs"]}
acknowledge(given["turnId"], {**turn, "status": "started"})
say({"type": "turn_started", **turn})
sys.stdout.write("OUTPUT_START_MARKER\ndone\nOUTPUT_END_MARKER\n")
sys.stdout.flush()
acknowledge(given["turnId"], {**turn, "type": "turn_ended", "outputs": 1, "status": "success"})
(Path(os.environ["DOVECOTE_WORKSPACE"]) / "hanging").touch()
signal.pause()
