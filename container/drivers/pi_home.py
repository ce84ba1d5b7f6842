"""What the program `pi` reads at its start: it knows its tools and tool servers by files only, not by its
protocol.

Written anew before each start, and all else that it would load from there goes: what an agent puts there
runs nothing the next time. Source: agents.md section 4, harness `pi_acp`.
"""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from container.drivers.leave import OWN_SERVER
from orchestrator.contracts.wire.container_io import AgentDefinition, ToolServer

HARNESS_VARIABLE: Final = "DOVECOTE_PROVIDER_HARNESS"
HARNESS: Final = "pi_acp"
DIRECTORY_VARIABLE: Final = "PI_CODING_AGENT_DIR"
_MODELS: Final = "models.json"
_KEPT: Final = frozenset({"sessions", "auth.json", _MODELS})
_PROVIDER: Final = "dovecote"
"""What the provider of `models.json` is called there."""
_TOOLS: Final[Mapping[str, Sequence[str]]] = {
    "approve-all": ("read", "bash", "edit", "write"),
    "approve-reads": ("read", "grep", "find", "ls"),
    "deny-all": (),
}
"""It asks nobody for leave, so it has the tools that need none."""


def is_wanted(environment: Mapping[str, str]) -> bool:
    """Whether the program that is to be started is this one."""
    return environment.get(HARNESS_VARIABLE) == HARNESS and bool(environment.get(DIRECTORY_VARIABLE))


def furnish(directory: Path, agent: AgentDefinition, servers: Sequence[ToolServer]) -> list[str]:
    """Write its settings and tool servers; the names of those left out, since it could not ask. Blocks."""
    directory.mkdir(parents=True, exist_ok=True)
    for entry in list(os.scandir(directory)):
        if entry.name not in _KEPT:
            _remove(Path(entry.path), is_directory=entry.is_dir(follow_symlinks=False))
    may_all = agent.permissions == "approve-all"
    offered = [server for server in servers if may_all or server.name == OWN_SERVER]
    _write(directory / "settings.json", _settings(agent, has_models=(directory / _MODELS).exists()))
    _write(directory / "mcp.json", {"mcpServers": {server.name: _server(server) for server in offered}})
    return [server.name for server in servers if server not in offered]


def _settings(agent: AgentDefinition, *, has_models: bool) -> dict[str, object]:
    chosen = {"defaultProvider": _PROVIDER, "defaultModel": agent.model} if has_models else {}
    return {
        **chosen,
        "defaultTools": [*_TOOLS.get(agent.permissions, ())],
        # Nothing that lies in the workspace configures it.
        "defaultProjectTrust": "never",
        "quietStartup": True,
        "retry": {"maxRetries": 2, "baseDelayMs": 1000},
    }


def _server(server: ToolServer) -> dict[str, object]:
    if server.url is not None:
        return {"url": server.url, "exposure": "direct"}
    # By `env`: it would read commands and variables into the values of an `env` of its own.
    variables = [f"{name}={value}" for name, value in (server.environment or {}).items()]
    return {"command": "env", "args": [*variables, *(server.command or ())], "exposure": "direct"}


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _remove(path: Path, *, is_directory: bool) -> None:
    with suppress(OSError):  # what is laid over the home can't be removed, nor written by an agent
        if is_directory:
            shutil.rmtree(path)
        else:
            path.unlink()
