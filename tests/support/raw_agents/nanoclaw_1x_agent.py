"""Knows the NanoClaw 1.x dialect only: `prompt` in, JSON frames out, `input/` polled for `text`.

No `ready`, no events, no `acks/`. Without an environment of ours it takes the paths of the document.
Words in what it is asked steer it: `provider` fails as the real one does, `quiet` answers null, `session`
names one, `die` ends it without a word.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

INPUT = Path(os.environ.get("DOVECOTE_BOX", "/workspace/ipc")) / "input"


def frame(**fields: object) -> None:
    body = json.dumps(fields, separators=(",", ":"))
    sys.stdout.write(f"---NANOCLAW_OUTPUT_START---\n{body}\n---NANOCLAW_OUTPUT_END---\n")
    sys.stdout.flush()


def answer(prompt: str) -> None:
    asked = re.findall(r">\n(.*?)\n</message>", prompt, re.DOTALL)
    last = asked[-1] if asked else ""
    if "die" in last:
        sys.exit(1)
    if "provider" in last:
        frame(status="success", result="API Error: 529 overloaded", newSessionId="s-real")
        frame(status="error", result=None, error="API Error: 529 overloaded", newSessionId="not-to-be-kept")
        sys.exit(1)
    if "quiet" in last:
        frame(status="success", result=None, newSessionId="s-quiet")
        return
    frame(status="success", result=f"1x: {' + '.join(asked)}", newSessionId=f"s-{len(asked)}")


def main() -> None:
    given = json.loads(sys.stdin.read())
    if (INPUT / "_close").exists():
        (INPUT / "_close").unlink()
    answer(given["prompt"])
    while not (INPUT / "_close").exists():
        for path in sorted(INPUT.glob("*.json")):
            found = json.loads(path.read_text())
            path.unlink()
            if found.get("type") == "message" and found.get("text"):
                answer(found["text"])
        time.sleep(0.05)
    (INPUT / "_close").unlink()


if __name__ == "__main__":
    main()
