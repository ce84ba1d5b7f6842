"""`dovecote image build`: the agent image of the docker runner, and the sandbox's programs beside it."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.cli.build_for import BuildFor
from orchestrator.cli.home import Home, make_home, open_home
from orchestrator.contracts.errors import StartFailed, Unavailable
from orchestrator.core.text_cleaning import clean_name
from orchestrator.runners.agent_directory import current_agents, install_agents
from orchestrator.runners.agent_programs import OFFERED, named_programs
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.host_system import bwrap_programs, is_switch_off, why_not_startable
from orchestrator.runners.image import build_image, own_image, programs_now
from orchestrator.runners.image_pruning import PRUNE, other_images
from orchestrator.runners.runner_files import choose_interpreter

DEFAULT_BASE: Final = "dovecote-base:bookworm"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildWish:
    """Which agent programs are to be there afterwards, by what is there now."""

    added: frozenset[str]
    removed: frozenset[str]

    def of(self, present: Iterable[str]) -> tuple[str, ...]:
        """All that are to be there."""
        wanted = (set(present) | self.added) - self.removed
        return tuple(name for name in OFFERED if name in wanted)


def build(
    home_option: Path | None, *, base: str | None, with_: str, without: str, build_for: BuildFor | None
) -> None:
    """Build for what the machine has, or what was named; lines on standard error show how far it is.

    with_, without: names of agent programs, or `all`. Raises DovecoteError.
    """
    home = open_home(home_option)
    wish = BuildWish(added=frozenset(named_programs(with_)), removed=frozenset(named_programs(without)))
    in_sandbox = _has_bwrap(home) if build_for is None else build_for is not BuildFor.DOCKER
    filled = in_sandbox and _fill(home, wish)
    if build_for is BuildFor.BUBBLEWRAP:
        return
    engine = Engine(home.settings.agent.engine_url)
    try:
        if build_for is None and filled and (reason := _why_no_engine(engine)) is not None:
            print(f"For bubblewrap only; Docker is not usable: {reason}", file=sys.stderr)
            return
        _build_image(home, engine, base=base or DEFAULT_BASE, wish=wish)
    finally:
        engine.close()


def _fill(home: Home, wish: BuildWish) -> bool:
    """Install what agents in a sandbox find; False when nothing was asked for and nothing is there."""
    earlier = current_agents(home.paths.programs)
    programs = wish.of(() if earlier is None else earlier.programs)
    if earlier is None and not programs:
        return False
    make_home(home)
    made = install_agents(home.paths.programs, programs, choose_interpreter(), _show)
    print(f"{made.path} is ready ({', '.join(made.programs) or 'no agent programs'}).")
    return True


def _build_image(home: Home, engine: Engine, *, base: str, wish: BuildWish) -> None:
    name = home.settings.agent.image or own_image()
    print(f"Building {name} on {base}…", file=sys.stderr)
    programs = wish.of(engine.run(lambda client: programs_now(client, name)))
    shared = current_agents(home.paths.programs)
    image_id = build_image(engine, name=name, base=base, progress=_show, programs=programs, shared=shared)
    print(f"{name} is ready ({', '.join(programs) or 'no agent programs'}; {image_id[:19]}).")
    if others := engine.run(lambda client: other_images(client, name)):
        print(f"Older images and those of other checkouts: {len(others)}. To remove them: {PRUNE}")


def _has_bwrap(home: Home) -> bool:
    wanted = home.settings.agent.bwrap
    if wanted is not None and is_switch_off(wanted):
        return False
    return any(why_not_startable(each) is None for each in bwrap_programs(wanted))


def _why_no_engine(engine: Engine) -> str | None:
    try:
        engine.run(lambda client: client.ping())
    except (Unavailable, StartFailed) as error:
        return str(error)
    return None


def _show(line: str) -> None:
    if shown := clean_name(line):
        print(f"  {shown}", file=sys.stderr)
