"""What comes from a web page that is not ours is turned away before anything looks at it.

A page on any site can make the browser of this machine call `127.0.0.1`, by name or after it has changed what
its own name stands for: the browser then says so in `Origin` or in `Host`. Source: agents.md section 1.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from orchestrator.api.body_limit import Application, Receive, Scope, Send
from orchestrator.api.denials import deny
from orchestrator.contracts.errors import Forbidden
from orchestrator.settings.api import ApiSettings, api_ports

_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
UNIX_PEER: Final = "unix"
"""What all callers of the Unix socket have as their address."""
_CALLS: Final = frozenset({"http", "websocket"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """Where we listen on this machine, and whose pages may call there. origins: besides our own."""

    ports: tuple[int, ...] = ()
    origins: tuple[str, ...] = ()

    def knows_host(self, host: str) -> bool:
        """Whether a `Host` header names this machine and one of our ports."""
        return host.lower() in {f"{name}:{port}" for name in _NAMES for port in self.ports}

    def knows_origin(self, origin: str) -> bool:
        """Whether a page of this origin may call."""
        ours = {f"http://{name}:{port}" for name in _NAMES for port in self.ports}
        return origin.lower() in ours | set(self.origins)


def doors_of(settings: ApiSettings) -> Doors:
    """What the settings say."""
    return Doors(ports=api_ports(settings), origins=settings.allowed_origins)


class Gate:
    """ASGI middleware: answers 403 to callers from foreign pages; programs send no `Origin`."""

    def __init__(self, application: Application, *, doors: Doors) -> None:
        self._application = application
        self._doors = doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, unless a page sent it that may not."""
        if scope["type"] in _CALLS and (fault := self._fault(scope)) is not None:
            error = Forbidden(
                fault,
                suggestion="Call http://127.0.0.1 with our port, or name the page in api.allowed_origins.",
            )
            await deny(scope, send, error)
            return
        await self._application(scope, receive, send)

    def _fault(self, scope: Scope) -> str | None:
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        # A Unix socket has no name that a browser could be led to it by.
        if not is_unix(scope) and (len(hosts) != 1 or not self._doors.knows_host(hosts[0])):
            return f"The host {_shown(hosts)} is not this machine."
        if len(origins) > 1 or (origins and not self._doors.knows_origin(origins[0])):
            return f"Pages of {_shown(origins)} may not call Dovecote."
        return None


def is_unix(scope: Scope) -> bool:
    """Whether the request came by the Unix socket."""
    server = scope.get("server")
    return server is not None and server[1] is None


def peer_of(scope: Scope) -> str:
    """The address that a request came from."""
    client = scope.get("client")
    return UNIX_PEER if is_unix(scope) else str(client[0] if client else "unknown")


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for header, value in scope["headers"] if header == name]


def _shown(values: Collection[str]) -> str:
    return repr(", ".join(values)[:200])
