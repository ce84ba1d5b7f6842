"""Answers each start with the prompt it was given, and exits. Waits first, if its workspace holds `hold`."""

import json
import os
import sys
import time
from pathlib import Path

workspace = Path(os.environ["DOVECOTE_WORKSPACE"])


def say(event: dict[str, object]) -> None:
    sys.stdout.write(f"AGENT_EVENT {json.dumps(event)}\n")
    sys.stdout.flush()


say({"type": "ready", "protocol": 1})
given = json.loads(sys.stdin.readline())
turn = {"turnId": given["turnId"], "inputs": given["inputs"]}
say({"type": "turn_started", **turn})
while (workspace / "hold").exists():
    time.sleep(0.01)
sys.stdout.write(f"OUTPUT_START_MARKER\n{given['prompt']}\nOUTPUT_END_MARKER\n")
say({"type": "turn_ended", **turn, "outputs": 1, "status": "success"})
