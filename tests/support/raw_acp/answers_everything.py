"""Answers each call with what its arguments say: `method=JSON` a call, in raw lines. Stands alone."""

import json
import sys

ANSWERS = dict(argument.split("=", 1) for argument in sys.argv[1:])
USUAL = {
    "initialize": '{"protocolVersion":1,"agentCapabilities":{}}',
    "session/new": '{"sessionId":"raw-1"}',
    "session/prompt": '{"stopReason":"end_turn"}',
}

for line in sys.stdin:
    call = json.loads(line)
    method = call.get("method")
    if "id" not in call:
        continue
    before, _, result = ANSWERS.get(method, "").rpartition("|")
    if before:
        sys.stdout.write(f"{before}\n")
    result = result or USUAL.get(method, "null")
    sys.stdout.write(f'{{"jsonrpc":"2.0","id":{call["id"]},"result":{result}}}\n')
    sys.stdout.flush()
