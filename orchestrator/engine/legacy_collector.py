"""What a legacy agent prints becomes texts and turns: it knows no events, so each pair ends a turn.

Source: contracts.md section 2.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from orchestrator.commands.running.legacy_turns import begin_legacy_turn, end_legacy_turn
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import TurnId, new_id
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.seams import BoxPort
from orchestrator.contracts.wire.container_io import TurnError
from orchestrator.contracts.wire.framing import EventLine, Frame1x, LogLine, OutputItem, Text
from orchestrator.engine.persistence import persist
from orchestrator.engine.turn_collector import TurnCollector
from orchestrator.store import agents, sessions

_PROVIDER_ERROR: Final = "API Error:"
"""How the 1.x runner says, as if it were an answer, that its provider failed."""


class LegacyCollector:
    """Takes the output of one legacy agent in order."""

    def __init__(
        self,
        services: Services,
        agent: Agent,
        box: BoxPort,
        texts: TurnCollector,
        *,
        first_turn: TurnId,
        turn_over: Callable[[], Awaitable[None]],
    ) -> None:
        self._services = services
        self._agent = agent
        self._box = box
        self._texts = texts
        self.log = texts.log
        self._turn_id = first_turn
        self._turn_over = turn_over
        self._held: str | None = None

    async def begin(self) -> None:
        """Standard input was written."""
        at = self._services.clock.now()
        await persist(self._services, lambda tx: begin_legacy_turn(tx, self._agent, self._turn_id, at=at))

    async def take(self, items: Sequence[OutputItem]) -> list[str]:
        """Store what the items say. Returns the lines that belong into the agent's log."""
        log_lines: list[str] = []
        for item in items:
            match item:
                case Text(text=text):
                    await self._take_answer(text)
                case Frame1x(status="success", result=None, new_session_id=session_id):
                    await self._texts.rate.before_event()
                    await self._keep_session(session_id)
                    await self._release_held()
                    await self._end(None)
                case Frame1x(status="success", result=str(text), new_session_id=session_id):
                    await self._keep_session(session_id)
                    await self._take_answer(text)
                case Frame1x(error=error):
                    # Its text is never an answer, and its session id is not to be trusted.
                    await self._texts.rate.before_event()
                    self._held = None
                    log_lines.append(f"agent error: {error}")
                    await self._end(_provider_error(error))
                case EventLine():
                    log_lines.append("an event line from an agent that should know none")
                case LogLine(text=text):
                    log_lines += await self.log.note_lines([text])
        return log_lines

    async def finish(self, *, ended_well: bool) -> None:
        """The output is over. A good exit answers all that the agent took."""
        if not ended_well:
            self._held = None
            return
        await self._release_held()
        await self._end(None)

    async def _take_answer(self, text: str) -> None:
        await self._release_held()
        if text.lstrip().startswith(_PROVIDER_ERROR):
            self._held = text
            return
        await self._say(text)

    async def _release_held(self) -> None:
        """What looked like a provider's error was followed by no error: it was an answer."""
        if self._held is not None:
            text, self._held = self._held, None
            await self._say(text)

    async def _say(self, text: str) -> None:
        agent, turn_id, at = self._agent, self._turn_id, self._services.clock.now()
        await persist(
            self._services,
            lambda tx: agents.start_turn(tx, agent.agent_id, turn_id, agent.chat_jid, at=at),
        )
        await self._texts.take_text(text, turn_id=turn_id)
        await self._end(None)

    async def _end(self, error: TurnError | None) -> None:
        unread = await self._box.unread_inputs()
        turn_id, at = self._turn_id, self._services.clock.now()
        await persist(
            self._services,
            lambda tx: end_legacy_turn(
                tx, self._services, self._agent, turn_id, unread=unread, error=error, at=at
            ),
        )
        self._turn_id = TurnId(new_id("turn"))
        await self._turn_over()

    async def _keep_session(self, session_id: str | None) -> None:
        if session_id is None:
            return
        agent, at = self._agent, self._services.clock.now()
        await persist(
            self._services,
            lambda tx: sessions.keep(tx, agent, session_id, at=at),
        )


def _provider_error(text: str | None) -> TurnError:
    return TurnError(code="PROVIDER_OVERLOADED" if text else "AGENT_ERROR", message=text or "")
