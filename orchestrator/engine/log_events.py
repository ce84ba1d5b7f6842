"""What an agent logs, and how far it says it is, as events. Its log file has all lines, events some."""

from collections.abc import Sequence
from typing import Final

from orchestrator.commands.agents.agent_events import note_progress_of, note_said
from orchestrator.commands.services import Services
from orchestrator.contracts.events import LogLevel
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.wire.container_io import AgentLog, Progress
from orchestrator.engine.persistence import persist
from orchestrator.store.database import Transaction

Line = tuple[LogLevel, str]
_MINUTE_S: Final = 60.0
_LEVELS: Final = {each.value: each for each in LogLevel} | {"warning": LogLevel.WARN}
_TOO_MANY: Final = (
    LogLevel.WARN,
    "More lines than become events in a minute; the agent's log file has those that are missing here.",
)


class LogEvents:
    """The lines and the progress of one agent."""

    def __init__(self, services: Services, agent: Agent) -> None:
        self._services = services
        self._agent = agent
        self._per_minute = services.settings.events.log_lines_per_minute
        self._minute_began_s = services.clock.monotonic()
        self._lines = 0

    async def note_lines(self, texts: Sequence[str]) -> None:
        """Lines of which nobody said how grave they are."""
        await self._note([(LogLevel.INFO, text) for text in texts])

    async def note_log(self, event: AgentLog) -> None:
        """A line with the level that the agent gave it."""
        await self._note([(_LEVELS.get(event.level, LogLevel.INFO), event.message)])

    async def note_progress(self, event: Progress) -> None:
        """How far the agent says it is."""
        agent, at = self._agent, self._services.clock.now()
        await persist(
            self._services,
            lambda tx: note_progress_of(tx, agent, event.progress, event.description, at=at),
        )

    async def _note(self, lines: Sequence[Line]) -> None:
        kept = [each for line in lines for each in self._within_rate(line)]
        if not kept:
            return
        agent, at = self._agent, self._services.clock.now()

        def body(tx: Transaction) -> None:
            for level, text in kept:
                note_said(tx, agent, text, at=at, level=level)

        await persist(self._services, body)

    def _within_rate(self, line: Line) -> Sequence[Line]:
        """The line; once, when there are too many, a word about that; then nothing while there are."""
        if self._per_minute == 0 or not line[1].strip():
            return ()
        now = self._services.clock.monotonic()
        if now - self._minute_began_s >= _MINUTE_S:
            self._minute_began_s, self._lines = now, 0
        self._lines += 1
        if self._lines <= self._per_minute:
            return (line,)
        return (_TOO_MANY,) if self._lines == self._per_minute + 1 else ()
