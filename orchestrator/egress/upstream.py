"""The provider's end: where its base is, and one agent's connections to it."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

import h11

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.records.egress import EgressLimits, Secret
from orchestrator.contracts.records.providers import ProviderApi
from orchestrator.contracts.seams import Clock
from orchestrator.core.sandbox.request_rules import Headers, RequestTarget
from orchestrator.egress.provider_connection import AnswerHead, ProviderConnection
from orchestrator.egress.route import Route, Unreachable

_PORTS: Final = {"https": 443, "http": 80}
# Shorter than what servers keep an idle connection for, so that one is rarely closed as we write.
_KEEP_ALIVE_S: Final = 15.0
_MAX_IDLE: Final = 4


class Upstream:
    """One agent's connections to its provider. Follows no redirect and keeps no cookie."""

    def __init__(
        self,
        api: ProviderApi,
        credential: Secret | None,
        limits: EgressLimits,
        route: Route,
        *,
        tls: ssl.SSLContext,
        clock: Clock,
    ) -> None:
        """Raises InvalidSettings for a base that is none, or a credential that no header holds."""
        self._credential_header = _header_of(api, credential)
        self._limits = limits
        self._tls = tls
        self._clock = clock
        self._connect_to = route.connect_named if api.is_named_by_operator else route.connect
        self._scheme, self.host, self._port, self._path = _base_of(api)
        self._idle: list[tuple[float, ProviderConnection]] = []

    @asynccontextmanager
    async def call(
        self, method: str, target: RequestTarget, headers: Headers, body: bytes
    ) -> AsyncIterator[tuple[AnswerHead, AsyncIterator[bytes]]]:
        """Send the request with the credential; gives the answer's head, and its body while it comes.

        Raises Unreachable, ProviderTooSlow and ProviderBrokeOff.
        """
        request = h11.Request(
            method=method,
            target=f"{self._path}{target}",
            headers=[*self._own_headers(method, body), *headers, *self._credential_header],
        )
        connection = self._idle_one() or await self._connected()
        is_kept = False
        try:
            yield await connection.ask(request, body), connection.body()
            is_kept = len(self._idle) < _MAX_IDLE and connection.begin_next()
        finally:
            if is_kept:
                self._idle.append((self._clock.monotonic() + _KEEP_ALIVE_S, connection))
            else:
                connection.close()

    def close(self) -> None:
        """Close the connections that no call uses."""
        while self._idle:
            self._idle.pop()[1].close()

    def _idle_one(self) -> ProviderConnection | None:
        now = self._clock.monotonic()
        while self._idle:
            good_until, connection = self._idle.pop()
            if connection.is_open and now < good_until:
                return connection
            connection.close()
        return None

    async def _connected(self) -> ProviderConnection:
        within_s = self._limits.connect_s
        reader, writer = await self._connect_to(self.host, self._port, within_s=within_s)
        if self._scheme == "https":
            await self._secure(writer, within_s)
        return ProviderConnection(reader, writer, self._limits)

    async def _secure(self, writer: asyncio.StreamWriter, within_s: float) -> None:
        try:
            async with asyncio.timeout(within_s):
                await writer.start_tls(self._tls, server_hostname=self.host)
        except TimeoutError:
            writer.transport.abort()
            raise Unreachable(f"{self.host} did not agree on TLS within {within_s:g} s.") from None
        except OSError as error:  # ssl.SSLError is one
            writer.transport.abort()
            raise Unreachable(f"There is no trusted TLS with {self.host}: {error}") from None
        except BaseException:  # cancelled in the middle
            writer.transport.abort()
            raise

    def _own_headers(self, method: str, body: bytes) -> Headers:
        host = f"[{self.host}]" if ":" in self.host else self.host
        named = host if self._port == _PORTS[self._scheme] else f"{host}:{self._port}"
        # Plain answers: their use is read while they pass.
        own = [(b"host", named.encode()), (b"accept-encoding", b"identity")]
        if body or method not in {"GET", "HEAD"}:
            own.append((b"content-length", str(len(body)).encode()))
        return own


def _header_of(api: ProviderApi, credential: Secret | None) -> Headers:
    if not credential:
        return []
    written = f"{api.auth_scheme} {credential.reveal().strip()}".strip()
    # Checked here, where the words can leave it out: an error of the HTTP library would quote it.
    if not (written.isascii() and written.isprintable()):
        raise InvalidSettings(
            "A credential holds signs that no HTTP header can carry.",
            suggestion="Set it again with `dovecote secret set`, as one line of plain letters and digits.",
        )
    return [(api.auth_header.lower().encode(), written.encode())]


def _base_of(api: ProviderApi) -> tuple[str, str, int, str]:
    """Scheme, host, port and path of the base. Raises InvalidSettings."""
    try:
        parts = urlsplit(api.base)
        port = parts.port
        # Letters beyond ASCII are for whoever wrote the base to spell as the network does.
        host = (parts.hostname or "").encode("ascii").decode()
    except ValueError:
        raise _no_base(api.base) from None
    is_plain = parts.username is None and not parts.query and not parts.fragment
    is_allowed_scheme = parts.scheme == "https" or (parts.scheme == "http" and api.is_named_by_operator)
    if not host or not is_plain or not is_allowed_scheme or not parts.path.isascii():
        raise _no_base(api.base)
    return parts.scheme, host, port or _PORTS[parts.scheme], parts.path.rstrip("/")


def _no_base(base: str) -> InvalidSettings:
    return InvalidSettings(
        f"{base.rpartition('@')[2]!r} is no place that a provider can be reached at.",
        suggestion="Write https://host[:port][/path]; http only for an upstream that the operator names.",
    )
