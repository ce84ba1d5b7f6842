"""1,000 readers of events over 100 trees, 1,000 events a second: how late, how large, what is missing."""

import asyncio
import base64
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from orchestrator.api.operator_token import read_operator_token
from orchestrator.paths import Paths
from tests.benchmarks.bench_app import bench_home
from tests.benchmarks.event_server import TREES, allow_many_files
from tests.benchmarks.sampling import percentile, until
from tests.benchmarks.table import Row, at_least, at_most

_READERS: Final = 1_000
_PER_TREE: Final = _READERS // TREES
_END_S: Final = 60.0


async def run() -> list[Row]:
    """The floor writes the same bytes to the same sockets, without a store, a feed or a WebSocket library."""
    allow_many_files()
    floor, found = await _measured("bare"), await _measured("real")
    name = "1,000 readers over 100 trees"
    return [
        Row(
            name=f"{name}: deliveries",
            figure=found.delivered / found.took_s,
            unit="1/s",
            floor=floor.delivered / floor.took_s,
            bar=at_least(9_500),
        ),
        _lag_row(f"{name}: lag p50", 50, floor, found),
        _lag_row(f"{name}: lag p99", 99, floor, found),
        Row(name=f"{name}: server CPU", figure=found.cpu_s, unit="s", floor=floor.cpu_s),
        Row(
            name=f"{name}: memory of the server for them",
            figure=found.grown_mib,
            unit="MiB",
            floor=floor.grown_mib,
        ),
        Row(
            name="events missing without a gap, of all readers and a slow one",
            figure=found.unaccounted,
            unit="events",
            bar=at_most(0),
        ),
        Row(name="events that the slow reader was told he missed", figure=found.told_missing, unit="events"),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What came of one run. lags_s: from the call that stores an event until a reader has it."""

    lags_s: list[float]
    delivered: int
    took_s: float
    cpu_s: float
    grown_mib: float
    unaccounted: int
    told_missing: int


def _lag_row(name: str, percent: float, floor: Found, found: Found) -> Row:
    bare, real = percentile(floor.lags_s, percent) * 1000, percentile(found.lags_s, percent) * 1000
    return Row(name=name, figure=real, unit="ms", floor=bare)


class FrameReader(asyncio.Protocol):
    """A reader's end of a WebSocket, as thin as can be: all that it costs is beside what is measured."""

    def __init__(self, token: str, tree: str) -> None:
        self.reached: dict[str, int] = {}
        self.lags_s: list[float] = []
        self.unaccounted = 0
        self.told_missing = 0
        self.is_ready = False
        self.transport: asyncio.Transport | None = None
        self._token = token
        self._tree = tree
        self._left = b""
        self._is_open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the WebSocket."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        key = base64.b64encode(b"0123456789abcdef").decode()
        transport.write(
            f"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
            f"Authorization: Bearer {self._token}\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        """Take whole frames."""
        now, data, at = time.monotonic_ns(), self._left + data, 0
        if not self._is_open:
            head, mark, data = data.partition(b"\r\n\r\n")
            if not mark:
                self._left = head
                return
            assert b" 101 " in head.splitlines()[0], head
            self._is_open = True
            self._subscribe()
        while len(data) - at >= 2:
            size, start = data[at + 1], at + 2
            if size == 126:
                size, start = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
            if len(data) < start + size:
                break
            if data[at] == 0x81:
                self._take(json.loads(data[start : start + size]), now)
            at = start + size
        self._left = data[at:]

    def _subscribe(self) -> None:
        body = json.dumps({"type": "subscribe", "treeId": self._tree}).encode()
        assert self.transport is not None
        self.transport.write(bytes([0x81, 0x80 | len(body), 0, 0, 0, 0]) + body)

    def _take(self, plain: Mapping[str, Any], now: int) -> None:
        if plain["type"] == "subscribed":
            self.is_ready = True
        elif plain["type"] == "gap":
            self._account(plain["treeId"], plain["firstSeq"], plain["lastSeq"])
            self.told_missing += plain["lastSeq"] - plain["firstSeq"] + 1
        elif "seq" not in plain:
            raise AssertionError(plain)
        else:
            self._account(plain["treeId"], plain["seq"], plain["seq"])
            self.lags_s.append((now - int(plain["message"].partition(" ")[0])) / 1e9)

    def _account(self, tree: str, first: int, last: int) -> None:
        self.unaccounted += abs(first - self.reached.get(tree, 0) - 1)
        self.reached[tree] = last


@dataclass
class Readers:
    """All of them. slow: watches every tree, and stops reading before things happen."""

    quick: list[FrameReader] = field(default_factory=list)
    slow: FrameReader | None = None


async def _measured(kind: str) -> Found:
    with bench_home() as paths:
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.benchmarks.event_server", str(paths.home), kind),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert program.stdin is not None
        assert program.stdout is not None
        try:
            assert await program.stdout.readline() == b"ready\n"
            readers = await _connected(paths)
            assert readers.slow is not None
            assert readers.slow.transport is not None
            readers.slow.transport.pause_reading()
            program.stdin.write(b"go\n")
            said = json.loads(await program.stdout.readline())
            readers.slow.transport.resume_reading()
            per_tree = said["count"] // TREES
            everybody = [*readers.quick, readers.slow]
            await until(lambda: all(_has_all(each, per_tree) for each in everybody), within_s=_END_S)
        finally:
            program.stdin.close()
            await program.wait()
    lags = [lag for each in readers.quick for lag in each.lags_s]
    return Found(
        lags_s=lags,
        delivered=len(lags),
        took_s=said["took_s"],
        cpu_s=said["cpu_s"],
        grown_mib=said["grown_mib"],
        unaccounted=sum(each.unaccounted for each in everybody),
        told_missing=readers.slow.told_missing,
    )


def _same(reader: FrameReader) -> FrameReader:
    return reader


def _is_ready(reader: FrameReader) -> bool:
    return reader.is_ready


def _has_all(reader: FrameReader, count: int) -> bool:
    return bool(reader.reached) and min(reader.reached.values()) >= count


async def _connected(paths: Paths) -> Readers:
    loop, token, readers = asyncio.get_running_loop(), read_operator_token(paths.operator_token), Readers()
    assert token is not None
    trees = [f"tree-{number % TREES}" for number in range(_READERS)]
    for tree in [*trees, "*"]:
        reader = FrameReader(token, tree)
        await loop.create_unix_connection(partial(_same, reader), str(paths.socket))
        await until(partial(_is_ready, reader), within_s=10)
        if tree == "*":
            readers.slow = reader
        else:
            readers.quick.append(reader)
    return readers
