"""Answers each start with the options that its driver is given, as JSON, and exits."""

import json
import sys


def say(event: dict[str, object]) -> None:
    sys.stdout.write(f"AGENT_EVENT {json.dumps(event)}\n")
    sys.stdout.flush()


say({"type": "ready", "protocol": 1})
given = json.loads(sys.stdin.readline())
turn = {"turnId": given["turnId"], "inputs": given["inputs"]}
say({"type": "turn_started", **turn})
sys.stdout.write(f"OUTPUT_START_MARKER\n{json.dumps(given['agent']['options'])}\nOUTPUT_END_MARKER\n")
say({"type": "turn_ended", **turn, "outputs": 1, "status": "success"})
