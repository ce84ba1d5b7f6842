"""What a home has from its first start on: the operator's own group, and the text for all groups."""

import asyncio
from typing import Final

import structlog

from orchestrator.commands.groups.groups import NewGroup, add_group, list_groups
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.ids import Jid
from orchestrator.shipped import load_shipped

_log = structlog.get_logger(__name__)

MAIN_CHAT: Final = Jid("console:main")
MAIN_FOLDER: Final = "main"


async def register_main(services: Services) -> None:
    """Make the console chat the operator's own group, unless there is one."""
    if any(group.is_main for group in await list_groups(services)):
        return
    new = NewGroup(jid=MAIN_CHAT, folder=MAIN_FOLDER, name="Main", is_main=True, adopt=True)
    await add_group(services, HostCaller(), new)
    _log.info("group.registered", group=MAIN_FOLDER, chat=MAIN_CHAT)


async def give_shared_texts(services: Services) -> None:
    """The text for all groups, where the home has none yet."""

    def give() -> None:
        folder = services.paths.groups / "global"
        folder.mkdir(mode=0o711, exist_ok=True)
        target = folder / "AGENT.md"
        if not target.exists():
            target.write_text(load_shipped().global_agent_md, encoding="utf-8")

    await asyncio.to_thread(give)
