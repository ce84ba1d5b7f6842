"""What the agent runner asks of a driver, and how it finds one.

A driver is the only code that knows an agent's habits. It gets messages and says texts; turns,
acknowledgements, standard output and signals are the agent runner's business.
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol, cast

from container.box_client import BoxClient
from container.messages import Message
from container.output import Output
from container.places import Places
from container.questions import Questions
from orchestrator.contracts.errors import ErrorCode, NotFound, StartFailed
from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.wire.boxes import Answer
from orchestrator.contracts.wire.container_io import (
    AgentEvent,
    AgentLog,
    ContainerInput,
    Progress,
    SessionNamed,
    ToolUsed,
    TurnError,
    TurnStatus,
    Usage,
)

AGENT_ERROR: Final = "AGENT_ERROR"
"""The code of a failure that is the agent's own. Source: contracts.md section 2."""
PROGRAM_MISSING: Final = "PROGRAM_MISSING"
"""The agent's program is not there, or can't be run: it won't be until somebody mends it."""
START_FAILED: Final = "START_FAILED"
"""What else the agent can't start without is missing, likewise."""
PROGRAM_ENDED: Final = "PROGRAM_ENDED"
"""The agent's program ended before it was ready; its message is what it last said."""
LASTING: Final = frozenset({PROGRAM_MISSING, START_FAILED, PROGRAM_ENDED})
"""Codes of failures after which no later turn of this agent goes better."""


class ProgramMissing(StartFailed):
    """There is no program to start under the agent's command, or it can't be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverContext:
    """What a driver has for its whole life."""

    given: ContainerInput
    places: Places
    box: BoxClient
    output: Output
    now: Callable[[], datetime]

    async def name_session(self, session_id: str) -> None:
        """Tell the host under which id a later run can go on from here."""
        await self.output.event(SessionNamed(session_id=session_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How a turn ended, in the driver's eyes. error: its code tells a provider's failure from our own."""

    status: TurnStatus = TurnStatus.SUCCESS
    error: TurnError | None = None
    usage: Usage | None = None


def failed(code: str, message: str) -> TurnResult:
    """The result of a turn that failed for a known reason."""
    return TurnResult(status=TurnStatus.ERROR, error=TurnError(code=code, message=message))


@dataclass(slots=True, kw_only=True)
class Turn:
    """One prompt, and the mouth to answer it with. outputs: how many texts were said so far."""

    turn_id: TurnId
    messages: Sequence[Message]
    output: Output
    questions: Questions = field(default_factory=Questions)
    outputs: int = field(default=0)

    async def say(self, text: str) -> None:
        """Say one text; it becomes one chat message."""
        self.outputs += 1
        await self.output.text(text)

    async def ask(self, question: str, options: Sequence[str] = ()) -> Answer:
        """Ask the people of the chat and wait for what they say; the turn's clocks stand still meanwhile.

        options: what they can choose from; they may answer in their own words all the same. The answer's
        status tells whether there is one: `expired` and `refused` are none.
        """
        return await self.questions.ask(self.output, question, options)

    async def tool(self, name: str, status: str) -> None:
        """Tell that a tool is used: `status` is running, done or failed."""
        await self.output.event(ToolUsed(name=name, status=status))

    async def progress(self, percent: float, description: str | None = None) -> None:
        """Tell how far the work is, 0 to 100."""
        await self.output.event(Progress(progress=percent, description=description))

    async def log(self, message: str, *, level: str = "info") -> None:
        """Write a line into the agent's log."""
        await self.output.event(AgentLog(message=message, level=level))

    async def event(self, event: AgentEvent) -> None:
        """Print any other event."""
        await self.output.event(event)


class Driver(Protocol):
    """Turns a prompt into agent behaviour. All methods run on one event loop and never block it."""

    async def start(self, context: DriverContext) -> None:
        """Get ready; called once, before the first turn. What it raises fails that turn.

        A DovecoteError is a lasting fault: the agent ends with that turn.
        """
        ...

    async def run_turn(self, turn: Turn) -> TurnResult:
        """Answer the messages of `turn`. Cancelled when the agent has to stop.

        Called again with the same turn id and further messages when one came too late to be joined.
        An exception ends the turn as AGENT_ERROR; ProgramMissing as PROGRAM_MISSING, and the agent with it.
        """
        ...

    def can_join(self, messages: Sequence[Message]) -> bool:
        """Whether a follow-up may go into the running turn. If not, it becomes a turn of its own."""
        ...

    async def join(self, messages: Sequence[Message]) -> bool:
        """Take a follow-up into the running turn, which has been announced as its own by now.

        False: the turn was over already; `run_turn` is called again with these messages.
        """
        ...

    async def interrupt(self) -> None:
        """Ask the running turn to come to an end; it is cancelled soon after."""
        ...

    async def close(self) -> None:
        """Give back what the driver holds. Called once, also after a failed start."""
        ...


_DRIVERS: Final = {
    "acp": ("container.drivers.acp_driver", "AcpDriver"),
    "builtin": ("container.drivers.builtin_driver", "BuiltinDriver"),
    "claude": ("container.drivers.claude_driver", "ClaudeDriver"),
    "script": ("container.drivers.script_driver", "ScriptDriver"),
}


def load(name: str) -> Driver:
    """A fresh driver of that name; only its own module is imported. Raises NotFound."""
    if name not in _DRIVERS:
        raise NotFound(
            f"There is no driver {name!r} in this container.",
            code=ErrorCode.NOT_FOUND,
            suggestion=f"Use one of: {', '.join(sorted(_DRIVERS))}.",
        )
    module, kind = _DRIVERS[name]
    return cast(Driver, getattr(importlib.import_module(module), kind)())
