"""A tool server of an operator's own, over stdio: it adds two numbers and names them by a variable of its."""

import json
import os
import sys
from typing import Any

NUMBER = {"type": "integer"}
ADD = {
    "name": "add",
    "description": "Add two numbers.",
    "inputSchema": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]},
}


def result_of(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request."""
    if method == "initialize":
        return {
            "protocolVersion": given["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "lab", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [ADD]}
    if method == "tools/call":
        total = given["arguments"]["a"] + given["arguments"]["b"]
        text = f"{os.environ.get('LAB_UNIT', 'sum')} is {total}"
        return {"content": [{"type": "text", "text": text}], "isError": False}
    return {}


def main() -> None:
    """Answer requests until the input ends; what wants no answer gets none."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        answer = {
            "jsonrpc": "2.0",
            "id": asked["id"],
            "result": result_of(asked["method"], asked.get("params") or {}),
        }
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
