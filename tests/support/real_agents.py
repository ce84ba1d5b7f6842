"""A home whose agents are a real program that talks to a model server through the way out."""

import json
import os
import shutil
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.app.doors import App
from orchestrator.runners.agent_programs import PARTS
from orchestrator.store.secret_values import SecretKeeper
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.model_server import ModelServer

KEY: Final = "sk-the-operators-own-key"
"""What only the model server and the orchestrator know."""
PROVIDERS: Final[Sequence[str]] = ("claude", "claude-code", "codex", "gemini", "opencode", "pi")
"""The shipped providers with a program of their own."""
_API_PREFIX: Final = {"codex": "/v1", "opencode": "/v1"}
"""What belongs to a provider's base beside the server's address."""
_COMMANDS: Final = {
    "claude": "claude",
    "claude-code": "claude",
    "codex": "codex-acp",
    "gemini": "node",
    "opencode": "opencode",
    "pi": "node",
}
"""The program that talks to the model, by the end of its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealAgents:
    """One home, its agents' program and their model."""

    home: HomeOnDisk
    model: ModelServer
    provider: str
    runner: str

    async def prepare(self, *, tools: str = "chat, tasks", **settings: object) -> None:
        """Register the group and do what the README has an operator do: a secret, a provider, an upstream.

        tools: the toolsets of its agent.
        """
        base_url = self.model.url + _API_PREFIX.get(self.provider, "")
        upstream = {f"providers.{self.provider}.base_url": base_url}
        plain = {"agent.runner": self.runner, "agent.permissions": "approve-all"}
        self.home.set(**(plain | upstream | settings))
        await self.home.add_group()
        paths = self.home.opened().paths
        SecretKeeper(paths.secrets, environment={}).set(
            f"providers/{self.provider}/api_key", KEY, in_file=True
        )
        (paths.groups / "kitchen" / "AGENT.md").write_text(
            f"---\nprovider: {self.provider}\ntools: [{tools}]\n---\nYou are {{{{ assistant_name }}}}.\n",
            encoding="utf-8",
        )

    async def answered(self, *texts: str, within_s: float = 90) -> None:
        """Wait until all of these have been said, in this order, whatever was said besides."""
        await eventually(lambda: self._holds(texts), within_s=within_s, what=lambda: (texts, self.story()))

    def _holds(self, texts: Sequence[str]) -> bool:
        said = iter(self.home.texts())
        return all(any(text in each for each in said) for text in texts)

    def asks(self, text: str) -> int:
        """How often the model was asked something with `text` in it, titles and the like not counted."""
        return sum(
            1
            for each in self.model.model_calls
            if each.asked is not None and each.asked.tools and text in each.body.decode()
        )

    async def asked(self, text: str, *, times: int = 1) -> None:
        """Wait until the model was asked something with `text` in it."""
        await eventually(lambda: self.asks(text) >= times, within_s=60, what=self.story)

    async def ended(self) -> None:
        """Wait until no agent of this home runs."""
        live = "SELECT 1 FROM agents WHERE status IN ('starting', 'running', 'stopping')"
        await eventually(lambda: not self.home.rows(live), within_s=60, what=self.story)

    async def answered_in_the_end(self, app: App, *texts: str) -> None:
        """As `answered`, and no wait between two tries is waited for."""

        async def holds() -> bool:
            await let_it_try_again(app)
            return self._holds(texts)

        await eventually(holds, within_s=90, what=lambda: (texts, self.story()))

    def forget_sessions(self) -> None:
        """Remove all that the program keeps, as if the disk had lost it."""
        shutil.rmtree(self.home.opened().paths.sessions / "kitchen" / self.provider)

    def kill_program(self) -> int:
        """kill -9 what talks to the model, in every agent of this home; how many there were."""
        pids = [pid for pid in self._inside() if _name_of(pid).endswith(_COMMANDS[self.provider])]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(pids)

    def story(self) -> str:
        """How things stand, for a failure's message."""
        calls = [
            (each.method, each.path, each.status, each.asked and each.asked.prompt[-80:])
            for each in self.model.requests
        ]
        return f"{self.home.texts()}\nmodel: {calls}{self.home.story()}"

    def _inside(self) -> list[int]:
        """The processes of this home's agents: they know whose they are."""
        agents = {row["agent_id"] for row in self.home.rows("SELECT agent_id FROM agents")}
        found = list[int]()
        for each in Path("/proc").iterdir():
            with suppress(OSError, ValueError):
                words = (each / "environ").read_bytes().split(b"\0")
                ours = [word for word in words if word.startswith(b"DOVECOTE_SESSION_ID=")]
                if ours and ours[0].decode().partition("=")[2] in agents:
                    found.append(int(each.name))
        return found


async def let_it_try_again(app: App) -> None:
    """The wait between two tries is over."""
    await app.services.db.run(lambda tx: tx.execute("UPDATE messages SET due_ms = 0", {}))


def link_programs(programs: Path, agents: Path) -> None:
    """Have sandboxes that take their programs from `programs` find the agent programs in `agents`."""
    programs.mkdir(exist_ok=True)
    (programs / "agents").symlink_to(agents.resolve())
    assert PARTS.keys() >= json.loads((agents / "manifest.json").read_bytes())["parts"].keys()


def _name_of(pid: int) -> str:
    return (Path("/proc") / str(pid) / "exe").readlink().name
