"""20,000 IPC files over 100 boxes: rate, none lost, none doubled, and how a lone file fares meanwhile."""

import asyncio
import contextlib
import hashlib
import json
import os
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

from orchestrator.contracts.wire.boxes import MESSAGES, REPLIES
from orchestrator.ipc.choosing import AT_A_TIME
from orchestrator.ipc.lane import IntakeLimits
from orchestrator.store import groups, outbox, requests
from orchestrator.store.database import CACHED_STATEMENTS, MAX_GROUP
from orchestrator.store.migrate import migrate, shipped_migrations
from orchestrator.store.opening import open_store
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.spreading import spread_children
from tests.benchmarks.bench_boxes import Watched, drop, request_bytes, watched_boxes
from tests.benchmarks.sampling import until
from tests.benchmarks.table import Row, at_least, at_least_floors, at_most

_BOXES: Final = 100
_FILES: Final = 20_000
_ROUNDS: Final = 4
"""Files written long ago cost the file system more to remove: each round takes fresh ones."""
_PER_ROUND: Final = _FILES // _ROUNDS
_REST_S: Final = 90.0
"""Before it all: an ext4 without a journal passes over places that were given back within the last minute, so
what ran before would be measured too. A burst comes to a machine that has rested."""
_LONE: Final = _BOXES
_LONE_EVERY_S: Final = 0.05
_RATED_S: Final = 5.0
_RATED_LONE_EVERY_S: Final = 0.3
"""So that the lone box keeps its own rate."""
_RATED: Final = IntakeLimits(burst=10)
"""Few enough at once that the boxes stay full while it is looked."""
_REPLY: Final = b'{"requestId":"r000000","ok":true,"result":{"status":"queued"}}'
_BY_ID: Final = """
SELECT reply, sha256 FROM requests WHERE agent_id = :agent_id AND request_id = :request_id
 ORDER BY created_ms LIMIT 1
"""
_TEXTS: Final = "SELECT text FROM outbox WHERE text NOT LIKE 'lone%' ORDER BY text"


async def run() -> list[Row]:
    """The floors are one plain thread with the same file operations and statements, 300 files a commit."""
    await asyncio.sleep(_REST_S)
    floor_s = floor_replied_s = plain_s = replied_s = 0.0
    lone_s: list[float] = []
    async with watched_boxes(_BOXES + 1) as watched, _bare_store() as store:
        for number in range(_ROUNDS):  # in turns, so that all meet the same machine
            first = number * _PER_ROUND
            floor_s += await asyncio.to_thread(_floor_s, store, first=first, with_replies=False)
            plain_s += await _round_s(watched, lone_s, first=first, with_replies=False)
            first += _FILES
            floor_replied_s += await asyncio.to_thread(_floor_s, store, first=first, with_replies=True)
            replied_s += await _round_s(watched, [], first=first, with_replies=True)
        wrong = await _lost_or_doubled(watched)
    rated_lone_s = await _rated_lone_s()
    return [
        Row(
            name="burst of 20,000 IPC files over 100 boxes",
            figure=_FILES / plain_s,
            unit="files/s",
            floor=_FILES / floor_s,
            bar=at_least_floors(0.8),
        ),
        Row(
            name="the same with a reply file each",
            figure=_FILES / replied_s,
            unit="files/s",
            floor=_FILES / floor_replied_s,
            bar=at_least(6_000),
        ),
        Row(name="effects lost or doubled in both", figure=wrong, unit="of 40,000", bar=at_most(0)),
        _lone_row("a lone box's file during the burst", lone_s),
        _lone_row("the same with rate limits on", rated_lone_s),
    ]


def _lone_row(name: str, took_s: Sequence[float]) -> Row:
    return Row(name=f"{name}, worst of {len(took_s)}", figure=max(took_s) * 1000, unit="ms", bar=at_most(100))


async def _round_s(watched: Watched, lone_s: list[float], *, first: int, with_replies: bool) -> float:
    """Seconds until every effect is durable and nothing is left of the files, in fresh boxes."""
    await watched.renew()
    await asyncio.to_thread(_fill, watched.directories, first=first, with_replies=with_replies)
    async with asyncio.TaskGroup() as tasks:
        began = time.monotonic()
        watched.watch_all()
        lone = tasks.create_task(_lone_files(watched, lone_s))
        full = watched.directories[:_BOXES]
        left = [*full, *(each.parent for each in full)]
        while left:
            if _holds_files(left[-1]):  # one look a while: more would be work beside the measured one
                await asyncio.sleep(0.01)
            else:
                left.pop()
        took_s = time.monotonic() - began
        lone.cancel()
    return took_s


def _holds_files(directory: Path) -> bool:
    """Requests, or what was moved out of the agent's reach and not removed yet."""
    return any(name.endswith(".json") or name.startswith(".taken") for name in os.listdir(directory))


async def _rated_lone_s() -> list[float]:
    """How a lone file fares while 100 full boxes go as fast as their rate allows."""
    took_s: list[float] = []
    async with watched_boxes(_BOXES + 1, limits=_RATED) as watched:
        await asyncio.to_thread(_fill, watched.directories, first=0, with_replies=False)
        async with asyncio.TaskGroup() as tasks:
            watched.watch_all()
            lone = tasks.create_task(_lone_files(watched, took_s, every_s=_RATED_LONE_EVERY_S))
            await asyncio.sleep(_RATED_S)
            lone.cancel()
    return took_s


def _fill(directories: Sequence[Path], *, first: int, with_replies: bool) -> None:
    for number in range(first, first + _PER_ROUND):
        box, name = number % _BOXES, f"{number:06}"
        request_id = f"r{name}" if with_replies else None
        drop(directories[box], name, request_bytes(box, name, request_id=request_id))


async def _lone_files(watched: Watched, took_s: list[float], *, every_s: float = _LONE_EVERY_S) -> None:
    """One file at a time in a box of its own: from its rename until it is taken and gone."""
    directory = watched.directories[_LONE]
    for number in range(10_000):
        path = directory / f"lone{number}.json"
        began = time.monotonic()
        watched.drop(_LONE, f"lone{number}")
        await until(lambda path=path: not path.exists(), within_s=30)  # type: ignore[misc]  # bound now
        took_s.append(time.monotonic() - began)
        await asyncio.sleep(every_s)


async def _lost_or_doubled(watched: Watched) -> int:
    """Each file has its one effect, or counts here."""
    async with watched.database.reader() as reader:
        rows = await reader.all(_TEXTS)
    counts = Counter(row["text"] for row in rows)
    return sum(abs(counts[f"{number:06}"] - 1) for number in range(2 * _FILES))


@contextlib.asynccontextmanager
async def _bare_store() -> AsyncIterator[sqlite3.Connection]:
    """The product's tables, which grow from round to round as the product's own do."""
    with tempfile.TemporaryDirectory(prefix="dove-") as name:
        path = Path(name) / "store.db"
        store = open_store(path, cached_statements=CACHED_STATEMENTS)
        migrate(store, path=path, backups=path.parent, migrations=shipped_migrations())
        yield store
        store.close()


def _floor_s(store: sqlite3.Connection, *, first: int, with_replies: bool) -> float:
    with tempfile.TemporaryDirectory(prefix="dove-") as name:
        root = Path(name)
        with SafeDir.open(root) as opened:
            spread_children(opened.fileno())  # the boxes are as far from each other as the product's
        boxes = [root / f"b{number}" for number in range(_BOXES)]
        for box in boxes:
            (box / MESSAGES).mkdir(parents=True)
            (box / REPLIES).mkdir()
        _fill([box / MESSAGES for box in boxes], first=first, with_replies=with_replies)
        names = [sorted(os.listdir(box / MESSAGES)) for box in boxes]
        # In the order of the product, as who is fair to all must take them.
        waiting = [
            (str(box), name)
            for at in range(0, len(names[0]), AT_A_TIME)
            for box, all_of_it in zip(boxes, names, strict=True)
            for name in all_of_it[at : at + AT_A_TIME]
        ]
        began = time.monotonic()
        for at in range(0, len(waiting), MAX_GROUP):
            _take(store, waiting[at : at + MAX_GROUP], with_replies=with_replies)
        took_s = time.monotonic() - began
    return took_s


def _take(store: sqlite3.Connection, waiting: Sequence[tuple[str, str]], *, with_replies: bool) -> None:
    """The statements and file operations of one batch, in the product's own words."""
    keys = []
    store.execute("BEGIN IMMEDIATE")
    for box, name in waiting:
        path = f"{box}/{MESSAGES}/{name}"
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        status, raw = os.fstat(descriptor), os.read(descriptor, 65_536)
        os.close(descriptor)
        keys.append(_effect(store, path, status, raw))
    store.execute("COMMIT")
    if with_replies:
        for box, name in waiting:
            drop(Path(f"{box}/{REPLIES}"), name, _REPLY)
    for box, name in waiting:
        aside = f"{box}/.taken"
        os.rename(f"{box}/{MESSAGES}/{name}", aside)
        os.lstat(aside)
        os.unlink(aside)
    store.execute("BEGIN IMMEDIATE")
    for key in keys:
        store.execute(requests.CLOSE, key)
    store.execute("COMMIT")


def _effect(store: sqlite3.Connection, path: str, status: os.stat_result, raw: bytes) -> dict[str, object]:
    plain = json.loads(raw)
    key: dict[str, object] = {
        "box": plain["chatJid"],
        "directory": "messages",
        "name": path,
        "inode": status.st_ino,
        "ctime_ns": status.st_ctime_ns,
        "sha256": hashlib.sha256(raw).digest(),
    }
    store.execute("SAVEPOINT body")
    store.execute(requests.FIND, key).fetchall()
    store.execute(groups.BY_JID, {"jid": plain["chatJid"]}).fetchall()
    text = {"chat_jid": plain["chatJid"], "text": plain["text"], "source": "request", "source_key": path}
    fate = {"part": 1, "parts": 1, "status": "queued", "at_ms": 0}
    store.execute(
        outbox.ADD, {**text, **fate, "agent_id": plain["chatJid"], "turn_id": None, "reply_to": None}
    ).fetchall()
    asked = {"agent_id": plain["chatJid"], "request_id": plain.get("requestId")}
    if asked["request_id"] is not None:
        store.execute(_BY_ID, asked).fetchall()
    reply = json.dumps({"requestId": asked["request_id"], "ok": True, "result": {"status": "queued"}})
    answered = {**asked, "reply": reply, "at_ms": 0}
    store.execute(requests.ADD, key | answered)
    store.execute("RELEASE body")
    return key
