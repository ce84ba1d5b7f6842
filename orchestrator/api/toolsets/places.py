"""At which path each toolset is."""

from typing import Final

SPAWN_TOOLS_PATH: Final = "/mcp/spawn"
TOOLSET_PATHS: Final = (SPAWN_TOOLS_PATH,)
"""All of them."""
