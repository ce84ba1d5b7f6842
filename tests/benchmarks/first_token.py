"""Standard input read → the first words of a real program, through forwarder and proxy and without them.

Of the agent programs that are installed in this checkout: `dovecote image build --with claude,claude-code`.
"""

import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Final
from urllib.parse import urlsplit

from orchestrator.contracts.wire.container_io import ContainerInput, Ready
from orchestrator.runners.agent_directory import current_agents
from tests.benchmarks.egress import forwarded
from tests.benchmarks.table import Row
from tests.edges.container.acp_driver.real_program import RealProgram, shipped_provider
from tests.edges.container.agent_process import AgentProcess, agent, make_home
from tests.edges.container.claude_driver.claude_home import ClaudeHome, asked
from tests.support.model_server import ModelServer, Rule, Say, running_model_server

_PROGRAMS: Final = Path(__file__).resolve().parents[2] / "data" / "programs"
_TRIED: Final = ("claude", "claude-code")
_ROUNDS: Final = 7


async def run() -> list[Row]:
    """A median a program; both ways take turns. The floor: the same program asks its model directly."""
    installed = current_agents(_PROGRAMS)
    rows: list[Row] = []
    for name in _TRIED:
        if installed is None or name not in installed.programs:
            print(f"  {name} is not installed: dovecote image build --with {name}", file=sys.stderr)
            continue
        rows.append(await _row(name, installed.path))
    return rows


async def _row(name: str, programs: Path) -> Row:
    took_ms: dict[bool, list[float]] = {True: [], False: []}
    async with AsyncExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = await stack.enter_async_context(running_model_server())
        model.play(Rule(text="", steps=(Say(text="Good day."),)))
        port = urlsplit(model.url).port
        assert port is not None
        (place / "way").mkdir()
        through = f"http://127.0.0.1:{await stack.enter_async_context(forwarded(place / 'way', port))}"
        for number in range(_ROUNDS + 1):
            for is_through in (False, True):
                home = place / f"{number}-{is_through}"
                took = await _first_words_ms(
                    name, home, programs, model, through if is_through else model.url
                )
                if number:  # the first of each fills the caches of both
                    took_ms[is_through].append(took)
    return Row(
        name=f"{name}: input → first words through the proxy, p50",
        figure=median(took_ms[True]),
        unit="ms",
        floor=median(took_ms[False]),
    )


async def _first_words_ms(name: str, root: Path, programs: Path, model: ModelServer, base_url: str) -> float:
    async with _started(name, root, programs, model, base_url) as (running, given):
        await running.until(lambda: any(isinstance(item, Ready) for item in running.items))
        began = time.monotonic()
        await running.give(given)
        await running.until(lambda: running.texts)
        took_s = time.monotonic() - began
        await running.until_ended(1)
        running.process.terminate()
        await running.exit_code()
    return took_s * 1000


@asynccontextmanager
async def _started(
    name: str, root: Path, programs: Path, model: ModelServer, base_url: str
) -> AsyncIterator[tuple[AgentProcess, ContainerInput]]:
    """An agent runner, and what it is to be asked. base_url: where its program finds its model."""
    home = make_home(root)
    if name == "claude":
        environment = ClaudeHome(home=home, model=model, programs=programs).environment()
        given = asked("hello")
    else:
        program = RealProgram(home=home, model=model, programs=programs, provider=shipped_provider(name))
        environment, given = program.environment(), program.asked("hello")
    async with agent(home, extra=environment | {"ANTHROPIC_BASE_URL": base_url}) as running:
        yield running, given
