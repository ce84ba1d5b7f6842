"""What tests of attachments share: a workspace, a request to send from it, and what came of that."""

from pathlib import Path
from typing import Any

from tests.edges.ipc.conftest import AgentHand, World
from tests.support.eventually import eventually


def workspace(world: World, folder: str = "family") -> Path:
    """Where the agent of a group may write."""
    return world.services.paths.groups / folder / "workspace"


def spool(world: World) -> list[str]:
    """The copies that lie there."""
    return sorted(path.name for path in world.services.paths.spool.iterdir())


async def rows(world: World) -> list[dict[str, Any]]:
    """All rows of the outbox, in order."""
    async with world.services.db.reader() as reader:
        return [dict(row) for row in await reader.all("SELECT * FROM outbox ORDER BY id")]


async def sent_files(world: World) -> dict[str, bytes]:
    """Of each queued file: its name and what its copy holds."""
    found = [row for row in await rows(world) if row["spool_name"] is not None]
    return {row["file_name"]: (world.services.paths.spool / row["spool_name"]).read_bytes() for row in found}


async def ask_to_send(agent: AgentHand, *paths: str, text: str = "", number: int = 1) -> dict[str, Any]:
    """Ask by a request for these files, and give its answer."""
    request_id = f"send-{number}"
    agent.say(f"{number:04}.json", text, attachments=list(paths), requestId=request_id)
    await eventually(lambda: request_id in agent.replies())
    reply: dict[str, Any] = agent.replies()[request_id]
    return reply
