"""What an agent is, as `AGENT.md`, providers and settings say together. Source: agents.md section 4."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.contracts.records.providers import CredentialSlot, Permissions, Provider
from orchestrator.contracts.records.tool_servers import McpServer


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraDirectory:
    """A host directory seen at `/workspace/extra/<name>`, within the operator's allowlist."""

    name: str
    path: Path
    is_writable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a group may spend; None is no bound. Days and months are those of the group's timezone."""

    tokens_per_day: int | None = None
    usd_per_month: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPort:
    """A host that a group's agents may reach, by TLS through `CONNECT`."""

    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """The resolved definition of a group's agent.

    instructions: the rendered role, the text for all groups first. tools: names of toolsets.
    egress: what beside the provider's API may be reached. allows_provider_tools: bodies may ask the
    provider to reach elsewhere (`provider-tools` in `egress`). github: the token for GitHub that it finds
    in a file; None: it has none.
    """

    name: str
    provider: Provider
    command: str
    model: str | None
    permissions: Permissions
    instructions: str
    mcp_servers: tuple[McpServer, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    extra_directories: tuple[ExtraDirectory, ...] = ()
    tools: tuple[str, ...] = ("chat", "tasks")
    max_turns: int | None = None
    budget: Budget = field(default_factory=Budget)
    egress: tuple[HostPort, ...] = ()
    allows_provider_tools: bool = False
    locale: str | None = None
    github: CredentialSlot | None = None
