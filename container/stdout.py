"""The real standard output, before the event loop runs: kept by the agent runner alone."""

import os
import sys

from orchestrator.contracts.wire.codec import to_json
from orchestrator.contracts.wire.container_io import AgentEvent
from orchestrator.contracts.wire.framing import EVENT_PREFIX


def claim_stdout() -> int:
    """Keep the real standard output as a descriptor of our own and turn descriptor 1 into the log.

    What a driver, a library or a child process prints from now on goes to standard error, so that it
    can neither break a pair nor forge one by accident. Children do not inherit the kept descriptor.
    """
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    return kept


def event_line(event: AgentEvent) -> bytes:
    """The line that stands for `event`."""
    return f"{EVENT_PREFIX}{to_json(event)}\n".encode()


def write_event(descriptor: int, event: AgentEvent) -> None:
    """Write an event and wait until the pipe has taken it. Only before the event loop runs."""
    rest = event_line(event)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
