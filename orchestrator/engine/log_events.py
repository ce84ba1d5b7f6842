"""What an agent logs, and how far it says it is, as events. Its log file has all lines, events some.

An adopted agent says all of it again, so what was heard is counted in the transaction that notes it.
"""

from collections.abc import Sequence
from typing import Final

from orchestrator.commands.agents.event_writing import note_progress_of, note_said
from orchestrator.commands.services import Services
from orchestrator.contracts.events import LogLevel
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.wire.container_io import AgentLog, Progress
from orchestrator.engine.persistence import persist
from orchestrator.store.line_counts import count_lines
from orchestrator.store.transaction import Transaction

Line = tuple[LogLevel, str]
_MINUTE_S: Final = 60.0
_LEVELS: Final = {each.value: each for each in LogLevel} | {"warning": LogLevel.WARN}
_TOO_MANY: Final = (
    LogLevel.WARN,
    "More lines than become events in a minute; the agent's log file has those that are missing here.",
)


class _LineCount:
    """How many lines of one stream this process has read. before: so many an earlier one had heard."""

    def __init__(self, agent_id: AgentId, *, before: int, is_error: bool) -> None:
        self._agent_id = agent_id
        self._kept = before
        self._is_error = is_error
        self._count = 0

    @property
    def is_kept(self) -> bool:
        """Whether the store has the count."""
        return self._count <= self._kept

    def is_new(self) -> bool:
        """Count one more line; False if an earlier process had heard it."""
        self._count += 1
        return self._count > self._kept

    def keep(self, tx: Transaction) -> None:
        """Store the count."""
        if self._is_error:
            count_lines(tx, self._agent_id, error_lines=self._count)
        else:
            count_lines(tx, self._agent_id, lines=self._count)

    def kept(self) -> None:
        """The store has the count by now."""
        self._kept = max(self._kept, self._count)


class LogEvents:
    """The lines and the progress of one agent. Each of its two streams is read by one task."""

    def __init__(self, services: Services, agent: Agent) -> None:
        self._services = services
        self._agent = agent
        self._per_minute = services.settings.events.log_lines_per_minute
        self._minute_began_s = services.clock.monotonic()
        self._lines = 0
        self._output = _LineCount(agent.agent_id, before=agent.lines, is_error=False)
        self._errors = _LineCount(agent.agent_id, before=agent.error_lines, is_error=True)

    async def note_lines(self, texts: Sequence[str]) -> list[str]:
        """Lines of which nobody said how grave they are. Returns those that no earlier process heard."""
        new = [text for text in texts if self._output.is_new()]
        await self._note([(LogLevel.INFO, text) for text in new], self._output)
        return new

    def new_error_lines(self, texts: Sequence[str]) -> list[str]:
        """Of the next lines of standard error, those that no earlier process heard."""
        return [text for text in texts if self._errors.is_new()]

    async def note_error_lines(self, texts: Sequence[str]) -> None:
        """As `note_lines`, of what `new_error_lines` gave."""
        await self._note([(LogLevel.INFO, text) for text in texts], self._errors)
        await self._keep(self._errors)

    async def note_log(self, event: AgentLog) -> bool:
        """A line with the level that the agent gave it. False if an earlier process heard it."""
        if not self._output.is_new():
            return False
        await self._note([(_LEVELS.get(event.level, LogLevel.INFO), event.message)], self._output)
        return True

    async def note_progress(self, event: Progress) -> None:
        """How far the agent says it is."""
        if not self._output.is_new():
            return
        agent, at = self._agent, self._services.clock.now()

        def body(tx: Transaction) -> None:
            note_progress_of(tx, agent, event.progress, event.description, at=at)
            self._output.keep(tx)

        await persist(self._services, body)
        self._output.kept()

    async def keep_count(self) -> None:
        """Store how much of standard output was heard, also of what became no event."""
        await self._keep(self._output)

    async def _keep(self, count: _LineCount) -> None:
        if not count.is_kept:
            await persist(self._services, count.keep)
            count.kept()

    async def _note(self, lines: Sequence[Line], count: _LineCount) -> None:
        kept = [each for line in lines for each in self._within_rate(line)]
        if not kept:
            return
        agent, at = self._agent, self._services.clock.now()

        def body(tx: Transaction) -> None:
            for level, text in kept:
                note_said(tx, agent, text, at=at, level=level)
            count.keep(tx)

        await persist(self._services, body)
        count.kept()

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
