"""The driver for any program that speaks the Agent Client Protocol. Source: agents.md section 4.

A later message during a turn becomes a turn of its own: the protocol has no way to add to a prompt.
"""

import asyncio
import os
import sys
from collections import deque
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from container.drivers import session_words as words
from container.drivers.acp_endings import Ended, ProgramFailed, program_failure
from container.drivers.acp_errors import error_in_answer
from container.drivers.acp_program import check_start
from container.drivers.acp_updates import Scribe, Updates
from container.drivers.driver import DriverContext, Turn, TurnResult
from container.drivers.leave import LEAVE_WAIT_S, LeaveAsker
from container.drivers.prompt_text import prompt_text
from container.drivers.started_processes import adopt_orphans
from container.drivers.tool_servers import check_tool_servers
from container.mcp_server import TOOLS_VARIABLE
from container.messages import Message
from orchestrator.contracts.errors import ErrorCode, NotFound
from orchestrator.contracts.ids import is_file_name
from orchestrator.contracts.wire.container_io import AgentDefinition, TurnStatus, Usage

if TYPE_CHECKING:  # what speaks the protocol is large, and is loaded when a program is started
    from container.drivers.acp_launch import Launched

SILENCE_S: Final = 600.0
"""A program that says nothing for so long, while no tool runs and nobody is asked, hangs."""
_DEFAULT_PACKAGES: Final = "/opt/dovecote-tools"
_CANCELLED_S: Final = 2.0
_INTERRUPTED_S: Final = 1.0
_QUIET_S: Final = 0.05
_QUIET_LOOKS: Final = 20


class AcpDriver:
    """Answers in a program's session, which later runs resume. silence_s, leave_wait_s: for tests."""

    def __init__(self, *, silence_s: float = SILENCE_S, leave_wait_s: float = LEAVE_WAIT_S) -> None:
        self._silence_s = silence_s
        self._asker = LeaveAsker(wait_s=leave_wait_s)
        self._updates = Updates()
        self._notes: deque[str] = deque()
        self._over = asyncio.Event()
        self._over.set()
        self._context: DriverContext | None = None
        self._agent = AgentDefinition(driver="acp")
        self._launched: Launched | None = None
        self._session_id: str | None = None
        self._startup = ""
        self._cost_usd: float | None = None

    async def start(self, context: DriverContext) -> None:
        """See that a program can be started; it is with the first turn. Raises DovecoteError."""
        self._context = context
        self._agent = context.given.agent or self._agent
        self._session_id = context.given.session_id
        await asyncio.to_thread(
            check_start,
            self._agent.command,
            directory=context.places.workspace,
            extra=self._agent.extra_directories,
            permissions=self._agent.permissions,
        )
        await asyncio.to_thread(check_tool_servers, context, self._agent)
        await asyncio.to_thread(_find_packages)
        adopt_orphans()

    async def run_turn(self, turn: Turn) -> TurnResult:
        """Answer in the session. A session that is gone is replaced once, and people are told."""
        self._asker.begin(turn)
        self._over.clear()
        try:
            return await self._answer(turn)
        finally:
            self._asker.end()
            self._over.set()

    def can_join(self, messages: Sequence[Message]) -> bool:
        """Never: a prompt is given whole."""
        return False

    async def join(self, messages: Sequence[Message]) -> bool:
        """Never."""
        return False

    async def interrupt(self) -> None:
        """Have the program leave what it does, and wait a moment for it to say so."""
        if self._launched is None or self._over.is_set():
            return
        self._asker.end()
        await self._launched.session.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(_INTERRUPTED_S):
                await self._over.wait()

    async def close(self) -> None:
        """End the program and all it has started."""
        await self._drop()

    async def _answer(self, turn: Turn) -> TurnResult:
        prompt = prompt_text(turn.messages)
        is_mended = False
        while True:
            try:
                launched = await self._ready()
                result = await self._converse(launched, turn, prompt, may_be_empty=is_mended)
            except ProgramFailed as failure:
                if self._launched is not None and not self._launched.session.is_alive:
                    await self._drop()
                if is_mended or turn.outputs or not failure.is_session_gone:
                    return TurnResult(status=TurnStatus.ERROR, error=failure.error)
                await self._drop()
                self._session_id = None
                self._notes.append(words.SESSION_GONE)
                result = None
            if result is not None:
                return result
            is_mended = True

    async def _ready(self) -> "Launched":
        """The running program with its session."""
        if self._launched is not None and self._launched.session.is_alive:
            return self._launched
        await self._drop()
        from container.drivers.acp_launch import launch

        context = self._context
        assert context is not None
        launched = await launch(
            context, self._agent, asker=self._asker, updates=self._updates, resume=self._session_id
        )
        self._launched = launched
        self._startup = self._agent.instructions
        self._cost_usd = None if launched.is_resumed else 0.0
        if launched.is_gone:
            self._notes.append(words.SESSION_GONE)
        session_id = launched.session.session_id
        if session_id is not None and launched.session.can_be_resumed and is_file_name(session_id):
            self._session_id = session_id
            await context.name_session(session_id)
        else:
            self._session_id = None
        return launched

    async def _converse(
        self, launched: "Launched", turn: Turn, prompt: str, *, may_be_empty: bool
    ) -> TurnResult | None:
        """One prompt. None: it came back empty at once, as one program's first after a cancel does."""
        scribe = Scribe(turn, self._notes)
        try:
            ended = await self._ask(launched, scribe, prompt)
        finally:
            launched.client.forget_leave()
            while launched.session.dropped:
                what = launched.session.dropped.popleft()
                await turn.log(f"Left out: {what}.", level="warning")
        self._startup = ""
        await launched.session.keep_mode(scribe.told.mode)
        is_empty = ended.stop_reason == "end_turn" and not ended.input_tokens and not scribe.told.has_any
        if is_empty and not may_be_empty:
            return None
        return await self._result(turn, scribe, ended)

    async def _ask(self, launched: "Launched", scribe: Scribe, prompt: str) -> Ended:
        self._updates.open()
        try:
            async with asyncio.TaskGroup() as tasks:
                asking = launched.session.prompt(prompt, startup=self._startup)
                asked = tasks.create_task(_outcome(asking), name="prompt")
                asked.add_done_callback(lambda _: self._updates.wake())
                is_silent = not await self._follow(launched, scribe, asked)
        finally:
            self._updates.close()
        if is_silent:
            raise program_failure(f"The agent program said nothing for {self._silence_s:.0f} s.")
        outcome = asked.result()
        if isinstance(outcome, ProgramFailed):
            raise outcome
        return outcome

    async def _follow(
        self, launched: "Launched", scribe: Scribe, asked: asyncio.Task[Ended | ProgramFailed]
    ) -> bool:
        """Write down what the program does until its prompt is over; False if it hangs and was ended."""
        while not asked.done():
            await self._write_down(scribe)
            if await self._updates.change(at_most_s=self._silence_s) or asked.done():
                continue
            if scribe.is_using_tools or launched.terminals.is_running or self._asker.is_waiting:
                continue
            await launched.session.cancel()
            await asyncio.wait({asked}, timeout=_CANCELLED_S)
            await self._drop()
            return False
        for _ in range(_QUIET_LOOKS):  # what a program says just behind the end is of this turn too
            await self._write_down(scribe)
            if not await self._updates.change(at_most_s=_QUIET_S):
                break
        await self._write_down(scribe)
        return True

    async def _write_down(self, scribe: Scribe) -> None:
        while (update := self._updates.take()) is not None:
            await scribe.take(update)

    async def _result(self, turn: Turn, scribe: Scribe, ended: Ended) -> TurnResult:
        usage = Usage(
            input_tokens=ended.input_tokens,
            output_tokens=ended.output_tokens,
            cost_usd=self._cost_since(scribe.told.cost_usd),
        )
        if ended.stop_reason == "cancelled":
            return TurnResult(status=TurnStatus.CANCELLED, usage=usage)
        error = None if ended.input_tokens or turn.outputs else error_in_answer(scribe.unsaid)
        if error is not None:
            return TurnResult(status=TurnStatus.ERROR, error=error, usage=usage)
        await scribe.say_unsaid()
        match ended.stop_reason:
            case "max_tokens":
                await scribe.say(words.CUT_SHORT)
            case "max_turn_requests":
                await scribe.say(words.OUT_OF_STEPS)
            case "refusal" if not turn.outputs:
                await scribe.say(words.REFUSED)
        return TurnResult(usage=usage)

    def _cost_since(self, total_usd: float | None) -> float | None:
        """What the session has cost since we last asked; None where that is not known."""
        if total_usd is None:
            return None
        before, self._cost_usd = self._cost_usd, total_usd
        return None if before is None else max(total_usd - before, 0.0)

    async def _drop(self) -> None:
        """End the program; the session stays."""
        launched, self._launched = self._launched, None
        if launched is not None:
            await launched.session.stop()


async def _outcome(asking: Awaitable[Ended]) -> Ended | ProgramFailed:
    """A failure as a value: raised in a task of its own it would come as a group."""
    try:
        return await asking
    except ProgramFailed as failure:
        return failure


def _find_packages() -> None:
    """Load what speaks the protocol, from where the tool server's packages lie. Blocks: in a thread.

    Raises NotFound, with the remedy.
    """
    packages = os.environ.get(TOOLS_VARIABLE, _DEFAULT_PACKAGES)
    if os.path.isdir(packages) and packages not in sys.path:
        sys.path.insert(0, packages)
    try:
        import container.drivers.acp_launch  # noqa: F401  loaded here: it takes a second
    except ModuleNotFoundError as error:
        raise NotFound(
            f"There is no {error.name!r} in {packages}.",
            code=ErrorCode.NOT_FOUND,
            suggestion="Build the image again with `dovecote image build`.",
        ) from error
