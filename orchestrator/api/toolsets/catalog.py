"""Every toolset with its server. To import this is to load the library that speaks MCP, which takes long."""

from collections.abc import Mapping

from orchestrator.api.closing import Closing
from orchestrator.api.credentials import Credentials
from orchestrator.api.toolsets.places import SPAWN_TOOLS_PATH
from orchestrator.api.toolsets.serving import ToolsetServer
from orchestrator.api.toolsets.spawn import INSTRUCTIONS, NAME, SpawnToolset
from orchestrator.commands.services import Services


def make_toolsets(
    services: Services, credentials: Credentials, closing: Closing
) -> Mapping[str, ToolsetServer]:
    """The servers by their paths."""
    tools = SpawnToolset(services).tools()
    return {
        SPAWN_TOOLS_PATH: ToolsetServer(NAME, INSTRUCTIONS, tools, credentials=credentials, closing=closing)
    }
