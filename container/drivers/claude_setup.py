"""How the program is started for one agent: its tools, its servers, its places, and the driver's bounds."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from container.drivers.claude_client import ClaudeOptions
from container.drivers.claude_permissions import Leave, allowed_tools, offered_tools
from container.drivers.claude_sessions import KeptSessions
from container.drivers.driver import DriverContext
from container.drivers.program_patience import answer_s
from container.drivers.tool_servers import tool_servers
from orchestrator.contracts.wire.container_io import AgentDefinition, ToolServer

CONFIGURATION_VARIABLE: Final = "CLAUDE_CONFIG_DIR"
_INSTRUCTIONS: Final = "dovecote-instructions.md"
_MIB: Final = 1024**2

_ENVIRONMENT: Final = {
    # Behind a search, the model does not see our tools.
    "ENABLE_TOOL_SEARCH": "false",
    # What goes on after a turn would have nobody to tell, and ends with the container.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_CRON": "1",
}
_MODES: Final = ("default", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBounds:
    """From where on a session is replaced by one with its summary, and what of the past is kept."""

    session_bytes: int = 24 * _MIB
    kept: KeptSessions = field(default_factory=lambda: KeptSessions(count=20, size_bytes=256 * _MIB))


def session_bounds(options: Mapping[str, object] | None) -> SessionBounds:
    """The bounds, where the definition's options name others: session_bytes, kept_sessions, kept_bytes."""
    usual = SessionBounds()
    given = options or {}
    return SessionBounds(
        session_bytes=_whole(given.get("session_bytes"), usual.session_bytes),
        kept=KeptSessions(
            count=_whole(given.get("kept_sessions"), usual.kept.count),
            size_bytes=_whole(given.get("kept_bytes"), usual.kept.size_bytes),
        ),
    )


def configuration_directory(home: Path) -> Path:
    """Where the program keeps its sessions."""
    return Path(os.environ.get(CONFIGURATION_VARIABLE) or home / ".claude")


def write_instructions(directory: Path, text: str) -> Path:
    """The start-up prompt as a file: it may be longer than an argument can be, and is nobody else's to see.

    Blocks: call it in a thread.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / _INSTRUCTIONS
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def claude_options(context: DriverContext, agent: AgentDefinition, leave: Leave) -> ClaudeOptions:
    """All but the instructions and the session."""
    return ClaudeOptions(
        cwd=context.places.workspace,
        environment=_ENVIRONMENT,
        tools=offered_tools(agent.permissions),
        allowed=allowed_tools(),
        mcp_servers={server.name: _server(server) for server in tool_servers(context, agent)},
        permission_mode=next((mode for mode in agent.modes if mode in _MODES), _MODES[0]),
        extra_directories=agent.extra_directories,
        model=agent.model,
        max_turns=agent.max_turns,
        decide=leave.decide,
        answer_s=answer_s(agent.options),
    )


def _server(server: ToolServer) -> Mapping[str, object]:
    if server.url is not None:
        return {"type": "http", "url": server.url}
    program, *arguments = server.command or ("",)
    environment = dict(server.environment or {})
    return {"type": "stdio", "command": program, "args": arguments, "env": environment}


def _whole(value: object, usual: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else usual
