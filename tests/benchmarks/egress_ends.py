"""Both ends of the way out, as programs: a provider that streams, and an agent's program that reads.

`python -m tests.benchmarks.egress_ends provider` prints its port and serves until it is stopped;
`… agent PORT` prints the milliseconds to the first byte of many calls, and the megabytes a second of a
long stream, as JSON.
"""

import asyncio
import http.client
import json
import sys
import time
from typing import Final

CALLS: Final = 200
LONG_BYTES: Final = 20 * 1_000_000
_LONG_STREAMS: Final = 2
_CHUNK_BYTES: Final = 16 * 1024
_HEAD: Final = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_EVENT: Final = b"data: " + b"x" * (_CHUNK_BYTES - 8) + b"\n\n"


def main() -> None:
    """Run the end that is named."""
    if sys.argv[1] == "provider":
        asyncio.run(_provide())
    else:
        print(json.dumps(_measure(int(sys.argv[2]))))


async def _provide() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    chunk = b"%x\r\n%b\r\n" % (len(_EVENT), _EVENT)
    while head := await _head(reader):
        length = next(
            int(line.partition(b":")[2]) for line in head.split(b"\r\n") if line.startswith(b"content-length")
        )
        asked = json.loads(await reader.readexactly(length))
        writer.write(_HEAD)
        for _ in range(asked["chunks"]):
            writer.write(chunk)
            await writer.drain()
        writer.write(b"0\r\n\r\n")
    writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return (await reader.readuntil(b"\r\n\r\n")).lower()
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


def _measure(port: int) -> dict[str, list[float]]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    first_byte_ms = [_first_byte_s(connection) * 1000 for _ in range(CALLS)]
    return {"first_byte_ms": first_byte_ms, "mb_s": [_mb_s(connection) for _ in range(_LONG_STREAMS)]}


def _first_byte_s(connection: http.client.HTTPConnection) -> float:
    began = time.perf_counter()
    answer = _ask(connection, 1)
    answer.read(1)
    took_s = time.perf_counter() - began
    answer.read()
    return took_s


def _mb_s(connection: http.client.HTTPConnection) -> float:
    began = time.perf_counter()
    answer = _ask(connection, LONG_BYTES // _CHUNK_BYTES + 1)
    size = 0
    while piece := answer.read1(65_536):
        size += len(piece)
    if size < LONG_BYTES:
        raise RuntimeError(f"the stream ended after {size} bytes")
    return size / (time.perf_counter() - began) / 1e6


def _ask(connection: http.client.HTTPConnection, chunks: int) -> http.client.HTTPResponse:
    body = json.dumps({"model": "m", "messages": [], "chunks": chunks})
    connection.request("POST", "/v1/messages", body, {"content-type": "application/json"})
    return connection.getresponse()


if __name__ == "__main__":
    main()
