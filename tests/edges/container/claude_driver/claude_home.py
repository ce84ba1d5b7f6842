"""One agent whose driver is `claude`: its directories, its environment, its model."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.contracts.wire.container_io import AgentDefinition, ContainerInput, SessionNamed, ToolUsed
from tests.edges.container.agent_process import AgentProcess, Home, agent, given
from tests.support.model_server import ModelServer


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeHome:
    """Everything that outlives one run of the agent."""

    home: Home
    model: ModelServer
    programs: Path

    @property
    def configuration(self) -> Path:
        return self.home.root / "home" / ".claude"

    @property
    def transcripts(self) -> list[Path]:
        return sorted(self.configuration.glob("projects/*/*.jsonl"))

    def environment(self) -> dict[str, str]:
        """What the host sets for this provider, as `orchestrator/providers.toml` has it."""
        return {
            "DOVECOTE_AGENTS": str(self.programs),
            "DOVECOTE_CHAT": "console:family",
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "placeholder",
            "CLAUDE_CONFIG_DIR": str(self.configuration),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            # Sockets and scratch files of the program: a path that is no longer than a socket's may be.
            "TMPDIR": str(self.home.root / "home"),
        }

    @asynccontextmanager
    async def running(self, **extra: str) -> AsyncIterator[AgentProcess]:
        """A fresh run of the agent."""
        async with agent(self.home, extra=self.environment() | extra) as process:
            yield process


def asked(
    *texts: str,
    session_id: str | None = None,
    permissions: str = "approve-all",
    instructions: str = "",
    options: Mapping[str, object] | None = None,
    max_turns: int | None = None,
) -> ContainerInput:
    """An input for the driver."""
    definition = AgentDefinition(
        driver="claude",
        model="claude-sonnet-4-5",
        permissions=permissions,
        instructions=instructions,
        options=options,
        max_turns=max_turns,
        toolsets=("chat", "tasks"),
    )
    return replace(given(*texts), session_id=session_id, agent=definition)


def session_of(process: AgentProcess) -> str:
    """The newest session that it has named."""
    return [item for item in process.items if isinstance(item, SessionNamed)][-1].session_id


def tools_of(process: AgentProcess) -> list[tuple[str, str]]:
    """The tools it has used, with what became of them."""
    return [(item.name, item.status) for item in process.items if isinstance(item, ToolUsed)]


def program_pids(directory: Path) -> list[int]:
    """The living processes of an agent's program: those that have its configuration in their environment."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            environment = (entry / "environ").read_bytes()
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if f"CLAUDE_CONFIG_DIR={directory}".encode() in environment and b"agent_runner" not in command:
            found.append(int(entry.name))
    return [pid for pid in found if os.path.exists(f"/proc/{pid}")]
