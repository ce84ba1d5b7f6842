"""One turn at a time: the first from standard input, the others from follow-up files."""

import asyncio
import sys
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from container.box_client import BoxClient
from container.directory_watch import DirectoryWatch
from container.drivers.driver import (
    AGENT_ERROR,
    LASTING,
    PROGRAM_MISSING,
    START_FAILED,
    Driver,
    DriverContext,
    ProgramMissing,
    Turn,
    TurnResult,
    failed,
    load,
)
from container.inputs import InputDirectory, InputFile, UnreadableInput
from container.messages import Message, parse_all, parse_messages, with_triggers
from container.open_turn import OpenTurn, Prompt
from container.output import Output, OutputGone
from container.places import Places
from container.questions import Questions
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import TurnId, is_file_name, new_id
from orchestrator.contracts.wire.boxes import INPUT, Answer, Close, FollowUp
from orchestrator.contracts.wire.container_io import AgentLog, ContainerInput, TurnStatus

_DEFAULT_DRIVER: Final = "builtin"
_INTERRUPT_S: Final = 2.0
_CLOSE_S: Final = 7.5
"""How long a driver may take to interrupt and then to close; the host's own grace is 10 s for both."""
_MAX_ERROR_CHARS: Final = 500


class TurnLoop:
    """Runs turns until it is asked to close or to stop. `run` is called once."""

    def __init__(
        self,
        *,
        given: ContainerInput,
        places: Places,
        output: Output,
        now: Callable[[], datetime],
        use_events: bool = True,
        load_driver: Callable[[str], Driver] = load,
    ) -> None:
        self._context = DriverContext(
            given=given, places=places, box=BoxClient(places.box), output=output, now=now
        )
        self._output = output
        self._inputs = InputDirectory(places.box / INPUT)
        self._use_events = use_events
        self._load_driver = load_driver
        self._changed = asyncio.Event()
        self._stop_wanted = asyncio.Event()
        self._close_wanted = False
        self._waiting: deque[Prompt] = deque()
        self._questions = Questions()
        self._driver: Driver | None = None

    def stop(self) -> None:
        """Cancel the running turn and start no other. From a signal handler of the loop."""
        self._stop_wanted.set()
        self._changed.set()

    async def run(self) -> None:
        """All turns, in order. Raises OutputGone when nobody listens any more."""
        directory = self._context.places.box / INPUT
        watch = DirectoryWatch(directory, self._changed.set, is_wanted=self._use_events)
        try:
            first = _first_prompt(self._context.given)
            if first is not None:
                self._waiting.append(first)
            while await self._has_work(watch):
                await self._run_turn(self._waiting.popleft(), watch)
        finally:
            watch.close()
            await self._close_driver()

    async def _has_work(self, watch: DirectoryWatch) -> bool:
        """Wait for the next prompt; False when there will be none."""
        while not self._stop_wanted.is_set():
            self._waiting.extend(await self._take_inputs())
            if self._waiting:
                return True
            if self._close_wanted:
                return False
            await self._wait_for_change(watch)
        return False

    async def _wait_for_change(self, watch: DirectoryWatch) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(watch.poll_s):
                await self._changed.wait()
        self._changed.clear()

    async def _take_inputs(self) -> list[Prompt]:
        """New follow-ups, in order, up to a wish to close; those behind it are left to the host.

        Answers are taken also then: the turn that is to be finished may wait for one.
        """
        prompts: list[Prompt] = []
        for found in await asyncio.to_thread(self._inputs.take_new):
            if isinstance(found, UnreadableInput):
                await self._output.event(
                    AgentLog(level="warning", message=f"input/{found.name} is unreadable: {found.reason}")
                )
            elif isinstance(found.meaning, Answer):
                self._questions.take(found.meaning)
                await asyncio.to_thread(self._inputs.remove, [found.name])
            elif self._close_wanted:
                continue
            elif isinstance(found.meaning, Close):
                self._close_wanted = True
                await asyncio.to_thread(self._inputs.remove, [found.name])
            else:
                prompts.append(_follow_up_prompt(found, found.meaning))
        return prompts

    async def _run_turn(self, prompt: Prompt, watch: DirectoryWatch) -> None:
        turn = OpenTurn(
            prompt,
            box=self._context.places.box,
            inputs=self._inputs,
            output=self._output,
            questions=self._questions,
        )
        await turn.announce()
        result, late = await self._work_on(turn, watch)
        while late and result.status is TurnStatus.SUCCESS:
            turn.turn.messages = late
            result, late = await self._work_on(turn, watch)
        await turn.finish(result)
        if result.error is not None and result.error.code in LASTING:
            self.stop()  # the host starts another one, with what is mended by then

    async def _work_on(self, turn: OpenTurn, watch: DirectoryWatch) -> tuple[TurnResult, Sequence[Message]]:
        """One run of the driver, and the messages that joined the turn too late for it to hear them."""
        late: list[Message] = []
        async with asyncio.TaskGroup() as tasks:
            work = tasks.create_task(self._attempt(turn.turn), name=f"turn {turn.turn.turn_id}")
            work.add_done_callback(lambda _: self._changed.set())
            while not work.done():
                await self._wait_for_change(watch)
                if self._stop_wanted.is_set():
                    await self._interrupt(work)
                elif not work.done():
                    late.extend(await self._offer_follow_ups(turn))
        if work.cancelled() or (late and self._stop_wanted.is_set()):
            return TurnResult(status=TurnStatus.CANCELLED), ()
        return work.result(), tuple(late)

    async def _offer_follow_ups(self, turn: OpenTurn) -> list[Message]:
        """Let follow-ups join the running turn; those it wants but can't hear any more are returned.

        Once one has to wait, all behind it wait as well: their order is the chat's order.
        """
        late: list[Message] = []
        if self._driver is None:  # still starting: whether they may join is asked when it is up
            return late
        for prompt in await self._take_inputs():
            if self._waiting or not self._driver.can_join(prompt.messages):
                self._waiting.append(prompt)
                continue
            await turn.grow(prompt)
            if not await self._join(self._driver, prompt.messages):
                late.extend(prompt.messages)
        return late

    async def _join(self, driver: Driver, messages: Sequence[Message]) -> bool:
        try:
            return await driver.join(messages)
        except Exception:  # a driver is a foreign callback; the follow-up is ours by now and must be heard
            traceback.print_exc(file=sys.stderr)
            return False

    async def _attempt(self, turn: Turn) -> TurnResult:
        """The driver's own part; whatever it raises is a failed turn."""
        try:
            if self._driver is None:
                try:
                    self._driver = await self._start_driver()
                except DovecoteError as error:
                    if error.retryable:
                        raise
                    traceback.print_exc(file=sys.stderr)
                    return failed(START_FAILED, str(error)[:_MAX_ERROR_CHARS])
                self._changed.set()
            return await self._driver.run_turn(turn)
        except ProgramMissing as error:
            traceback.print_exc(file=sys.stderr)
            return failed(PROGRAM_MISSING, str(error)[:_MAX_ERROR_CHARS])
        except OutputGone:
            # Nobody hears how the turn ended; `finish` meets the same error and ends the process.
            return failed(AGENT_ERROR, "standard output is gone")
        except Exception as error:  # a driver is a foreign callback; its faults are the turn's alone
            traceback.print_exc(file=sys.stderr)
            return failed(AGENT_ERROR, f"{type(error).__name__}: {error}"[:_MAX_ERROR_CHARS])

    async def _start_driver(self) -> Driver:
        agent = self._context.given.agent
        driver = self._load_driver(agent.driver if agent is not None else _DEFAULT_DRIVER)
        try:
            await driver.start(self._context)
        except BaseException:
            await self._wind_up(driver.close, _CLOSE_S)
            raise
        return driver

    async def _interrupt(self, work: asyncio.Task[TurnResult]) -> None:
        if self._driver is not None:
            await self._wind_up(self._driver.interrupt, _INTERRUPT_S)
        work.cancel()
        await asyncio.wait({work})

    async def _close_driver(self) -> None:
        if self._driver is not None:
            await self._wind_up(self._driver.close, _CLOSE_S)

    async def _wind_up(self, step: Callable[[], Awaitable[None]], at_most_s: float) -> None:
        try:
            async with asyncio.timeout(at_most_s):
                await step()
        except Exception:  # a driver is a foreign callback; we stop it in any case
            traceback.print_exc(file=sys.stderr)


def _first_prompt(given: ContainerInput) -> Prompt | None:
    """The prompt of standard input; None when it holds nothing to answer yet."""
    messages = parse_all(given.messages) or parse_messages(given.task_context or given.prompt)
    if not messages and not given.inputs:
        return None
    return Prompt(
        messages=with_triggers(messages, given.triggers),
        ids=given.inputs or _ids_of(messages),
        turn_id=_turn_id_or_fresh(given.turn_id),
    )


def _follow_up_prompt(file: InputFile, follow_up: FollowUp) -> Prompt:
    messages = parse_messages(follow_up.content)
    return Prompt(
        messages=with_triggers(messages, follow_up.triggers),
        ids=follow_up.ids or _ids_of(messages),
        turn_id=_turn_id_or_fresh(follow_up.turn_id),
        file_name=file.name,
    )


def _ids_of(messages: Sequence[Message]) -> tuple[str, ...]:
    return tuple(message.message_id for message in messages if message.message_id)


def _turn_id_or_fresh(turn_id: TurnId | None) -> TurnId:
    """The given id if it can be a file's name; hosts that know only the older dialect give none."""
    return turn_id if turn_id is not None and is_file_name(turn_id) else TurnId(new_id("turn"))
