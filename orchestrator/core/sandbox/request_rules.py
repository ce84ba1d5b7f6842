"""Which of an agent's requests go on to its provider, and in which shape. Source: agents.md section 5."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeAlias
from urllib.parse import unquote_plus

from orchestrator.contracts.records.providers import ApiCall
from orchestrator.core.sandbox.refusal import CallRefusal, forbidden, malformed

Headers: TypeAlias = list[tuple[bytes, bytes]]

_PATH: Final = re.compile(r"(/[A-Za-z0-9._~!$&'()*+,=:@%-]+)+/?|/")
_QUERY: Final = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@%/?\[\]-]*")
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})?")
# What a server may read as part of the path's structure once it has decoded it.
_STRUCTURAL: Final = frozenset("./\\%;?#")
# A model's name in a path; no colon, which begins the verb in Google's paths.
_STAR: Final = r"[A-Za-z0-9._~@+=-]+"

_CREDENTIAL_PARAMETERS: Final = frozenset(
    {"key", "api_key", "api-key", "apikey", "access_token", "oauth_token", "token", "auth", "authorization"}
)
_CREDENTIAL_WORDS: Final = (
    b"auth",
    b"api-key",
    b"apikey",
    b"api_key",
    b"token",
    b"secret",
    b"cookie",
    b"credential",
)
# Hop by hop, or ours to say; what chooses who pays; what makes some servers read another method or path.
_OURS: Final = frozenset(
    {
        b"accept-encoding", b"connection", b"content-encoding", b"content-length", b"expect", b"forwarded",
        b"host", b"http2-settings", b"keep-alive", b"openai-organization", b"openai-project", b"te",
        b"trailer", b"transfer-encoding", b"upgrade", b"via", b"x-goog-user-project", b"x-http-method",
        b"x-http-method-override", b"x-method-override", b"x-original-url", b"x-rewrite-url",
    }
)  # fmt: skip
_OUR_PREFIXES: Final = (b"proxy-", b"x-forwarded-", b"sec-websocket-")
_NOT_PASSED_BACK: Final = frozenset(
    {
        b"alt-svc", b"connection", b"keep-alive", b"location", b"content-location", b"proxy-authenticate",
        b"refresh", b"set-cookie", b"strict-transport-security", b"te", b"trailer", b"transfer-encoding",
        b"upgrade",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTarget:
    """A request's target below the provider's base. query: without the `?` and without credentials."""

    path: str
    query: str

    def __str__(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path


def framing_refusal(method: str, headers: Sequence[tuple[bytes, bytes]]) -> CallRefusal | None:
    """No for a request whose end two readers could see at different places."""
    lengths = [value for name, value in headers if name == b"content-length"]
    codings = [value for name, value in headers if name == b"transfer-encoding"]
    if codings and lengths:
        return malformed("A request has either Content-Length or Transfer-Encoding, not both.")
    if len(codings) > 1 or len(lengths) > 1:
        return malformed("A request says its length once.")
    if method == "CONNECT" and (codings or lengths):
        return malformed("CONNECT has no body.")
    encodings = {value.strip().lower() for name, value in headers if name == b"content-encoding"}
    if encodings - {b"identity", b""}:
        return CallRefusal(
            status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            message="Compressed request bodies are not let through: send them plain.",
        )
    return None


def read_target(target: str) -> RequestTarget | CallRefusal:
    """The target in its one possible reading. Absolute ones, dots, doubled and hidden slashes are refused."""
    if not target.startswith("/"):
        return forbidden(
            "Only paths of the provider are let through here; other hosts by HTTPS, through CONNECT."
        )
    path, _, query = target.partition("?")
    if not _PATH.fullmatch(path) or not _QUERY.fullmatch(query):
        return malformed("The path has a sign or an empty part that is not let through.")
    for escape in _ESCAPE.finditer(path):
        if escape[1] is None or not _is_harmless(int(escape[1], 16)):
            return malformed(f"The path holds {escape[0]!r}, which hides its structure.")
    if any(part in {".", ".."} for part in path.split("/")):
        return malformed("The path holds dots that lead elsewhere.")
    return RequestTarget(path=path, query=_without_credentials(query))


def is_allowed(method: str, path: str, calls: Iterable[ApiCall]) -> bool:
    """Whether one of the provider's calls is this one, letter by letter; `*` is a piece of one segment."""
    return any(call.method == method and _pattern(call.path).fullmatch(path) for call in calls)


def forwarded_headers(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The agent's headers as the provider may see them: without credentials and what we say ourselves."""
    given = list(headers)
    dropped = _OURS | _named_by_connection(given)
    return [(name, value) for name, value in given if name not in dropped and not _speaks_for_us(name)]


def answered_headers(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The provider's headers as the agent may see them: nothing that leads elsewhere or stays."""
    given = [(name.lower(), value) for name, value in headers]
    dropped = _NOT_PASSED_BACK | _named_by_connection(given)
    return [(name, value) for name, value in given if name not in dropped]


def _is_harmless(code: int) -> bool:
    return 0x20 < code != 0x7F and chr(code) not in _STRUCTURAL


def _without_credentials(query: str) -> str:
    kept = [
        piece
        for piece in re.split("[&;]", query)
        if unquote_plus(piece.partition("=")[0]).strip().lower() not in _CREDENTIAL_PARAMETERS
    ]
    return "&".join(piece for piece in kept if piece)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(_STAR.join(re.escape(piece) for piece in path.split("*")))


def _named_by_connection(headers: Iterable[tuple[bytes, bytes]]) -> set[bytes]:
    return {
        name.strip().lower()
        for header, value in headers
        if header == b"connection"
        for name in value.split(b",")
    }


def _speaks_for_us(name: bytes) -> bool:
    return name.startswith(_OUR_PREFIXES) or any(word in name for word in _CREDENTIAL_WORDS)
