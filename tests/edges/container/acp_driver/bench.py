"""The driver `acp` in this process, with a planned program in one of its own."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from container.box_client import BoxClient
from container.drivers.acp_driver import AcpDriver
from container.drivers.driver import DriverContext, Turn, TurnResult
from container.messages import Message
from container.output import Output
from container.places import Places
from container.questions import Questions
from orchestrator.contracts.ids import GroupFolder, Jid, TurnId
from orchestrator.contracts.wire.boxes import Answer
from orchestrator.contracts.wire.container_io import (
    AgentDefinition,
    AgentEvent,
    ContainerInput,
    SessionNamed,
    WaitingInput,
    parse_event,
)
from orchestrator.contracts.wire.framing import EventLine, OutputReader, Text
from tests.edges.container.agent_process import Home

PROGRAM: Final = Path(__file__).parents[3] / "support" / "acp_agent.py"
PATIENCE_S: Final = 60.0
NOW: Final = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)


@dataclass(slots=True, kw_only=True)
class Bench:
    """One driver, and all that it printed. records: what the program was asked."""

    home: Home
    driver: AcpDriver
    context: DriverContext
    items: list[Text | AgentEvent] = field(default_factory=list)
    questions: Questions = field(default_factory=Questions)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def texts(self) -> list[str]:
        return [item.text for item in self.items if isinstance(item, Text)]

    @property
    def sessions(self) -> list[str]:
        return [item.session_id for item in self.items if isinstance(item, SessionNamed)]

    @property
    def asked(self) -> list[WaitingInput]:
        return [item for item in self.items if isinstance(item, WaitingInput)]

    def records(self, call: str | None = None) -> list[dict[str, Any]]:
        path = self.home.root / "record.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [record for line in lines if (record := json.loads(line)) and call in (None, record["call"])]

    async def turn(self, text: str = "hello") -> TurnResult:
        """One whole turn."""
        turn = Turn(
            turn_id=TurnId("turn-1"),
            messages=(Message(text=text),),
            output=self.context.output,
            questions=self.questions,
        )
        async with asyncio.timeout(PATIENCE_S):
            return await self.driver.run_turn(turn)

    async def until(self, condition: Any) -> None:
        """Wait until the condition holds; it may be about files."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():  # noqa: ASYNC110  the program's record gives no event
                await asyncio.sleep(0.01)

    async def answer(self, text: str, *, option: int | None = None) -> None:
        """Answer the open question, once it is asked."""
        count = len(self.asked)
        await self.until(lambda: len(self.asked) >= max(count, 1))
        self.questions.take(Answer(question_id=self.asked[-1].question_id, text=text, option=option))


def planned_command(home: Home, plan: Mapping[str, object]) -> tuple[str, ...]:
    """The command of a program that does what the plan says."""
    path = home.root / "plan.json"
    path.write_text(json.dumps(plan))
    return (sys.executable, "-P", str(PROGRAM), str(path), str(home.root / "record.jsonl"))


def places_of(home: Home) -> Places:
    return Places(
        workspace=home.workspace, shared=home.root / "shared", box=home.box, home=home.root / "home"
    )


@asynccontextmanager
async def bench(
    home: Home,
    plan: Mapping[str, object] | None = None,
    *,
    command: Sequence[str] | None = None,
    session_id: str | None = None,
    silence_s: float = PATIENCE_S,
    leave_wait_s: float = PATIENCE_S,
    now: datetime = NOW,
    **definition: Any,
) -> AsyncIterator[Bench]:
    """A driver that is started, and closed at the end. definition: fields of AgentDefinition."""
    words = tuple(command) if command is not None else planned_command(home, plan or {})
    agent = AgentDefinition(driver="acp", command=words, **({"stop_wait_s": 5.0} | definition))
    given = ContainerInput(
        messages=(),
        prompt="",
        group_folder=GroupFolder("family"),
        chat_jid=Jid("console:family"),
        assistant_name="Assistant",
        session_id=session_id,
        agent=agent,
    )
    reading, writing = os.pipe()
    places = places_of(home)
    context = DriverContext(
        given=given, places=places, box=BoxClient(places.box), output=Output(writing), now=lambda: now
    )
    driver = AcpDriver(silence_s=silence_s, leave_wait_s=leave_wait_s)
    running = Bench(home=home, driver=driver, context=context)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: _Heard(running), os.fdopen(reading, "rb", buffering=0)
    )
    try:
        await driver.start(context)
        yield running
    finally:
        await driver.close()
        await context.output.flush()
        os.close(writing)
        await running.until(transport.is_closing)
        transport.close()


class _Heard(asyncio.Protocol):
    """What the driver prints, as the host reads it."""

    def __init__(self, running: Bench) -> None:
        self._running = running
        self._reader = OutputReader()

    def data_received(self, data: bytes) -> None:
        self._take(self._reader.feed(data))

    def eof_received(self) -> bool:
        self._take(self._reader.finish())
        return False

    def _take(self, items: Sequence[object]) -> None:
        for item in items:
            if isinstance(item, EventLine):
                self._running.items.append(parse_event(item.plain))
            elif isinstance(item, Text):
                self._running.items.append(item)
