"""Prints bytes that are nothing, markers without text, events that are none; then reads on."""

import os
import sys

for piece in (
    b"\x00\xff\xfe garbage\n",
    b"AGENT_EVENT {not json\n",
    b'AGENT_EVENT {"type": "turn_ended", "turnId": 7}\n',
    b'AGENT_EVENT {"type": "turn_started", "turnId": "../../up", "inputs": ["m1"]}\n',
    b"OUTPUT_END_MARKER\nOUTPUT_END_MARKER\n",
    b"---NANOCLAW_OUTPUT_START---\nnot json\n---NANOCLAW_OUTPUT_END---\n",
    b'AGENT_EVENT {"type": "ready", "protocol": "one"}\n',
):
    os.write(1, piece)
sys.stdin.readline()
sys.exit(1)
