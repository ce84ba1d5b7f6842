"""One turn in the program: prompts go in, texts and signs of life come out, until all prompts are done."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from container.drivers.claude_client import ClaudeClient
from container.drivers.claude_events import Begun, ClaudeEvent, Finished, Said, ToolBegun, ToolDone, Working
from container.drivers.claude_plan import ClaudePlan
from container.drivers.driver import Turn

_LOGGED: Final = ("api_retry", "compact_boundary", "error")
_FAILED: Final = "failed"
_MAX_TAKEN_NAMED: Final = 64
"""An end names no more prompts than this, so more may have been taken in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The tokens of a turn, those of the cache too."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, more: "Finished | Spent") -> "Spent":
        return Spent(
            input_tokens=self.input_tokens + more.input_tokens,
            output_tokens=self.output_tokens + more.output_tokens,
        )


class ClaudeTurn:
    """Follows one turn. `add` may be called while `follow` runs, `follow` once."""

    def __init__(
        self,
        client: ClaudeClient,
        turn: Turn,
        *,
        say: Callable[[Turn, str], Awaitable[None]],
        begun: Callable[[str], Awaitable[None]],
    ) -> None:
        """say: how a text of the model's is said. begun: told of the session that the program works in."""
        self._client = client
        self._turn = turn
        self._say = say
        self._begun = begun
        self._open: set[str] = set()
        self._tools: dict[str, str] = {}
        self._plan = ClaudePlan()
        self._is_interrupted = False
        self.prompts: list[str] = []
        self.spent = Spent()
        self.has_begun = False
        self.is_over = False

    async def add(self, prompt: str) -> None:
        """Give the program a prompt; its end is waited for, too. Raises ClaudeGone."""
        prompt_id = str(uuid4())
        # Before it is on its way: the end of what runs may come meanwhile.
        self._open.add(prompt_id)
        self.prompts.append(prompt)
        await self._client.send(prompt, prompt_id)

    async def interrupt(self) -> None:
        """Have the program leave what it does; `follow` returns when it has. Raises ClaudeGone."""
        self._is_interrupted = True
        await self._client.interrupt()

    async def follow(self) -> Finished:
        """The end of the last prompt. Raises ClaudeGone."""
        try:
            async with aclosing(self._client.events()) as events:
                async for event in events:
                    if isinstance(event, Finished) and self._ends(event):
                        return event
                    await self._tell(event)
        finally:
            self.is_over = True
        raise AssertionError("the program's events end by an exception only")

    def _ends(self, finished: Finished) -> bool:
        """Whether with this end all prompts are done. One that names none of ours belongs to no prompt."""
        self.spent += finished
        if self._is_interrupted:
            return True
        named = set(finished.taken)
        names_all = len(finished.taken) < _MAX_TAKEN_NAMED
        if (finished.is_error and not named) or (named & self._open and not names_all):
            self._open.clear()
        self._open -= named
        return not self._open

    async def _tell(self, event: ClaudeEvent) -> None:
        match event:
            case Begun():
                self.has_begun = True
                await self._begun(event.session_id)
                for name in event.failed_servers:
                    await self._turn.log(f"The MCP server {name!r} could not be started.", level="warning")
            case Said():
                if event.text.strip():
                    await self._say(self._turn, event.text)
            case ToolBegun():
                self._tools[event.call_id] = event.name
                self._plan.begun(event)
                await self._turn.tool(event.name, "running")
            case ToolDone():
                name = self._tools.pop(event.call_id, "")
                await self._turn.tool(name, _FAILED if event.is_error else "done")
                if (progress := self._plan.done(event)) is not None:
                    await self._turn.progress(*progress)
            case Working():
                if event.what.startswith(_LOGGED):
                    await self._turn.log(f"claude: {event.what}")
            case Finished():
                # Of one prompt, while others wait.
                pass
