"""One agent whose driver is `acp`, with a shipped provider's recipe, its real program, and its model."""

import os
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.contracts.records.providers import Permissions, Provider
from orchestrator.contracts.wire.container_io import AgentDefinition, ContainerInput, SessionNamed
from orchestrator.core.agents.provider_file import merge_providers, parse_provider_file
from orchestrator.core.agents.recipes import Recipe, filled
from orchestrator.shipped import shipped_providers
from tests.edges.container.agent_process import AgentProcess, Home, agent, given
from tests.support.model_server import ModelServer

_API_PREFIX = {"codex": "/v1", "opencode": "/v1"}
"""What belongs to a provider's base beside the server's address."""


def shipped_provider(name: str) -> Provider:
    """The recipe as it comes with Dovecote."""
    layer = parse_provider_file(shipped_providers(), where="providers.toml", is_operators=False)
    return merge_providers([layer]).named(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RealProgram:
    """Everything that outlives one run of the agent."""

    home: Home
    model: ModelServer
    programs: Path
    provider: Provider

    def environment(self) -> dict[str, str]:
        """What the host sets, with the model server where the way out would be."""
        directory = self.home.root / "home"
        recipe = Recipe(
            base_url=self.model.url + _API_PREFIX.get(self.provider.name, ""),
            home=str(directory),
            workspace=str(self.home.workspace),
            model=self.provider.model,
            placeholder="placeholder",
        )
        for path, text in filled(self.provider.files, recipe).items():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).write_text(text)
        variables = filled(self.provider.environment, recipe)
        for value in variables.values():
            if value.startswith(str(directory)):
                Path(value).mkdir(parents=True, exist_ok=True)
        slots = {slot.target_env: recipe.placeholder for slot in self.provider.slots}
        path = f"{self.programs / 'bin'}:{os.environ['PATH']}"
        # A program refuses to run as root without walls, unless it is told that there are some.
        ours = {
            "PATH": path,
            "IS_SANDBOX": "1",
            "DOVECOTE_CHAT": "console:family",
            "DOVECOTE_PROVIDER_HARNESS": self.provider.harness or self.provider.driver,
        }
        return ours | variables | slots

    def asked(
        self, *texts: str, session_id: str | None = None, permissions: str = "approve-all"
    ) -> ContainerInput:
        """An input for the driver."""
        definition = AgentDefinition(
            driver="acp",
            command=tuple(shlex.split(self.provider.command)),
            model=self.provider.model,
            permissions=permissions,
            modes=self.provider.modes.get(Permissions(permissions), ()),
            mode_option=self.provider.mode_option,
            offers_files=self.provider.offers_files,
            stop_wait_s=self.provider.stop_wait_s,
            instructions="You are the assistant of this test.",
            toolsets=("chat", "tasks"),
        )
        return replace(given(*texts), session_id=session_id, agent=definition)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[AgentProcess]:
        """A fresh run of the agent, told to stop at the end: killed, it would leave its program behind."""
        async with agent(self.home, extra=self.environment()) as process:
            try:
                yield process
            finally:
                with suppress(ProcessLookupError):
                    process.process.terminate()
                await process.exit_code()


def session_of(process: AgentProcess) -> str:
    """The newest session that it has named."""
    return [item for item in process.items if isinstance(item, SessionNamed)][-1].session_id
