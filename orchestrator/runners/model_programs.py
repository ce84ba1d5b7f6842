"""What an agent of a model finds inside where there is no image: the tool server, and the agent programs."""

from pathlib import Path

import structlog

from orchestrator.contracts.errors import StartFailed, Unavailable
from orchestrator.runners.agent_directory import AgentDirectory, current_agents, install_agents
from orchestrator.runners.agent_programs import OFFERED, how_to_install, is_complete
from orchestrator.runners.runner_files import Interpreter
from orchestrator.runners.tool_packages import MinorVersion, ensure_tool_packages, version_of

_log = structlog.get_logger(__name__)


def model_programs(root: Path, interpreter: Interpreter, program: str | None) -> tuple[Path, Path | None]:
    """The tool server's packages, made if need be, and the agent programs' directory, if there is one.

    program: one that has to be there; it is fetched if it is not. Blocks. Raises Unavailable, and
    StartFailed naming the command that installs it.
    """
    tools = ensure_tool_packages(root, interpreter)
    agents = current_agents(root)
    if program is not None and not _holds(agents, program, version_of(interpreter.outside)):
        agents = _install(root, agents, program, interpreter)
    return tools, None if agents is None else agents.path


def _holds(agents: AgentDirectory | None, program: str, python: MinorVersion) -> bool:
    return agents is not None and agents.python == python and is_complete(program, agents.parts)


def _install(
    root: Path, agents: AgentDirectory | None, program: str, interpreter: Interpreter
) -> AgentDirectory:
    """The operator chose the provider, and what is fetched is pinned by its hashes: no more need be asked."""
    if program not in OFFERED:
        raise StartFailed(
            f"The agent program {program} is not installed.",
            suggestion=f"It has to be one of: {', '.join(OFFERED)}.",
        )
    _log.info("programs.installing", program=program)
    present = () if agents is None else agents.programs
    try:
        return install_agents(root, {*present, program}, interpreter, lambda _: None)
    except Unavailable as error:
        raise StartFailed(
            f"The agent program {program} is not installed: {error.message}",
            suggestion=f"{error.suggestion} {how_to_install(program)}",
        ) from error
