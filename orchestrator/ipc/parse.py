"""From the bytes of a request file to a typed request, or to the reason why not.

The classes are those of `contracts.wire`; here they are checked strictly, since a container wrote them.
Source: contracts.md sections 3 and 4.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.ids import RequestId, is_file_name
from orchestrator.contracts.wire import agent_requests, chat_requests, group_requests, task_requests
from orchestrator.contracts.wire.boxes import AGENTS, TASKS
from orchestrator.contracts.wire.codec import Wire, names_at
from orchestrator.contracts.wire.field_names import wrong_field

MAX_REQUEST_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 32
_MAX_DIGITS: Final = 20
"""Digits of an integer; 64 bits need 19 and a sign."""
_MAX_SHOWN_ERRORS: Final = 3

REQUEST_AREAS: Final = (
    chat_requests.REQUESTS,
    task_requests.REQUESTS,
    group_requests.REQUESTS,
    agent_requests.REQUESTS,
)
"""The request types that a box may hold, area by area: a new area is one name here."""

_OLD_SPELLINGS: Final = {
    TASKS: {**task_requests.OLD_SPELLINGS, **group_requests.OLD_SPELLINGS},
    AGENTS: agent_requests.OLD_SPELLINGS,
}
"""By directory: keys that others write, and ours."""
_BOM: Final = b"\xef\xbb\xbf"
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_BRACKETS: Final = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]")
_REQUEST_ID: Final = re.compile(rb'"requestId"\s*:\s*"([A-Za-z0-9][A-Za-z0-9._-]{0,127})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRequest:
    """A request that is well formed; whether it may be done is the command's to say."""

    request: Wire
    request_id: RequestId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRefusal:
    """Why a file is no request. request_id: who waits for an answer, if that could be read.

    may_be_unfinished: it is not JSON, as a file is that its writer has not finished.
    """

    code: ErrorCode
    message: str
    suggestion: str | None = None
    request_id: RequestId | None = None
    may_be_unfinished: bool = False


def parse_request(directory: str, raw: bytes) -> ParsedRequest | FileRefusal:
    """What the file of `directory` with the content `raw` asks for. Never raises for what it holds."""
    raw = raw.removeprefix(_BOM)
    try:
        plain = _loads(raw)
    except _NotTaken as problem:
        return FileRefusal(
            code=ErrorCode.INVALID_REQUEST,
            message=f"The file {problem}.",
            suggestion="Write one JSON object in UTF-8 under a temporary name and rename it in.",
            request_id=_readable_request_id(raw),
            may_be_unfinished=problem.is_syntax,
        )
    if "requestId" in plain and plain["requestId"] is not None:
        stated = plain["requestId"]
        if not isinstance(stated, str) or not is_file_name(stated):
            return FileRefusal(
                code=ErrorCode.INVALID_REQUEST,
                message="requestId is not a name of 1 to 128 letters, digits, '.', '_' and '-'.",
                suggestion="Use a random hexadecimal requestId.",
            )
        request_id = RequestId(stated)
    else:
        request_id = None
    spellings = _OLD_SPELLINGS.get(directory, {})
    if spellings.keys() & plain.keys():
        plain = {spellings.get(key, key): value for key, value in plain.items()}
        raw = json.dumps(plain).encode()
    return _typed(directory, raw, plain, request_id)


def _typed(
    directory: str, raw: bytes, plain: Mapping[str, Any], request_id: RequestId | None
) -> ParsedRequest | FileRefusal:
    known = _adapters().get(directory, {})
    type_name = plain.get("type")
    adapter = known.get(type_name) if isinstance(type_name, str) else None
    if adapter is None:
        stated = "no type" if type_name is None else f"the type {str(type_name)[:64]!r}"
        return FileRefusal(
            code=ErrorCode.INVALID_REQUEST if type_name is None else ErrorCode.UNKNOWN_TYPE,
            message=f"A request in {directory}/ has {stated}.",
            suggestion=f"Types known there: {', '.join(sorted(known)) or 'none'}.",
            request_id=request_id,
        )
    try:
        return ParsedRequest(request=adapter.validate_json(raw, strict=True), request_id=request_id)
    except ValidationError as error:
        said = _said(error, _kind_of(directory, type_name))
        return FileRefusal(
            code=ErrorCode.INVALID_REQUEST,
            message=f"A request of type {type_name!r} has wrong fields: {said}.",
            suggestion="Set the fields right and send it again.",
            request_id=request_id,
        )


def _kind_of(directory: str, type_name: object) -> type[Wire]:
    kinds = (kind for area in REQUEST_AREAS for kind in area)
    return next(kind for kind in kinds if (kind.directory, kind.type_name) == (directory, type_name))


@cache
def _adapters() -> Mapping[str, Mapping[str, TypeAdapter[Any]]]:
    """Directory to type name to validator; built once, at the first request."""
    table: dict[str, dict[str, TypeAdapter[Any]]] = {}
    for kind in (kind for area in REQUEST_AREAS for kind in area):
        table.setdefault(kind.directory, {})[kind.type_name] = TypeAdapter(kind)
    return table


class _NotTaken(Exception):
    """What is wrong with the file as a whole, as the rest of a sentence."""

    def __init__(self, problem: str, *, is_syntax: bool = False) -> None:
        super().__init__(problem)
        self.is_syntax = is_syntax


def _loads(raw: bytes) -> dict[str, Any]:
    if len(raw) > MAX_REQUEST_BYTES:
        raise _NotTaken(f"has more than {MAX_REQUEST_BYTES} bytes")
    if is_deeper_than(raw, MAX_DEPTH):
        raise _NotTaken(
            f"is nested deeper than {MAX_DEPTH} levels, or its brackets do not match", is_syntax=True
        )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _NotTaken(f"is not UTF-8 at byte {error.start}", is_syntax=True) from None
    try:
        plain = _DECODER.decode(text)
    except ValueError as error:
        raise _NotTaken(f"is not JSON: {error}", is_syntax=True) from None
    if not isinstance(plain, dict):
        raise _NotTaken("is JSON, but not an object")
    return plain


def is_deeper_than(raw: bytes, depth: int) -> bool:
    """Whether JSON text is nested deeper than `depth`, in time that grows with its length only.

    Text whose brackets do not match counts as deeper.
    """
    if raw.count(b"{") + raw.count(b"[") <= depth:
        return False
    # Each pass takes the innermost pairs away, so what is left after `depth` passes lies deeper.
    left = _STRING.sub(b"", raw).translate(_BRACKETS).translate(None, _NOT_BRACKETS)
    for _ in range(depth):
        if not left:
            return False
        left = left.replace(b"[]", b"")
    return bool(left)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) != len(pairs):
        raise _NotTaken("names a field twice in one object")
    return plain


def _no_constant(word: str) -> object:
    raise _NotTaken(f"holds {word}, which is not JSON")


def _bounded_int(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise _NotTaken(f"holds an integer of {len(digits)} digits")
    return int(digits)


def _finite_float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _NotTaken("holds a number that is too large")
    return value


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_without_twins,
    parse_constant=_no_constant,
    parse_int=_bounded_int,
    parse_float=_finite_float,
)
"""Made once: its making costs as much as reading a request."""


def _readable_request_id(raw: bytes) -> RequestId | None:
    """The one requestId that stands in a text which may not be JSON; None if none or several do."""
    found = set(_ids(raw[: MAX_REQUEST_BYTES + 1]))
    return RequestId(found.pop().decode()) if len(found) == 1 else None


def _ids(raw: bytes) -> Iterator[bytes]:
    for match in _REQUEST_ID.finditer(raw):
        yield match[1]


def _said(error: ValidationError, request: type[Wire]) -> str:
    """The first few of the fields that are wrong, each with what is wrong with it."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    said = [
        wrong_field(each["loc"], each["type"], each["msg"], names_at(request, each["loc"][:-1]))
        for each in problems[:_MAX_SHOWN_ERRORS]
    ]
    more = len(problems) - len(said)
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")
