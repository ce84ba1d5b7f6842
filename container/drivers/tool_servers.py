"""The tool servers that a program is given: the definition's, and ours under a name nobody else can take."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from container.drivers.driver import DriverContext, ProgramMissing
from container.drivers.leave import OWN_SERVER
from container.mcp_server import CHAT_VARIABLE, TOOLS_VARIABLE, TOOLSETS_VARIABLE, VERSION_VARIABLE
from container.places import BOX_VARIABLE, GLOBAL_VARIABLE, WORKSPACE_VARIABLE
from orchestrator.contracts.wire.argv import script_of
from orchestrator.contracts.wire.container_io import AgentDefinition, ToolServer

# Our own files are named here: some programs drop a server whose environment holds PYTHONPATH.
_START: Final = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from container.mcp_server import main; sys.exit(main())"
)
_PASSED_ON: Final = (
    *(WORKSPACE_VARIABLE, GLOBAL_VARIABLE, BOX_VARIABLE),
    *(TOOLS_VARIABLE, TOOLSETS_VARIABLE, CHAT_VARIABLE, VERSION_VARIABLE),
    *("PATH", "HOME", "LANG", "TZ"),
)


def check_tool_servers(context: DriverContext, agent: AgentDefinition) -> None:
    """Raises ProgramMissing for one of the definition's whose program is not here. Blocks: in a thread."""
    for server in agent.mcp_servers:
        if server.name == OWN_SERVER or not server.command:
            continue
        program, script = server.command[0], script_of(server.command)
        named = str(context.places.workspace / program) if "/" in program else program
        searched = (server.environment or {}).get("PATH")
        if shutil.which(named, path=searched) is None:
            what = f"The program {program!r}"
        elif script is not None and not os.path.exists(context.places.workspace / script):
            what = f"The script {script!r}"
        else:
            continue
        raise ProgramMissing(
            f"{what} of the tool server {server.name!r} is not here, or can't be run.",
            suggestion="Run on the host: dovecote doctor",
        )


def tool_servers(context: DriverContext, agent: AgentDefinition) -> Sequence[ToolServer]:
    """All of them, ours first."""
    return (
        own_server(context, agent),
        *(server for server in agent.mcp_servers if server.name != OWN_SERVER),
    )


def own_server(context: DriverContext, agent: AgentDefinition) -> ToolServer:
    """Dovecote's own tools for this agent's chat."""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment.setdefault(CHAT_VARIABLE, context.given.chat_jid)
    if agent.toolsets:
        environment[TOOLSETS_VARIABLE] = ",".join(agent.toolsets)
    # -s, -P: nothing that the agent writes is imported; -B: nothing is written beside our files.
    command = (sys.executable, "-s", "-P", "-B", "-c", _START, str(Path(__file__).parents[2]))
    return ToolServer(name=OWN_SERVER, command=command, environment=environment)
