"""The channels that the settings switch on, besides the console. What is off is not even loaded."""

from collections.abc import Sequence
from datetime import timedelta
from random import Random

from orchestrator.channels.base import ChannelParts
from orchestrator.contracts.seams import Channel
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings


def network_channels(settings: Settings, paths: Paths, parts: ChannelParts) -> list[Channel]:
    """Those that are enabled, not connected yet."""
    return [_whatsapp(settings, paths, parts)] if settings.whatsapp.enabled else []


def _whatsapp(settings: Settings, paths: Paths, parts: ChannelParts) -> Channel:
    from orchestrator.channels.whatsapp.bridge import BridgeRule
    from orchestrator.channels.whatsapp.channel import (
        ChannelPlan,
        ChildOptions,
        WhatsAppChannel,
        child_command,
    )
    from orchestrator.channels.whatsapp.fetching import FetchRule
    from orchestrator.channels.whatsapp.formatting import to_whatsapp
    from orchestrator.channels.whatsapp.linked_since import heard_from
    from orchestrator.channels.whatsapp.pace import PaceRule

    wanted = settings.whatsapp

    def command(descriptor: int, generation: int) -> Sequence[str]:
        max_age = timedelta(seconds=wanted.max_age_s)
        options = ChildOptions(
            session=paths.whatsapp_session,
            spool=paths.whatsapp_spool,
            has_owner=wanted.has_owner,
            not_before=heard_from(paths.whatsapp_session, now=parts.clock.now(), max_age=max_age),
        )
        return child_command(options)(descriptor, generation)

    fetch = FetchRule(max_bytes=settings.attachments.max_file_bytes, wait_s=wanted.media_wait_s)
    plan = ChannelPlan(
        session=paths.whatsapp_session,
        command=command,
        rule=BridgeRule(fetch=fetch),
        read_receipts=wanted.read_receipts,
        pace=PaceRule(chat_per_minute=wanted.chat_per_minute, all_per_minute=wanted.all_per_minute),
        format_text=to_whatsapp,
    )
    return WhatsAppChannel(plan, parts, random=Random())
