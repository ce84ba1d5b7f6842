"""The chat server of the page in CONTRIBUTING: it speaks JSON lines, and keeps what was not stored."""

import asyncio
import base64
import contextlib
import json
import socket
from typing import Any


class LineServer:
    """One server with one account. `run` serves until it is cancelled."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.groups = [["server:choir", "Choir"], ["server:club", "Club"]]
        self.files: dict[int, bytes] = {}
        self.sent: list[str] = []
        self._waiting: dict[str, dict[str, Any]] = {}
        self._links: set[asyncio.StreamWriter] = set()

    @property
    def waiting(self) -> list[str]:
        """Messages that it was not told are stored."""
        return list(self._waiting)

    async def run(self) -> None:
        """Serve."""
        server = await asyncio.start_server(self._serve, sock=self._socket, limit=32 * 1024**2)
        try:
            await server.serve_forever()
        finally:
            self.drop()
            server.close()

    def drop(self) -> None:
        """End every link."""
        for link in self._links:
            link.close()

    def write(self, text: str) -> None:
        """A person writes."""
        number = f"m{len(self._waiting)}-{text}"
        person = {"chat": "server:main", "sender": "server:ada", "name": "Ada"}
        self._waiting[number] = {"kind": "message", "id": number, "text": text, **person}
        for link in self._links:
            _say(link, self._waiting[number])

    def tell(self, **line: object) -> None:
        """Something that is no message."""
        for link in self._links:
            _say(link, line)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._links.add(writer)
        try:
            for message in self._waiting.values():
                _say(writer, message)
            with contextlib.suppress(ConnectionError):
                while line := await reader.readline():
                    self._obey(json.loads(line), writer)
        finally:
            self._links.discard(writer)
            writer.close()

    def _obey(self, line: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        match line["kind"]:
            case "stored":
                self._waiting.pop(line["id"], None)
            case "send":
                if line["file"] is not None:
                    self.files[line["outbox_id"]] = base64.b64decode(line["file"]["data"])
                self.sent.append(line["text"])
                why = "not here" if "refuse" in line["text"] else None
                answer = {"kind": "answer", "to": line["number"], "why": why}
                if "drop" in line["text"]:
                    self.drop()
                else:
                    _say(writer, {**answer, "id": f"s{len(self.sent)}"})
            case "groups":
                _say(writer, {"kind": "answer", "to": line["number"], "groups": self.groups})


def _say(writer: asyncio.StreamWriter, line: object) -> None:
    writer.write(json.dumps(line).encode() + b"\n")
