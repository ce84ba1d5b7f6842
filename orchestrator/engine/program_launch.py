"""What a definition adds to a launch: its program's run, its recipe's files, its mounts, its wire form."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.records.egress import EGRESS_TARGET
from orchestrator.contracts.records.launch import (
    EXTRAS_TARGET,
    HOME_TARGET,
    TOKEN_TARGET,
    WORKSPACE_TARGET,
    AgentPlaces,
    Mount,
)
from orchestrator.contracts.records.providers import AuthMode, HomePolicy
from orchestrator.contracts.wire.container_io import AgentDefinition, ToolServer
from orchestrator.core.agents.definition import DRIVERS_WITHOUT_A_MODEL
from orchestrator.core.agents.environment import PLACEHOLDER, ProgramRun
from orchestrator.core.agents.recipes import Recipe, filled, home_directories
from orchestrator.engine.identity import Identity
from orchestrator.engine.way_out import WayOut
from orchestrator.paths import Paths
from orchestrator.store.home_files import furnish_home, lay_file


def program_run(
    identity: Identity, places: AgentPlaces, way_out: WayOut | None, *, has_walls: bool
) -> ProgramRun:
    """The run as its program sees it: without walls by the host's own paths."""
    program = Path(sys.argv[0]).absolute()
    return ProgramRun(
        agent_id=identity.agent_id,
        tree_id=identity.tree_id,
        home=HOME_TARGET if has_walls else str(places.home),
        workspace=WORKSPACE_TARGET if has_walls else str(places.workspace),
        egress_port=None if way_out is None else way_out.port,
        has_github=way_out is not None and way_out.has_github,
        may_spawn=way_out is not None and way_out.has_session,
        session_token=None if way_out is None else way_out.session_token,
        our_program=None if has_walls or program.name != "dovecote" else str(program),
    )


def recipe_of(definition: Definition, run: ProgramRun) -> Recipe:
    """What the provider's templates are filled with."""
    provider = definition.provider
    is_ours = provider.api is not None and provider.auth_mode is not AuthMode.NATIVE_CLI
    has_base = is_ours and run.egress_port is not None
    return Recipe(
        base_url=f"http://127.0.0.1:{run.egress_port}" if has_base else None,
        home=run.home,
        workspace=run.workspace,
        model=definition.model,
        placeholder=PLACEHOLDER,
    )


def lay_recipe(
    paths: Paths, definition: Definition, recipe: Recipe, places: AgentPlaces, uid: int | None
) -> tuple[Mount, ...]:
    """Furnish the session home; what its program's settings are is mounted read-only over it. Blocks.

    Raises OSError.
    """
    provider = definition.provider
    has_program = provider.driver not in DRIVERS_WITHOUT_A_MODEL or provider.files
    if not has_program or provider.home_policy is HomePolicy.OPERATOR:
        return ()
    files = filled(provider.files, recipe)
    directories = home_directories(provider.environment.values(), files)
    furnish_home(places.home, directories=directories, files=files, uid=uid, gid=uid)
    return tuple(
        Mount(source=lay_file(paths.laid, text), target=f"{HOME_TARGET}/{path}")
        for path, text in files.items()
    )


def extra_mounts(definition: Definition) -> tuple[Mount, ...]:
    """The operator's additional directories."""
    return tuple(
        Mount(source=each.path, target=f"{EXTRAS_TARGET}/{each.name}", is_writable=each.is_writable)
        for each in definition.extra_directories
    )


def egress_mounts(way_out: WayOut | None) -> tuple[Mount, ...]:
    """The directory of the proxy's socket, and that of its tokens."""
    if way_out is None:
        return ()
    socket = Mount(source=way_out.door.directory, target=EGRESS_TARGET)
    if way_out.token_directory is None:
        return (socket,)
    return (socket, Mount(source=way_out.token_directory, target=TOKEN_TARGET))


def wire_definition(
    definition: Definition, *, options: Mapping[str, object], has_walls: bool
) -> AgentDefinition:
    """What its driver needs to know."""
    provider = definition.provider
    return AgentDefinition(
        driver=provider.driver,
        instructions=definition.instructions,
        options=options,
        name=definition.name,
        provider=provider.name,
        command=tuple(shlex.split(definition.command)),
        model=definition.model,
        permissions=definition.permissions.value,
        modes=provider.modes.get(definition.permissions, ()),
        mode_option=provider.mode_option,
        offers_files=provider.offers_files,
        stop_wait_s=provider.stop_wait_s,
        mcp_servers=tuple(
            ToolServer(name=each.name, command=each.command, environment=each.environment, url=each.url)
            for each in definition.mcp_servers
        ),
        max_turns=definition.max_turns,
        toolsets=definition.tools,
        extra_directories=tuple(
            f"{EXTRAS_TARGET}/{each.name}" if has_walls else str(each.path)
            for each in definition.extra_directories
        ),
    )
