"""How far a turn is by the list of steps that its model keeps by the program's tools; nothing is guessed."""

from collections.abc import Mapping
from typing import Final

from container.drivers.claude_events import ToolBegun, ToolDone

_CREATE: Final = "TaskCreate"
_UPDATE: Final = "TaskUpdate"
_DONE: Final = "completed"
_DROPPED: Final = "deleted"


class ClaudePlan:
    """The steps that were added and finished in one turn."""

    def __init__(self) -> None:
        self._called: dict[str, ToolBegun] = {}
        self._added = 0
        self._status: dict[str, str] = {}

    def begun(self, event: ToolBegun) -> None:
        """A tool is called; what it changes counts once it is done."""
        if event.name in (_CREATE, _UPDATE):
            self._called[event.call_id] = event

    def done(self, event: ToolDone) -> tuple[float, str] | None:
        """How far it is now, 0 to 100, and in words; None: that says nothing new."""
        call = self._called.pop(event.call_id, None)
        if call is None or event.is_error or not self._takes(call.name, call.given):
            return None
        done = sum(status == _DONE for status in self._status.values())
        # Steps of an earlier turn are finished here, too.
        steps = max(self._added - sum(status == _DROPPED for status in self._status.values()), done)
        return None if steps == 0 else (100 * done / steps, f"{done} of {steps} steps")

    def _takes(self, tool: str, given: Mapping[str, object]) -> bool:
        """Whether the call changes how far it is."""
        if tool == _CREATE:
            self._added += 1
            return True
        step, status = given.get("taskId"), given.get("status")
        if not isinstance(step, str) or not isinstance(status, str):
            return False
        self._status[step] = status
        return True
