"""The program and the conversation it holds: started when needed, resumed, replaced, ended.

A conversation that is gone, too large or too long is replaced by a fresh one; people are told once.
"""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Final
from uuid import uuid4

from container.drivers import claude_words as words
from container.drivers.claude_client import ClaudeClient, ClaudeGone, ClaudeOptions
from container.drivers.claude_events import Finished
from container.drivers.claude_sessions import ClaudeSessions
from container.drivers.claude_setup import SessionBounds
from container.drivers.driver import DriverContext, Turn
from container.drivers.leave import NOT_ALLOWED
from container.drivers.session_words import SESSION_GONE
from container.drivers.started_processes import descendants, end_descendants

_SUMMARY_S: Final = 120.0
_MAX_SUMMARY_CHARS: Final = 20_000
_MAX_LAST_WORDS_CHARS: Final = 40_000


class ClaudeSession:
    """One conversation at a time, in one program at a time."""

    def __init__(
        self, context: DriverContext, options: ClaudeOptions, sessions: ClaudeSessions, bounds: SessionBounds
    ) -> None:
        self._context = context
        self._options = options
        self._sessions = sessions
        self._bounds = bounds
        self._client: ClaudeClient | None = None
        self._session_id = context.given.session_id
        self._is_named = False
        self._cost_usd: float | None = 0.0
        self._memory = ""
        self._notes: list[str] = []
        # What runs below us by now is not the program's.
        self._others = frozenset(descendants())

    @property
    def is_running(self) -> bool:
        """Whether a program was started; it may have died since."""
        return self._client is not None

    async def ready(self) -> ClaudeClient:
        """The running program, in the conversation that is to go on. Raises ClaudeGone."""
        if self._client is not None:
            return self._client
        if self._session_id is not None and await self._size() is None:
            self.begin_afresh(SESSION_GONE)
        await self._prune()
        if self._session_id is not None:
            self._cost_usd = await asyncio.to_thread(self._sessions.cost_usd, self._session_id)
        client = ClaudeClient(replace(self._options, resume=self._session_id))
        self._client = client
        await client.connect()
        return client

    async def drop(self) -> None:
        """End the program and all that it has started; the conversation stays."""
        client, self._client = self._client, None
        try:
            if client is not None:
                await client.close()
        finally:
            await end_descendants(but=self._others)

    async def begun(self, session_id: str) -> None:
        """The program says in which conversation it is; the host hears of it once."""
        if session_id and (session_id != self._session_id or not self._is_named):
            self._session_id = session_id
            self._is_named = True
            await self._context.name_session(session_id)
        self._memory = ""

    def with_memory(self, prompt: str) -> str:
        """The prompt, with what is left of the conversation before if this is a fresh one."""
        return words.with_memory(prompt, self._memory)

    async def say(self, turn: Turn, text: str) -> None:
        """Say a text of the model's; before it what people have to know of their conversation."""
        while self._notes:
            await turn.say(self._notes.pop(0))
        await turn.say(text)

    async def cost_of(self, finished: Finished) -> float | None:
        """What the conversation has cost since we last asked; None where that is not known."""
        total, before = finished.total_cost_usd, self._cost_usd
        if total is None:
            return None
        self._cost_usd = total
        await asyncio.to_thread(self._sessions.keep_cost, finished.session_id, total)
        if before is None:
            return None
        # Less than before: the program began to count anew.
        return total - before if total >= before else total

    def begin_afresh(self, note: str, *, memory: str = "") -> None:
        """The next program starts a new conversation. note: what people are told of it."""
        self._session_id = None
        self._is_named = False
        self._cost_usd = 0.0
        self._memory = memory
        if note not in self._notes:
            self._notes.append(note)

    async def replace_large(self, turn: Turn) -> None:
        """Replace a conversation whose transcript is over the bound by one that begins with its summary."""
        session_id = self._session_id
        size = await self._size()
        if session_id is None or size is None or size <= self._bounds.session_bytes:
            return
        await turn.log(f"The session's transcript has {size} bytes: a fresh one begins with its summary.")
        await self.drop()
        # Read before the wish for a summary is the last thing that was said.
        last_words = await self._last_words(session_id)
        summary = await self._summary(session_id)
        self.begin_afresh(words.SESSION_SHORTENED, memory=summary or last_words)

    async def replace_too_long(self) -> None:
        """Replace a conversation that the model can't read any more by one that begins with its end."""
        await self.drop()
        summary = "" if self._session_id is None else await self._last_words(self._session_id)
        self.begin_afresh(words.SESSION_SHORTENED, memory=summary)

    async def _size(self) -> int | None:
        if self._session_id is None:
            return None
        return await asyncio.to_thread(self._sessions.size_bytes, self._session_id)

    async def _prune(self) -> None:
        gone = await asyncio.to_thread(self._sessions.prune, self._bounds.kept, in_use=self._session_id)
        if gone:
            print(f"{len(gone)} old transcripts were removed", flush=True)

    async def _last_words(self, session_id: str) -> str:
        return await asyncio.to_thread(self._sessions.last_words, session_id, max_chars=_MAX_LAST_WORDS_CHARS)

    async def _summary(self, session_id: str) -> str:
        """The model's own summary; "" when it gives none in time."""
        options = replace(self._options, resume=session_id, mcp_servers={}, max_turns=1, decide=_deny)
        client = ClaudeClient(options)
        try:
            async with asyncio.timeout(_SUMMARY_S):
                await client.connect()
                await client.send(words.SUMMARY_WISH, str(uuid4()))
                return await _answer_of(client)
        except (ClaudeGone, TimeoutError):
            return ""
        finally:
            await client.close()
            await end_descendants(but=self._others)


async def _answer_of(client: ClaudeClient) -> str:
    async with aclosing(client.events()) as events:
        async for event in events:
            if isinstance(event, Finished):
                return "" if event.is_error else event.text[:_MAX_SUMMARY_CHARS]
    return ""


async def _deny(_tool: str, _given: Mapping[str, object], _title: str | None) -> str:
    return NOT_ALLOWED
