"""Which tools run at once, which are refused, and for which a person is asked first."""

from collections.abc import Mapping
from typing import Final

from container.drivers import claude_words as words
from container.drivers.leave import (
    APPROVE_ALL,
    DENY_ALL,
    LEAVE_WAIT_S,
    NOT_ALLOWED,
    OWN_SERVER,
    LeaveAsker,
)

READING_TOOLS: Final = ("Read", "TaskGet", "TaskList")
_THINKING_TOOLS: Final = ("Task", "TaskCreate", "TaskUpdate", "TaskStop", "Skill")
"""They change nothing but the program's own list; what a helper does is asked for by itself."""
_CHANGING_TOOLS: Final = ("Bash", "Edit", "NotebookEdit", "Write")


def offered_tools(permissions: str) -> tuple[str, ...]:
    """The built-in tools that the model sees.

    Those that plan runs of their own, reach the network or ask somebody at a terminal are left out: here
    tasks, the way out and questions are Dovecote's.
    """
    if permissions == DENY_ALL:
        return ()
    return (*READING_TOOLS, *_THINKING_TOOLS, *_CHANGING_TOOLS)


def allowed_tools() -> tuple[str, ...]:
    """What is never asked for: our own tools, since the host judges each of their requests."""
    return (f"mcp__{OWN_SERVER}",)


class Leave(LeaveAsker):
    """Answers the program's question whether a tool may run."""

    def __init__(self, permissions: str, *, wait_s: float = LEAVE_WAIT_S) -> None:
        super().__init__(wait_s=wait_s)
        self._permissions = permissions

    async def decide(self, tool: str, given: Mapping[str, object], _title: str | None = None) -> str | None:
        """None: it may run; else why not, in words for the model."""
        if self._permissions == APPROVE_ALL:
            return None
        if self._permissions == DENY_ALL:
            return NOT_ALLOWED
        if tool in READING_TOOLS or tool in _THINKING_TOOLS:
            return None
        return await self.ask(words.leave_question(tool, given))
