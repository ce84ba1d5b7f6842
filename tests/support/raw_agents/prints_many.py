"""Answers by so many pairs as the word behind `print` says, without a pause, and ends; else by one."""

import json
import re
import sys


def event(**fields: object) -> str:
    return f"AGENT_EVENT {json.dumps(fields)}\n"


sys.stdout.write(event(type="ready", protocol=1))
sys.stdout.flush()
given = json.loads(sys.stdin.readline())
turn = {"turnId": given["turnId"], "inputs": given["inputs"]}
wanted = re.search(r"print (\d+)", given["prompt"])
count = int(wanted[1]) if wanted else 1
sys.stdout.write(event(type="turn_started", **turn))
for number in range(count):
    sys.stdout.write(f"OUTPUT_START_MARKER\ntext {number}\nOUTPUT_END_MARKER\n")
sys.stdout.write(event(type="turn_ended", **turn, outputs=count, status="success"))
sys.stdout.flush()
