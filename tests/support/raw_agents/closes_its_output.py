"""Takes its turn, closes its standard output in the middle of it, and lives on."""

import json
import os
import signal
import sys

sys.stdout.write('AGENT_EVENT {"type": "ready", "protocol": 1}\n')
sys.stdout.flush()
given = json.loads(sys.stdin.readline())
turn = {"type": "turn_started", "turnId": given["turnId"], "inputs": given["inputs"]}
sys.stdout.write(f"AGENT_EVENT {json.dumps(turn)}\n")
sys.stdout.flush()
os.close(1)
os.close(2)
signal.pause()
