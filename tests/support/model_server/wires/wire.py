"""What a wire format can do, and the framing that all share."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tests.support.model_server.asked import Asked, OfferedTool
from tests.support.model_server.script import Fail, Stop, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An HTTP error in a provider's shape."""

    status: int
    body: Mapping[str, Any]
    headers: Mapping[str, str]


class Writer(Protocol):
    """One answer, written step by step. What is yielded is one event of the stream each.

    A writer remembers what it wrote, so that `whole` is the same answer in one piece.
    """

    def begin(self) -> Iterator[bytes]:
        """What stands in front of the first step."""
        ...

    def say(self, piece: str) -> Iterator[bytes]:
        """A piece of text; pieces that follow each other are one text."""
        ...

    def think(self, text: str) -> Iterator[bytes]:
        """A thought."""
        ...

    def call(self, tool: OfferedTool, arguments: Mapping[str, Any]) -> Iterator[bytes]:
        """A call of a tool."""
        ...

    def fail(self, fail: Fail) -> Iterator[bytes]:
        """An error in the middle of the stream; nothing may follow."""
        ...

    def end(self, stop: Stop) -> Iterator[bytes]:
        """What stands behind the last step."""
        ...

    def whole(self, stop: Stop) -> Mapping[str, Any]:
        """All steps in one answer without a stream; only after `end`."""
        ...


class Wire(Protocol):
    """One wire format."""

    stream_type: str
    """The content type of a stream."""
    streams_overflow: bool
    """Whether a stream begins before it says that the conversation is too long."""

    def read(self, body: Mapping[str, Any]) -> Asked:
        """What a request asks; raises Malformed."""
        ...

    def writer(self, asked: Asked, usage: Usage) -> Writer:
        """For one answer that costs this."""
        ...

    def problem(self, fail: Fail) -> Problem:
        """An error before anything was answered."""
        ...

    def credential(self, headers: Mapping[str, str], query: str) -> str | None:
        """The key that a request brings."""
        ...


def sse(payload: object, *, event: str | None = None) -> bytes:
    """One server-sent event with JSON in it."""
    name = "" if event is None else f"event: {event}\n"
    return f"{name}data: {compact(payload)}\n\n".encode()


def compact(payload: object) -> str:
    """JSON without blanks, as providers send it."""
    return json.dumps(payload, separators=(",", ":"), ensure_ascii=False)


def in_two(text: str) -> tuple[str, str]:
    """Arguments arrive in pieces that are no JSON by themselves."""
    return text[: len(text) // 2], text[len(text) // 2 :]


def bearer(headers: Mapping[str, str]) -> str | None:
    """The token of an `authorization` header."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else None


def retry_after(fail: Fail) -> dict[str, str]:
    """The header of that name, if the error has one."""
    return {} if fail.retry_after_s is None else {"retry-after": str(fail.retry_after_s)}
