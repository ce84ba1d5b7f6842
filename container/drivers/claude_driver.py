"""The driver for the Claude Agent SDK: one program a container, one session a conversation.

Each text of the model becomes a chat message when it is whole, also between two tools: who waits for a
long piece of work hears how it goes. Source: agents.md section 4.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum

from container.drivers import claude_words as words
from container.drivers.claude_client import ClaudeGone, load_sdk
from container.drivers.claude_events import Finished
from container.drivers.claude_judgement import Ending, ending_of, error_of
from container.drivers.claude_permissions import Leave
from container.drivers.claude_session import ClaudeSession
from container.drivers.claude_sessions import ClaudeSessions
from container.drivers.claude_setup import (
    claude_options,
    configuration_directory,
    session_bounds,
    write_instructions,
)
from container.drivers.claude_turn import ClaudeTurn, Spent
from container.drivers.driver import AGENT_ERROR, DriverContext, Turn, TurnResult, failed
from container.drivers.prompt_text import prompt_text
from container.drivers.provider_errors import TOO_LONG
from container.drivers.session_words import OUT_OF_STEPS, REFUSED, SESSION_GONE
from container.drivers.started_processes import adopt_orphans
from container.drivers.tool_servers import check_tool_servers
from container.messages import Message
from orchestrator.contracts.wire.container_io import AgentDefinition, TurnStatus, Usage


class Trouble(StrEnum):
    """What can be mended within a turn, each once."""

    SESSION_GONE = "session_gone"
    TOO_LONG = "too_long"
    DIED_BEFORE = "died_before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try to answer. finished: its end; gone: why there is none. prompts: all that were given.

    was_running: the program had been started for an earlier turn.
    """

    prompts: tuple[str, ...]
    finished: Finished | None = None
    gone: str = ""
    has_begun: bool = False
    was_running: bool = False
    spent: Spent = field(default_factory=Spent)


class ClaudeDriver:
    """Answers in the program's session, which follow-ups join and later runs resume."""

    def __init__(self) -> None:
        self._session: ClaudeSession | None = None
        self._leave: Leave | None = None
        self._running: ClaudeTurn | None = None
        self._over = asyncio.Event()

    async def start(self, context: DriverContext) -> None:
        """Find the program and lay its instructions. Raises NotFound when it is not installed."""
        adopt_orphans()
        await asyncio.to_thread(load_sdk)
        agent = context.given.agent or AgentDefinition(driver="claude")
        await asyncio.to_thread(check_tool_servers, context, agent)
        configuration = configuration_directory(context.places.home)
        instructions = await asyncio.to_thread(write_instructions, configuration, agent.instructions)
        self._leave = Leave(agent.permissions)
        options = replace(claude_options(context, agent, self._leave), instructions=instructions)
        bounds = session_bounds(agent.options)
        self._session = ClaudeSession(context, options, ClaudeSessions(configuration), bounds)

    async def run_turn(self, turn: Turn) -> TurnResult:
        """Answer in the session; what spoils it is mended once: a session gone, too large or too long."""
        assert self._session is not None
        assert self._leave is not None
        self._leave.begin(turn)
        self._over.clear()
        try:
            return await self._answer(turn, self._session)
        finally:
            self._leave.end()
            self._over.set()

    def can_join(self, messages: Sequence[Message]) -> bool:
        """The program takes a prompt in at its next step."""
        return True

    async def join(self, messages: Sequence[Message]) -> bool:
        """Give it to the running session; False when that is at its end."""
        running = self._running
        if running is None or running.is_over:
            return False
        # Should the program be gone, whoever follows the turn meets the same and sees to all its prompts.
        with suppress(ClaudeGone):
            await running.add(prompt_text(messages))
        return True

    async def interrupt(self) -> None:
        """Have the program leave what it does, and wait for it to say so: its session stays whole."""
        running = self._running
        if running is not None and not running.is_over:
            await running.interrupt()
            await self._over.wait()

    async def close(self) -> None:
        """End the program and all it has started."""
        if self._session is not None:
            await self._session.drop()

    async def _answer(self, turn: Turn, session: ClaudeSession) -> TurnResult:
        await session.replace_large(turn)
        prompts: tuple[str, ...] = (prompt_text(turn.messages),)
        mended: set[Trouble] = set()
        spent = Spent()
        while True:
            attempt = await self._attempt(turn, session, "\n".join(prompts))
            spent += attempt.spent
            trouble = _trouble_of(attempt)
            if trouble is None or trouble in mended:
                return await _result(turn, session, attempt, spent)
            mended.add(trouble)
            prompts = attempt.prompts
            if trouble is Trouble.SESSION_GONE:
                session.begin_afresh(SESSION_GONE)
            elif trouble is Trouble.TOO_LONG:
                await session.replace_too_long()

    async def _attempt(self, turn: Turn, session: ClaudeSession, prompt: str) -> Attempt:
        running: ClaudeTurn | None = None
        finished: Finished | None = None
        gone = ""
        was_running = session.is_running
        try:
            client = await session.ready()
            running = ClaudeTurn(client, turn, say=session.say, begun=session.begun)
            await running.add(session.with_memory(prompt))
            self._running = running
            finished = await running.follow()
        except ClaudeGone as error:
            gone = str(error)
            await session.drop()
        finally:
            self._running = None
        if running is None:
            return Attempt(prompts=(prompt,), gone=gone, was_running=was_running)
        return Attempt(
            prompts=(prompt, *running.prompts[1:]),
            finished=finished,
            gone=gone,
            has_begun=running.has_begun,
            was_running=was_running,
            spent=running.spent,
        )


def _trouble_of(attempt: Attempt) -> Trouble | None:
    finished = attempt.finished
    if finished is None:
        if words.is_session_gone(attempt.gone):
            return Trouble.SESSION_GONE
        died_before = attempt.was_running and not attempt.has_begun
        return Trouble.DIED_BEFORE if died_before else None
    if ending_of(finished) is not Ending.FAILED:
        return None
    if words.is_session_gone(finished.text):
        return Trouble.SESSION_GONE
    return Trouble.TOO_LONG if error_of(finished).code == TOO_LONG else None


async def _result(turn: Turn, session: ClaudeSession, attempt: Attempt, spent: Spent) -> TurnResult:
    finished = attempt.finished
    if finished is None:
        return failed(AGENT_ERROR, attempt.gone)
    usage = Usage(
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cost_usd=await session.cost_of(finished),
    )
    match ending_of(finished):
        case Ending.CANCELLED:
            return TurnResult(status=TurnStatus.CANCELLED, usage=usage)
        case Ending.FAILED:
            return TurnResult(status=TurnStatus.ERROR, error=error_of(finished), usage=usage)
        case Ending.OUT_OF_STEPS:
            await session.say(turn, OUT_OF_STEPS)
        case Ending.REFUSED if not turn.outputs:
            await session.say(turn, REFUSED)
        case Ending.REFUSED | Ending.WELL:
            pass
    return TurnResult(usage=usage)
