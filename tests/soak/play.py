"""A soak carried out: the chats are warmed, the load goes on for its time, and all comes to its end."""

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.soak.ledger import Ledger
from tests.soak.measures import EVENTS_KEPT, LOG_BYTES, LOGS_KEPT, measured, measures_of
from tests.soak.mix import CHATS, RATE, Kind, Message, draw, scenario
from tests.soak.trends import Measure, Sample
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.orchestrator_process import OrchestratorProcess

_LOOK_S: Final = 0.02
_SAMPLE_S: Final = 10.0
_ALL_WITHIN_S: Final = 300.0
_TASKS: Final = "SELECT status, count(*) AS found FROM tasks GROUP BY status"
_SETTINGS: Final = {
    "agent__idle_timeout_s": 86_400,
    "queue__max_running": len(CHATS),
    "queue__batch_max_messages": 50,
    "bounds__triggers_per_sender": 0,
    "bounds__turns_per_chat": 0,
    "ipc__rate_per_minute": 100_000,
    "ipc__burst": 100_000,
    "logs__max_bytes": LOG_BYTES,
    "logs__keep": LOGS_KEPT,
    "events__max_kept": EVENTS_KEPT,
    "keep_messages_days": 1,
}
"""Bounds off; a turn is given so little that its echo fits into one text."""


@dataclass(kw_only=True)
class Soak:
    """One of them. minutes: of load. random: what is said, and where."""

    home: HomeOnDisk
    orchestrator: OrchestratorProcess
    minutes: float
    random: Random
    ledger: Ledger = field(default_factory=Ledger)
    measures: list[Measure] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    load_s: float = 0.0
    """How long the load took, which is more than its minutes where the machine did not keep up."""


def soak_in(root: Path, *, runner: str, minutes: float, seed: int) -> Soak:
    """A soak on an empty directory."""
    home = HomeOnDisk(root)
    home.set(agent__runner=runner, **_SETTINGS)
    return Soak(home=home, orchestrator=OrchestratorProcess(home), minutes=minutes, random=Random(seed))


async def play(soak: Soak) -> None:
    """All of it; what broke is in `soak.faults`. Raises AssertionError if the orchestrator ends by itself."""
    for chat in CHATS:
        await soak.home.add_group(chat)
        soak.home.play(scenario(), chat)
    await soak.orchestrator.start()
    try:
        async with asyncio.TaskGroup() as tasks:
            looks = tasks.create_task(_look(soak))
            _say_in_all(soak)
            await _answered(soak)
            soak.ledger.take_times()
            samples = tasks.create_task(_sample(soak))
            await _load(soak)
            samples.cancel()
            _say_in_all(soak)  # chatter that is left goes with it
            await _answered(soak)
            looks.cancel()
        soak.faults += [*soak.ledger.faults(), *_faults_of_store(soak)]
        await soak.orchestrator.stop()
    finally:
        await soak.orchestrator.close()


def _say_in_all(soak: Soak) -> None:
    for chat in CHATS:
        _say(soak, Message(number=len(soak.ledger.said_at_s) + 1, chat=chat, kind=Kind.PLAIN))


def _say(soak: Soak, message: Message) -> None:
    soak.ledger.said(message, time.monotonic())
    soak.home.say(message.text, chat=f"file:{message.chat}", message_id=f"n{message.number}")


async def _load(soak: Soak) -> None:
    began = time.monotonic()
    for count in range(int(soak.minutes * 60 * RATE)):
        await asyncio.sleep(max(0.0, began + count / RATE - time.monotonic()))
        assert not soak.orchestrator.has_ended, "The orchestrator ended by itself."
        _say(soak, draw(soak.random, len(soak.ledger.said_at_s) + 1))
    soak.load_s = time.monotonic() - began


async def _answered(soak: Soak) -> None:
    """Wait until all is answered and nothing waits; what is not by then is found by the ledger."""
    with contextlib.suppress(AssertionError):
        await eventually(lambda: not soak.ledger.open and soak.home.is_quiet(), within_s=_ALL_WITHIN_S)


async def _look(soak: Soak) -> None:
    """See what the network takes, as soon as it does."""
    path = soak.home.channel / "sends.jsonl"
    while not path.exists():  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(_LOOK_S)
    with path.open(encoding="utf-8") as file:
        while True:
            for line in _whole_lines(file):
                soak.ledger.seen(str(line["text"]), time.monotonic())
            await asyncio.sleep(_LOOK_S)


def _whole_lines(file: Any) -> Iterator[dict[str, Any]]:
    """Those that came since; of a line that is half written nothing is taken."""
    while True:
        begin, line = file.tell(), file.readline()
        if not line.endswith("\n"):
            file.seek(begin)
            return
        yield json.loads(line)


async def _sample(soak: Soak) -> None:
    soak.measures += await asyncio.to_thread(measures_of, soak.home)
    began = time.monotonic()
    while True:
        at_s = time.monotonic() - began
        values = await asyncio.to_thread(
            measured, soak.home, soak.orchestrator.pid, soak.measures, soak.ledger.take_times()
        )
        soak.samples.append(Sample(at_s=at_s, values=values))
        await asyncio.sleep(_SAMPLE_S - (time.monotonic() - began) % _SAMPLE_S)


def _faults_of_store(soak: Soak) -> Iterator[str]:
    """What the store and the boxes tell beside the texts: requests, tasks, ends that are none."""
    home = soak.home
    for row in home.rows("SELECT status, count(*) AS found FROM messages GROUP BY status"):
        if row["status"] != "settled":
            yield f"{row['found']} messages are {row['status']}"
    tasks = {row["status"]: row["found"] for row in home.rows(_TASKS)}
    if tasks != ({"cancelled": soak.ledger.planned} if soak.ledger.planned else {}):
        yield f"{soak.ledger.planned} turns made a task and took it back, the store has {tasks}"
    if evidence := list((home.path / "data" / "ipc" / "errors").glob("*/*.reason.json")):
        yield f"{len(evidence)} requests were refused: {evidence[0].read_text(encoding='utf-8')}"
    if refused := list((home.channel / "refused").iterdir()):
        yield f"the channel was told never to bring {len(refused)} messages again"
