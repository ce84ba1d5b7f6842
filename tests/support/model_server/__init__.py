"""A model provider on this machine: four wire formats, scripted answers, every request kept.

| module | what it is for |
|---|---|
| `script` | what a test writes: rules and the steps of an answer |
| `asked` | what one request asks, whatever its wire format |
| `playing` | which rule answers a request, and with which calls |
| `wires` | one module a wire format: reading requests, writing answers |
| `routes`, `received`, `exchange`, `answering` | which call it is, what came, the answer on its way |
| `server` | the listener |
| `authority` | certificates for a server that speaks TLS |
| `fixtures` | for a `conftest.py`: `from … .fixtures import model_server as model_server` |
| `__main__` | `python -m tests.support.model_server --port 0`: the same for a human |

In a test:

    async with running_model_server() as server:
        server.play(
            Rule(text="plant", steps=(CallTool(tool="schedule_task", arguments={"prompt": "water"}),)),
            Rule(tool_result="task", steps=(Say(text="It is planned."),), usage=Usage(input_tokens=7)),
        )
        ...  # a program with the base URL `server.url`
        assert server.model_calls[0].headers["x-api-key"] == "sk-real"

Without a rule it echoes: `echo: <what was said>`, or `tool said: <what a tool answered>`.
"""

from tests.support.model_server.asked import Asked
from tests.support.model_server.authority import Authority
from tests.support.model_server.received import Received
from tests.support.model_server.script import (
    Answer,
    CallTool,
    Cut,
    Fail,
    Gate,
    Hang,
    Pause,
    Rule,
    Say,
    Stop,
    Think,
    Usage,
    Wait,
)
from tests.support.model_server.server import ModelServer, running_model_server

__all__ = [
    "Answer",
    "Asked",
    "Authority",
    "CallTool",
    "Cut",
    "Fail",
    "Gate",
    "Hang",
    "ModelServer",
    "Pause",
    "Received",
    "Rule",
    "Say",
    "Stop",
    "Think",
    "Usage",
    "Wait",
    "running_model_server",
]
