"""A plan carried out on a home: its lives one after another, and a calm one in which everything ends."""

import asyncio
import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Final

from orchestrator.app.parts import SystemClock
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.orchestrator_process import OrchestratorProcess
from tests.support.planned import due_now, hourly_from_now, plan
from tests.support.small_disk import small_disk
from tests.support.unix_proxy import UnixProxy
from tests.torture.nights import nightly, seconds_to_the_eve
from tests.torture.plan import CHATS, DISK_FAULTS, Deed, DeedKind, Fault, FaultKind, Life, Plan
from tests.torture.script import scenario, slot_prompt, wish_text
from tests.torture.trouble import make_trouble

DISK_BYTES: Final = 96 * 1024**2
ENGINE_SOCKET: Final = "/var/run/docker.sock"
_LOOK_S: Final = 0.02
_CALM_WITHIN_S: Final = 90.0
_CLOSED_WITHIN_S: Final = 30.0
_MAY_GROW: Final = 12
_MAY_GROW_BY_ENGINE: Final = 24
"""Descriptors: the clerk, a reader and the like are opened when first needed, connections to an engine are
kept for the next call; a leak is one an agent."""
_PAST_ALL_WAITS_S: Final = 900.0
_OPEN: Final = {
    "messages": "status = 'dispatched' OR (status = 'pending' AND is_trigger)",
    "outbox": "status IN ('queued', 'sending', 'unknown')",
    "task_runs": "status = 'started' OR (status = 'claimed' AND task_id LIKE 'slot-%')",
    "tasks": "status = 'active' AND task_id LIKE 'slot-%'",
    "agents": "ended_ms IS NULL",
    "waiting_words": "1",
}
"""Of each table, what is not over yet. What runs again and again may be due just when all is stopped: it is
claimed then, for the next life."""
_SETTINGS: Final = {
    "agent__idle_timeout_s": 1,
    "bounds__triggers_per_sender": 0,
    "bounds__turns_per_chat": 0,
    "ipc__rate_per_minute": 100_000,
    "ipc__burst": 100_000,
}


@dataclass(kw_only=True)
class Ledger:
    """What the rig itself did, kept beside the home. ahead_s: how far the clock is set forward.

    kills: how many processes were killed. descriptors: how many it held at the begin and at the end of
    the calm life.
    """

    path: Path
    deeds: list[Deed] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    ahead_s: float = 0.0
    furthest_s: float = 0.0
    kills: int = 0
    descriptors: tuple[int, int] = (0, 0)

    def note(self, what: Deed | Fault | Life | str) -> None:
        """A line more; the clock is followed."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(str(what)) + "\n")
        if isinstance(what, Deed):
            self.deeds.append(what)
        elif isinstance(what, Fault):
            self.faults.append(what)
            if what.kind is FaultKind.CLOCK_SET:
                self.ahead_s += what.for_s
                self.furthest_s = max(self.furthest_s, self.ahead_s)


@dataclass(frozen=True, kw_only=True)
class Rig:
    """One run: its plan, its home, the orchestrator, the ledger, and the engine if it has one."""

    plan: Plan
    home: HomeOnDisk
    orchestrator: OrchestratorProcess
    ledger: Ledger
    engine: UnixProxy | None = None


@contextlib.contextmanager
def rig_in(root: Path, drawn: Plan) -> Iterator[Rig]:
    """A rig on an empty directory; on a small disk of its own if the plan has faults of a disk."""
    home = HomeOnDisk(root)
    engine = UnixProxy(root / "engine.sock", ENGINE_SOCKET) if drawn.runner == "docker" else None
    home.set(
        agent__runner=drawn.runner,
        queue__max_running=drawn.max_running,
        **({} if engine is None else {"agent__engine_url": engine.url}),
        **_SETTINGS,
    )
    ahead_s = 0.0 if drawn.summer_time is None else seconds_to_the_eve(drawn.summer_time)
    has_disk = drawn.has(*DISK_FAULTS)
    with small_disk(home.path / "data", DISK_BYTES) if has_disk else contextlib.nullcontext():
        yield Rig(
            plan=drawn,
            home=home,
            orchestrator=OrchestratorProcess(home),
            ledger=Ledger(path=root / "ledger.jsonl", ahead_s=ahead_s, furthest_s=ahead_s),
            engine=engine,
        )


async def play(rig: Rig) -> None:
    """All of it. Raises AssertionError when the orchestrator ends by itself, or work comes to no end."""
    async with rig.engine.open() if rig.engine is not None else contextlib.nullcontext():
        try:
            await _prepare(rig)
            for life in rig.plan.lives:
                await _live(rig, life)
            await _calm_down(rig)
        finally:
            await rig.orchestrator.close()


async def _prepare(rig: Rig) -> None:
    for chat in CHATS:
        await rig.home.add_group(chat)
        rig.home.play(scenario(chat, seed=rig.plan.seed), chat)
    now, drawn = SystemClock().now() + timedelta(seconds=rig.ledger.ahead_s), rig.plan
    slots = [
        due_now(
            f"slot-{number}",
            folder=CHATS[number % len(CHATS)],
            title=f"Slot {number}",
            prompt=slot_prompt(number),
            next_run_at=now + timedelta(seconds=at_s),
            schedule_value=(now + timedelta(seconds=at_s)).isoformat(),
        )
        for number, at_s in enumerate(drawn.once_at_s)
    ]
    if drawn.has_hourly:
        slots.append(
            hourly_from_now("hourly", folder=CHATS[0], title="Hourly", prompt="hourly", next_run_at=now)
        )
    if drawn.summer_time is not None:
        slots.append(nightly(drawn.summer_time, folder=CHATS[0]))
    await plan(rig.home, *slots)


async def _live(rig: Rig, life: Life) -> None:
    """One life. People go on writing when it is over before its time."""
    rig.ledger.note(life)
    rig.home.behave(*life.rules)
    await rig.orchestrator.start(
        crash_at=life.crash_at, nth=life.nth, polls_only=life.polls_only, ahead_s=rig.ledger.ahead_s
    )
    random = Random(f"{rig.plan.seed} {life.ends_s}")
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_do_deeds(rig, life))
        tasks.create_task(_do_faults(rig, life, random))
        await _last(rig, life)
    if life.is_orderly and not rig.orchestrator.has_ended:
        await rig.orchestrator.stop()
        return
    await (rig.orchestrator.died() if rig.orchestrator.has_ended else rig.orchestrator.kill())
    rig.ledger.kills += 1


async def _last(rig: Rig, life: Life) -> None:
    """Until its time is over, or it has died at its crash point."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(life.ends_s):
            while not rig.orchestrator.has_ended:  # noqa: ASYNC110 - another process dies
                await asyncio.sleep(_LOOK_S)
    assert not rig.orchestrator.has_ended or life.crash_at is not None, rig.home.story()


async def _do_deeds(rig: Rig, life: Life) -> None:
    at_s = 0.0
    for deed in life.deeds:
        await asyncio.sleep(max(0.0, deed.at_s - at_s))
        at_s = deed.at_s
        rig.ledger.note(deed)
        _do(rig.home, deed)


def _do(home: HomeOnDisk, deed: Deed) -> None:
    chat, text = f"file:{deed.chat}", wish_text(deed.number, deed.wish)
    match deed.kind:
        case DeedKind.ASK:
            home.say(text, chat=chat, message_id=f"n{deed.number}")
        case DeedKind.CHATTER:
            home.say(f"#{deed.number}# chatter", chat=chat, message_id=f"n{deed.number}")
        case DeedKind.EDIT:
            change = {"kind": "edit", "message_id": f"n{deed.number}"}
            home.say(f"{text} edited", chat=chat, message_id=f"e{deed.number}", change=change)
        case DeedKind.STOP | DeedKind.RETRY:
            home.say(f"/{deed.kind}", chat=chat)


async def _do_faults(rig: Rig, life: Life, random: Random) -> None:
    """One after another, so that none undoes another."""
    at_s = 0.0
    for fault in life.faults:
        await asyncio.sleep(max(0.0, fault.at_s - at_s))
        at_s = fault.at_s
        if not rig.orchestrator.has_ended:
            rig.ledger.note(fault)
            rig.ledger.kills += await make_trouble(
                rig.home, rig.orchestrator, fault, random, engine=rig.engine
            )


async def _calm_down(rig: Rig) -> None:
    """A life without faults, far enough ahead for all that waits: everything comes to its end."""
    home, ledger = rig.home, rig.ledger
    home.behave()
    ahead_s = max(ledger.ahead_s, ledger.furthest_s) + _PAST_ALL_WAITS_S
    ledger.note("calm")
    await rig.orchestrator.start(ahead_s=ahead_s)
    before = _descriptors(rig.orchestrator)
    await eventually(lambda: not still_open(home), within_s=_CALM_WITHIN_S, what=lambda: _open_story(home))
    ledger.descriptors = before, await _descriptors_at_rest(rig.orchestrator, before + may_grow(rig))
    await rig.orchestrator.stop()


def _descriptors(orchestrator: OrchestratorProcess) -> int:
    return len(os.listdir(f"/proc/{orchestrator.pid}/fd"))


def may_grow(rig: Rig) -> int:
    """How many descriptors more the orchestrator may hold when all its work is done."""
    return _MAY_GROW + (0 if rig.engine is None else _MAY_GROW_BY_ENGINE)


async def _descriptors_at_rest(orchestrator: OrchestratorProcess, expected: int) -> int:
    """How many there are once those of agents that have just ended are closed."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_CLOSED_WITHIN_S):
            while _descriptors(orchestrator) > expected:  # noqa: ASYNC110 - another process closes them
                await asyncio.sleep(_LOOK_S)
    return _descriptors(orchestrator)


def still_open(home: HomeOnDisk) -> dict[str, list[dict[str, object]]]:
    """What has not come to its end, by table; what the network still holds as `in`."""
    found = {
        table: rows
        for table, is_open in _OPEN.items()
        if (rows := home.rows(f"SELECT * FROM {table} WHERE {is_open}"))
    }
    waiting = sorted(each.name for each in (home.channel / "in").iterdir())
    return found | ({"in": [{"file": name} for name in waiting]} if waiting else {})


def _open_story(home: HomeOnDisk) -> str:
    return f"still open: {still_open(home)}\n{home.story()}"
