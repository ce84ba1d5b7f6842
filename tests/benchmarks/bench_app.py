"""A whole Dovecote in this process, on a home that is removed afterwards."""

import contextlib
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.app.doors import App
from orchestrator.app.parts import Replacements
from orchestrator.app.running import running
from orchestrator.commands.groups.groups import NewGroup, add_group
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.launch import AGENT_RUNNER_COMMAND
from orchestrator.paths import Paths
from orchestrator.runners.catalog import RUNNERS, RunnerOptions, make_runner
from orchestrator.settings.api import ApiSettings
from orchestrator.settings.spawn import SpawnSettings
from orchestrator.settings.tree import AgentSettings, BoundSettings, QueueSettings, Settings
from tests.benchmarks.bench_channel import BenchChannel
from tests.benchmarks.sampling import Marks, until


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What a benchmark works with. chats: one a group, in order."""

    app: App
    channel: BenchChannel
    marks: Marks
    paths: Paths
    chats: tuple[Jid, ...]

    def workspace(self, number: int) -> Path:
        """Where the agent of that chat works."""
        return self.paths.groups / f"g{number}" / "workspace"


def bench_settings(*, runner: str, max_running: int = 5) -> Settings:
    """The script driver in that runner; nothing is closed or refused for other reasons."""
    return Settings(
        agent=AgentSettings(provider="script", runner=runner),
        queue=QueueSettings(max_running=max_running),
        bounds=BoundSettings(triggers_per_sender=0, turns_per_chat=0, bot_turns_in_a_row=0),
        spawn=SpawnSettings(per_minute=10_000),
        api=ApiSettings(loopback=False),
        disk_floor_bytes=0,
        shutdown_grace_s=5,
    )


@contextlib.contextmanager
def bench_home() -> Iterator[Paths]:
    """A home on the disk that holds temporary files; short, because of the socket in it."""
    with tempfile.TemporaryDirectory(prefix="dove-") as name:
        Path(name).chmod(0o755)  # an agent's own user has to get through
        yield Paths(home=Path(name))


@contextlib.asynccontextmanager
async def bench_app(
    *,
    runner: str,
    groups: int = 1,
    channel: BenchChannel | None = None,
    command: tuple[str, ...] = AGENT_RUNNER_COMMAND,
    max_running: int = 5,
    serves_api: bool = False,
) -> AsyncIterator[Bench]:
    """A Dovecote that is open, with so many groups that answer every message."""
    network, marks = channel or BenchChannel(), Marks()
    replacements = Replacements(
        checkpoints=marks, channels=(network,), agent_command=command, serves_api=serves_api
    )
    settings = bench_settings(runner=runner, max_running=max_running)
    with bench_home() as paths:
        async with running(settings, paths, replacements=replacements) as app:
            await until(lambda: network.is_connected, within_s=10)
            chats = [await _add_group(app, number) for number in range(groups)]
            yield Bench(app=app, channel=network, marks=marks, paths=paths, chats=tuple(chats))


async def usable_runners() -> Sequence[str]:
    """The runners that can start agents on this machine, the best walls first."""
    found: list[str] = []
    with bench_home() as paths:
        paths.ensure()
        for name in RUNNERS:
            runner = make_runner(
                name, RunnerOptions(image=AgentSettings().image, programs_directory=paths.programs)
            )
            with contextlib.suppress(DovecoteError):
                if await runner.why_not() is None:
                    found.append(name)
            await runner.close()
    return found


async def _add_group(app: App, number: int) -> Jid:
    chat = Jid(f"bench:{number}")
    new = NewGroup(jid=chat, folder=f"g{number}", requires_trigger=False)
    await add_group(app.services, HostCaller(), new)
    return chat
