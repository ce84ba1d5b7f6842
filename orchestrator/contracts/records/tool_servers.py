"""Tool servers that an agent's program uses besides ours. Source: agents.md section 4."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """A tool server that an agent's program starts (command) or reaches through the proxy (url)."""

    name: str
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
