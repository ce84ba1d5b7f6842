"""What a program tells while it works becomes texts for the chat, events for the host, and a bill.

A text is said when it is whole: before the next tool, or at the end. One that was cut off is not said.
"""

import asyncio
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from container.drivers.driver import Turn

_MAX_WAITING: Final = 1_000
_LONGEST_CHARS: Final = 30_000
"""A text that grows longer is said in parts, so that it never fills our memory."""
_NOISE: Final = re.compile(
    r"^(?:Warning: )?Model metadata for `[^`\n]*` not found[^\n]*\n*"
    r"|^\*\*Warning:\*\*[^\n]*\bauto mode\b[^\n]*\n*"
    r"|\ACompacting\.\.\.\s*Compacting completed\.\s*",
    re.MULTILINE,
)
_BEGINS_AGAIN: Final = re.compile(r"Retrying(?: \(attempt \d+/\d+, waiting \d+s\))?\.\.\.")
"""One program's whole chunk for: what I was saying broke off, and comes again."""
_OWN_WORDS: Final = frozenset(
    {
        "Retry finished, resuming.",
        "Context nearing limit, running automatic compaction...",
        "Automatic compaction finished; context was summarized to continue the session.",
    }
)
"""The same program's whole chunks about itself."""
_TOOL_NAME: Final = re.compile(r"[\w.:-]{1,80}")
_STATUS_WORDS: Final = {
    "pending": "running",
    "in_progress": "running",
    "completed": "done",
    "failed": "failed",
}


class Updates:
    """The updates of one turn, in the order in which they came; outside a turn they go nowhere."""

    def __init__(self) -> None:
        self._waiting: deque[Any] = deque()
        self._changed = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._is_open = False

    def open(self) -> None:
        """A turn begins."""
        self._waiting.clear()
        self._is_open = True

    def close(self) -> None:
        """The turn is over; whoever waited for room has it."""
        self._is_open = False
        self._waiting.clear()
        self._has_room.set()

    def put(self, update: Any) -> None:
        """Add one. Never waits: while a handler waited, a later update would overtake it."""
        if self._is_open:
            self._waiting.append(update)
            self._changed.set()
            if len(self._waiting) >= _MAX_WAITING:
                self._has_room.clear()

    def wake(self) -> None:
        """Have the reader look up."""
        self._changed.set()

    def take(self) -> Any | None:
        """The oldest one, or None."""
        if not self._waiting:
            return None
        self._has_room.set()
        return self._waiting.popleft()

    async def change(self, *, at_most_s: float) -> bool:
        """Wait for something new; False if nothing came."""
        try:
            async with asyncio.timeout(at_most_s):
                await self._changed.wait()
        except TimeoutError:
            return False
        self._changed.clear()
        return True

    async def room(self) -> None:
        """Wait until the reader has caught up: a program faster than the chat has to wait."""
        await self._has_room.wait()


@dataclass(slots=True, kw_only=True)
class Told:
    """What was told in one turn. cost_usd: of the whole session, where the program knows it."""

    has_any: bool = False
    cost_usd: float | None = None
    mode: str | None = None


class Scribe:
    """Writes down one turn. notes: what people have to know before the first text."""

    def __init__(self, turn: Turn, notes: deque[str]) -> None:
        self.told = Told()
        self._turn = turn
        self._notes = notes
        self._text = ""
        self._message_id: str | None = None
        self._tools: dict[str, tuple[str, str]] = {}

    @property
    def unsaid(self) -> str:
        """The text that is not whole yet."""
        return _NOISE.sub("", self._text).strip()

    @property
    def is_using_tools(self) -> bool:
        """Whether a tool is at work, which may take long and say nothing."""
        return any(status == "running" for _, status in self._tools.values())

    async def take(self, update: Any) -> None:
        """Write down one update."""
        match update.session_update:
            case "agent_message_chunk":
                await self._take_chunk(update)
            case "tool_call" | "tool_call_update":
                await self._take_tool(update)
            case "plan":
                await self._take_plan(update.entries)
            case "usage_update":
                cost = update.cost
                if cost is not None and cost.currency == "USD":
                    self.told.cost_usd = cost.amount
                return
            case "current_mode_update":
                self.told.mode = update.current_mode_id
                return
            case "agent_thought_chunk":
                pass
            case _:
                return
        self.told.has_any = True

    async def say_unsaid(self) -> None:
        """The text is whole: say it."""
        text, self._text = self.unsaid, ""
        if text:
            await self.say(text)

    async def say(self, text: str) -> None:
        """Say a text; before the first one what people have to know."""
        while self._notes:
            await self._turn.say(self._notes.popleft())
        await self._turn.say(text)

    async def _take_chunk(self, update: Any) -> None:
        text = getattr(update.content, "text", None)
        if not isinstance(text, str) or text in _OWN_WORDS:
            return
        if _BEGINS_AGAIN.fullmatch(text):
            self._text = ""
            return
        message_id = getattr(update, "message_id", None)
        if message_id != self._message_id and self._message_id is not None:
            await self.say_unsaid()
        self._message_id = message_id
        self._text += text
        while len(self._text) > _LONGEST_CHARS:
            end = self._text.rfind("\n", 0, _LONGEST_CHARS) + 1 or _LONGEST_CHARS
            part, rest = self._text[:end], self._text[end:]
            self._text = part
            await self.say_unsaid()
            self._text = rest

    async def _take_tool(self, update: Any) -> None:
        if update.session_update == "tool_call":
            await self.say_unsaid()
        name, before = self._tools.get(update.tool_call_id, ("", ""))
        name = name or _tool_name(update.title, update.kind)
        status = _STATUS_WORDS.get(update.status or "", before or "running")
        self._tools[update.tool_call_id] = (name, status)
        if status != before:
            await self._turn.tool(name, status)

    async def _take_plan(self, entries: Sequence[Any]) -> None:
        if not entries:
            return
        done = sum(entry.status == "completed" for entry in entries)
        current = next((entry.content for entry in entries if entry.status == "in_progress"), None)
        await self._turn.progress(100 * done / len(entries), current)


def _tool_name(title: str | None, kind: str | None) -> str:
    """What the host's log calls a tool; a title may be a whole command line, which is nobody else's."""
    if title and _TOOL_NAME.fullmatch(title):
        return title
    return kind or "tool"
