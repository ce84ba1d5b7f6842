"""A box keeper alone: a real store, real boxes, no agents, nothing held back by rates."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from orchestrator.app.garbage import leave_loaded_alone
from orchestrator.app.ground import make_hints
from orchestrator.app.parts import SystemClock
from orchestrator.cli.store_services import NoAgents
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid, RequestId
from orchestrator.contracts.seams import BoxPort
from orchestrator.contracts.wire.boxes import MESSAGES
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.codec import to_json
from orchestrator.engine.wakeups import TopicWakeups
from orchestrator.ipc.boxes import BoxKeeper
from orchestrator.ipc.lane import IntakeLimits
from orchestrator.settings.tree import Settings
from orchestrator.store import groups
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.benchmarks.bench_app import bench_home
from tests.benchmarks.bench_channel import NOON
from tests.benchmarks.sampling import Marks

POLL_S: Final = 1.0
_NO_RATE: Final = IntakeLimits(per_minute=None, max_entries=30_000)


@dataclass(slots=True, kw_only=True)
class Watched:
    """Boxes that are ready to be watched."""

    keeper: BoxKeeper
    database: Database
    marks: Marks
    boxes: Sequence[BoxPort]
    directories: list[Path] = field(init=False)
    """Where the messages of each are put."""

    def __post_init__(self) -> None:
        self.directories = [Path(self.keeper.path_of(box.name)) / MESSAGES for box in self.boxes]

    async def renew(self) -> None:
        """Fresh boxes in the place of these, watched by nobody yet."""
        self.boxes = [await self.keeper.make(box.name, uid=None, gid=None) for box in self.boxes]

    def watch_all(self) -> None:
        """Take requests from now on."""
        for number, box in enumerate(self.boxes):
            self.keeper.watch(_caller(number), box)

    def drop(self, box: int, name: str, *, request_id: str | None = None) -> None:
        """Write a `message` request as an agent does: a temporary name, then a rename."""
        drop(self.directories[box], name, request_bytes(box, name, request_id=request_id))


def drop(directory: Path, name: str, raw: bytes) -> None:
    """Rename a file in."""
    temporary = f"{directory}/.{name}.tmp"
    with open(temporary, "wb") as file:
        file.write(raw)
    os.rename(temporary, f"{directory}/{name}.json")


def request_bytes(box: int, text: str, *, request_id: str | None = None) -> bytes:
    """What the file holds."""
    wanted = None if request_id is None else RequestId(request_id)
    return to_json(SendMessage(chat_jid=Jid(f"bench:{box}"), text=text, request_id=wanted)).encode()


@contextlib.asynccontextmanager
async def watched_boxes(
    count: int,
    *,
    is_polled_only: bool = False,
    limits: IntakeLimits = _NO_RATE,
    owner_of_first: int | None = None,
) -> AsyncIterator[Watched]:
    """So many boxes, each of a registered chat; the keeper runs. owner_of_first: whose the first one is."""
    with bench_home() as paths:
        paths.ensure()
        wakeups, marks = TopicWakeups(), Marks()
        database = await Database.open(paths.database, backups=paths.backups, on_wake=wakeups.wake)
        await database.run(lambda tx: _register(tx, count))
        services = Services(
            db=database,
            clock=SystemClock(),
            wakeups=wakeups,
            checkpoints=marks,
            settings=Settings(),
            paths=paths,
            text_limit=lambda _: 4_000,
            control=NoAgents(),
        )
        keeper = await BoxKeeper.open(
            services,
            path=paths.ipc,
            limits=limits,
            poll_s=POLL_S,
            make_hints=None if is_polled_only else make_hints,
            on_violation=_no_violation,
        )
        owners = [owner_of_first, *[None] * (count - 1)]
        boxes = [
            await keeper.make(BoxName(f"g{number}"), uid=uid, gid=uid) for number, uid in enumerate(owners)
        ]
        leave_loaded_alone()  # as a daemon that runs
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(keeper.run())
            yield Watched(
                keeper=keeper,
                database=database,
                marks=marks,
                boxes=boxes,
            )
            running.cancel()
        await keeper.close()
        await database.close()


def _register(tx: Transaction, count: int) -> None:
    for number in range(count):
        groups.add(
            tx,
            folder=GroupFolder(f"g{number}"),
            jid=Jid(f"bench:{number}"),
            name=f"Group {number}",
            added_at=NOON,
            values={
                "trigger": "@Assistant",
                "assistant_name": "Assistant",
                "requires_trigger": 1,
                "is_main": 0,
                "trigger_position": "start",
                "reply_triggers": 1,
                "timezone": None,
                "locale": "en",
            },
        )


def _caller(number: int) -> AgentCaller:
    return AgentCaller(
        agent_id=AgentId(f"agent-{number}"),
        box=BoxName(f"g{number}"),
        group=GroupFolder(f"g{number}"),
        chat_jid=Jid(f"bench:{number}"),
        is_main=False,
    )


def _no_violation(box: BoxName, sentence: str) -> None:
    raise AssertionError(f"{box}: {sentence}")
