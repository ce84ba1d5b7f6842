"""A container's one way out: what the proxy lets through for one agent. Source: agents.md section 5."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from orchestrator.contracts.ids import AgentId, GroupFolder
from orchestrator.contracts.records.definitions import HostPort
from orchestrator.contracts.records.providers import ProviderApi

EGRESS_TARGET: Final = "/run/dovecote/egress"
"""Where a container sees the directory of its proxy's socket."""
EGRESS_SOCKET: Final = "proxy.sock"
SPAWN_PATH: Final = "/api/v1/spawn"
"""What an agent that may start others asks of the orchestrator, by the same socket. Source: seed 000."""
EVENT_PATHS: Final = ("/", "/ws")
"""Where a WebSocket tells what happens to agents. Source: seed 000."""
FORWARDER_PORT: Final = 18_080
"""Where the forwarder listens on the container's own `127.0.0.1`."""


class Secret:
    """A text that shows itself to nobody who prints, logs or compares it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself; only for the one line that sends it."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __bool__(self) -> bool:
        return bool(self._text)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a secret is not to be pickled or copied")


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressLimits:
    """Per agent. Bytes are those of one request's body, or of both directions of one tunnel."""

    connections: int = 64
    requests_in_flight: int = 16
    request_bytes: int = 32 * 1024**2
    tunnel_bytes: int = 1024**3
    header_bytes: int = 64 * 1024
    idle_s: float = 120.0
    connect_s: float = 15.0
    answer_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressPolicy:
    """What one agent may reach. api None: no provider; credential None: sent without one.

    serves_spawn: whether its door answers `SPAWN_PATH` itself.
    """

    agent_id: AgentId
    group: GroupFolder
    api: ProviderApi | None
    credential: Secret | None
    hosts: tuple[HostPort, ...] = ()
    allows_provider_tools: bool = False
    uid: int | None = None
    serves_spawn: bool = False
    limits: EgressLimits = field(default_factory=EgressLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCall:
    """What an agent asks of the orchestrator over HTTP. authorization: the header as it came."""

    agent_id: AgentId
    method: str
    authorization: str | None
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    """What it is answered: JSON."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ProviderFailure(StrEnum):
    """How a provider failed an agent. AGENT_LEFT is no failure of the provider: nobody waited any longer."""

    CREDENTIAL_REFUSED = "credential_refused"
    UNPAID = "unpaid"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    BROKEN = "broken"
    UNREACHABLE = "unreachable"
    TOO_SLOW = "too_slow"
    CUT = "cut"
    AGENT_LEFT = "agent_left"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCall:
    """One finished call to a provider's API. Tokens are what its answer says; None: it says nothing.

    status: of HTTP; 0 where no answer came. failure: a `ProviderFailure`. input_tokens: those that no
    cache held or now holds. path: without the query.
    """

    agent_id: AgentId
    group: GroupFolder
    provider_host: str
    method: str
    path: str
    status: int
    at: datetime
    duration_s: float
    bytes_sent: int
    bytes_received: int
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    failure: str | None = None
