"""What an agent prints, item by item: texts and turns go to the store, other lines back to be logged."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from orchestrator.commands.running.turns import PairKey, begin_turn, end_turn
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import TurnId, is_file_name
from orchestrator.contracts.records.agents import Agent, DeathCause
from orchestrator.contracts.seams import Boxes
from orchestrator.contracts.wire.codec import WireError
from orchestrator.contracts.wire.container_io import (
    AgentEvent,
    AgentLog,
    Progress,
    Ready,
    SessionNamed,
    TurnEnded,
    TurnStarted,
    WaitingInput,
    parse_event,
)
from orchestrator.contracts.wire.framing import EventLine, Frame1x, LogLine, OutputItem, Text
from orchestrator.core.agents.unstartable import Need
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.engine.log_events import LogEvents
from orchestrator.engine.output_rate import OutputRate
from orchestrator.engine.pair_keeping import KeepPair, keep_for_chat
from orchestrator.engine.persistence import persist
from orchestrator.store import sessions

_log = structlog.get_logger(__name__)

MAX_TURN_OUTPUT_BYTES: Final = 10 * 1024 * 1024
_ORDER_WAIT_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCallbacks:
    """What the collector tells the run that owns it."""

    ready: Callable[[Ready], None]
    turn_started: Callable[[TurnStarted], None]
    turn_ended: Callable[[TurnEnded], Awaitable[None]]
    asked: Callable[[WaitingInput, TurnId | None], Awaitable[None]]
    showed_life: Callable[[], None]
    said_something: Callable[[], None]
    cancelled_by: Callable[[], DeathCause]
    provider_failure: Callable[[], str | None]
    needed: Callable[[], Sequence[Need]]


class TurnCollector:
    """Takes the output of one agent in order; an item is stored when `take` returns."""

    def __init__(
        self,
        services: Services,
        boxes: Boxes,
        agent: Agent,
        callbacks: RunCallbacks,
        rate: OutputRate,
        *,
        log: LogEvents,
        keep: KeepPair = keep_for_chat,
    ) -> None:
        self.rate = rate
        self.log = log
        self._keep = keep
        self._services = services
        self._boxes = boxes
        self._agent = agent
        self._callbacks = callbacks
        self._turn_id: TurnId | None = None
        self._pairs = 0
        self._turn_bytes = 0

    async def take(self, items: Sequence[OutputItem]) -> list[str]:
        """Store what the items say. Returns the lines that belong into the agent's log."""
        log_lines: list[str] = []
        for item in items:
            match item:
                case Text(text=text):
                    await self.take_text(text)
                case Frame1x(status=status):
                    log_lines.append(f"a frame of the 1.x dialect ({status}) from an agent of this version")
                case EventLine(plain=plain):
                    log_lines += await self._take_event(plain)
                case LogLine(text=text):
                    log_lines += await self.log.note_lines([text])
        await self.log.keep_count()
        return log_lines

    async def take_text(self, text: str, *, turn_id: TurnId | None = None) -> None:
        """One pair. What the agent asked for before it is taken first, so that order is the agent's."""
        if self._pairs < self._agent.pairs:
            self._pairs += 1  # an earlier process took it
            self._turn_bytes += len(text.encode())
            return
        is_in_time = await self.rate.before_pair()
        if not is_in_time and self._turn_bytes > MAX_TURN_OUTPUT_BYTES:
            return
        await self._boxes.take_waiting_texts(self._agent.box, at_most_s=_ORDER_WAIT_S)
        self._services.checkpoints.reached("pair.read")
        self._pairs += 1
        key = PairKey(agent=self._agent, ordinal=self._pairs, turn_id=turn_id or self._turn_id)
        await self._keep(self._services, key, self._within_limit(text, is_in_time=is_in_time))
        self._services.checkpoints.reached("outbox.committed")
        self._callbacks.said_something()

    def _within_limit(self, text: str, *, is_in_time: bool) -> str:
        """The text, or what a turn that says too much is given instead: a note, then nothing.

        is_in_time: False of what a dead agent printed faster than it may; it is cut as well.
        """
        before = self._turn_bytes
        self._turn_bytes += len(text.encode()) if is_in_time else MAX_TURN_OUTPUT_BYTES + 1
        if self._turn_bytes <= MAX_TURN_OUTPUT_BYTES:
            return text
        if before > MAX_TURN_OUTPUT_BYTES:
            return ""
        return say(
            Say.TURN_CUT if is_in_time else Say.TURN_TOO_FAST, self._services.settings.assistant.locale
        )

    async def _take_event(self, plain: object) -> list[str]:
        try:
            event = parse_event(plain)
        except WireError as error:
            return [f"unreadable event: {error}"]
        if isinstance(event, AgentLog):
            return [f"{event.level}: {event.message}"] if await self.log.note_log(event) else []
        await self.rate.before_event(event)
        self._callbacks.showed_life()
        await self._act_on(event)
        return []

    async def _act_on(self, event: AgentEvent) -> None:
        services, at = self._services, self._services.clock.now()
        match event:
            case Ready():
                self._callbacks.ready(event)
            case TurnStarted(turn_id=turn_id) if is_file_name(turn_id):
                given = await persist(services, lambda tx: begin_turn(tx, self._agent, event))
                if given != self._turn_id:
                    self._turn_id, self._turn_bytes = given, 0
                self._boxes.set_turn(self._agent.box, given)
                self._callbacks.turn_started(event)
            case TurnEnded(turn_id=turn_id) if is_file_name(turn_id):
                await self._end_turn(event)
            case Progress():
                await self.log.note_progress(event)
            case WaitingInput():
                await self._boxes.take_waiting_texts(self._agent.box, at_most_s=_ORDER_WAIT_S)
                await self._callbacks.asked(event, self._turn_id)
            case SessionNamed(session_id=session_id) if is_file_name(session_id):
                await persist(
                    services,
                    lambda tx: sessions.keep(tx, self._agent, session_id, at=at),
                )
            case _:
                _log.debug("agent.event", agent=self._agent.agent_id, type=event.type)

    async def _end_turn(self, event: TurnEnded) -> None:
        services, at = self._services, self._services.clock.now()
        await self._boxes.take_waiting_texts(self._agent.box, at_most_s=_ORDER_WAIT_S)
        services.checkpoints.reached("turn_ended.read")
        cause, failure = self._callbacks.cancelled_by(), self._callbacks.provider_failure()
        needed = self._callbacks.needed()
        await persist(
            services,
            lambda tx: end_turn(
                tx,
                services,
                self._agent,
                event,
                cancelled_by=cause,
                at=at,
                provider_failure=failure,
                needed=needed,
            ),
        )
        self._turn_id, self._turn_bytes = None, 0
        self._boxes.set_turn(self._agent.box, None)
        _log.info(
            "turn.ended",
            agent=self._agent.agent_id,
            group=self._agent.group,
            status=event.status.value,
            outputs=event.outputs,
        )
        await self._callbacks.turn_ended(event)
