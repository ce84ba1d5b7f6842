"""The tool server of an agent, named `dovecote`: MCP over standard input and output, a process of its own.

The model's program starts it, as its driver tells it to, in the agent's own environment, and ends it by
closing its input. Exit codes: 0 done, 2 the environment names no chat, 3 its packages are not here. Source:
contracts.md section 5.
"""

import asyncio
import os
import sys
from typing import Final

from container.places import places_from
from container.tools import ToolBelt
from orchestrator.contracts.ids import Jid

EXIT_DONE: Final = 0
EXIT_NO_CHAT: Final = 2
EXIT_NO_PACKAGES: Final = 3

CHAT_VARIABLE: Final = "DOVECOTE_CHAT"
TOOLS_VARIABLE: Final = "DOVECOTE_TOOLS"
TOOLSETS_VARIABLE: Final = "DOVECOTE_TOOLSETS"
VERSION_VARIABLE: Final = "DOVECOTE_VERSION"


def main() -> int:
    """Serve until the input ends; returns the exit code."""
    chat = os.environ.get(CHAT_VARIABLE)
    if not chat:
        print(f"{CHAT_VARIABLE} is not set, so nobody knows whose tools these are.", file=sys.stderr)
        return EXIT_NO_CHAT
    # Before what else is installed here: the system's copy of a package may be another version.
    packages = os.environ.get(TOOLS_VARIABLE, "/opt/dovecote-tools")
    sys.path.insert(0, packages)
    try:
        from container.mcp_protocol import serve
    except ModuleNotFoundError as error:
        print(f"There is no {error.name!r} in {packages}; build the image again.", file=sys.stderr)
        return EXIT_NO_PACKAGES
    places = places_from(os.environ)
    toolsets = os.environ.get(TOOLSETS_VARIABLE, "chat,tasks").split(",")
    belt = ToolBelt(box=places.box, chat=Jid(chat), workspace=places.workspace, toolsets=toolsets)
    version, zone = os.environ.get(VERSION_VARIABLE, ""), os.environ.get("TZ", "UTC")
    asyncio.run(serve(belt, version=version, zone=zone))
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
