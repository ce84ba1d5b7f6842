"""An orchestrator whose one group is a choir on WhatsApp, with the double at the far end."""

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from random import Random
from typing import Final

from orchestrator.app.doors import App
from orchestrator.app.parts import Replacements
from orchestrator.app.running import running
from orchestrator.channels.base import ChannelParts
from orchestrator.channels.whatsapp.bridge import BridgeRule
from orchestrator.channels.whatsapp.channel import ChannelPlan, WhatsAppChannel
from orchestrator.channels.whatsapp.fetching import FetchRule
from orchestrator.channels.whatsapp.formatting import to_whatsapp
from orchestrator.channels.whatsapp.pace import PaceRule
from orchestrator.cli.home import make_home
from orchestrator.cli.store_services import open_store_services
from orchestrator.commands.groups.groups import NewGroup, add_group
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.seams import Channel
from orchestrator.core.reconnects import RetryRule
from tests.support.home_on_disk import HomeOnDisk
from tests.support.whatsapp_far_end import FarEnd

CHOIR: Final = Jid("120363000000000001@g.us")
PATIENT: Final = FetchRule(wait_s=600, first_pause_s=0.05)


@contextlib.asynccontextmanager
async def choir(
    home: HomeOnDisk,
    far: FarEnd,
    *,
    fetch: FetchRule = PATIENT,
    requires_trigger: bool = True,
    more: Mapping[str, str] | None = None,
) -> AsyncIterator[App]:
    """It runs, with its account linked. more: the chats of other groups, by their folders."""
    far.link()
    opened = home.opened()
    make_home(opened)
    async with open_store_services(opened) as services:
        new = NewGroup(jid=CHOIR, folder="choir", name="Choir", adopt=True, requires_trigger=requires_trigger)
        await add_group(services, HostCaller(), new)
        for folder, jid in (more or {}).items():
            await add_group(services, HostCaller(), NewGroup(jid=Jid(jid), folder=folder, adopt=True))

    plan = ChannelPlan(
        session=far.session,
        command=far.command,
        rule=BridgeRule(retry=RetryRule(first_s=0.05, most_s=0.2), look_s=0.05, fetch=fetch),
        pace=PaceRule(chat_per_minute=1e6, all_per_minute=1e6, jitter_s=0),
        format_text=to_whatsapp,
    )

    def networks(parts: ChannelParts) -> Sequence[Channel]:
        return [WhatsAppChannel(plan, parts, random=Random(1))]

    replacements = Replacements(networks=networks, serves_api=False)
    async with running(opened.settings, opened.paths, replacements=replacements) as app:
        yield app
