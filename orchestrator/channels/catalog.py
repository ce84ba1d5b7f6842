"""The channels that the settings switch on, besides the console. What is off is not even loaded."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from random import Random

from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.channels import ChannelHealth, ChannelState
from orchestrator.contracts.seams import Channel, Clock
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings

OnState = Callable[[ChannelState, Callable[[Jid], bool]], Awaitable[None]]
"""Told how a channel stands, and which chats are its own."""
OnSame = Callable[[Sequence[tuple[Jid, Jid]]], Awaitable[None]]
"""Told which ids are one person."""


def network_channels(
    settings: Settings,
    paths: Paths,
    *,
    tasks: asyncio.TaskGroup,
    clock: Clock,
    on_state: OnState,
    on_same: OnSame,
) -> list[Channel]:
    """Those that are enabled, not connected yet. tasks: owns what they keep running."""
    if not settings.whatsapp.enabled:
        return []
    return [_whatsapp(settings, paths, tasks=tasks, clock=clock, on_state=on_state, on_same=on_same)]


def _whatsapp(
    settings: Settings,
    paths: Paths,
    *,
    tasks: asyncio.TaskGroup,
    clock: Clock,
    on_state: OnState,
    on_same: OnSame,
) -> Channel:
    from orchestrator.channels.whatsapp.bridge import BridgeState
    from orchestrator.channels.whatsapp.channel import (
        ChannelPlan,
        ChildOptions,
        WhatsAppChannel,
        child_command,
    )
    from orchestrator.channels.whatsapp.formatting import to_whatsapp
    from orchestrator.channels.whatsapp.jids import lid_and_phone
    from orchestrator.channels.whatsapp.lines import LinkState
    from orchestrator.channels.whatsapp.linked_since import heard_from
    from orchestrator.channels.whatsapp.pace import PaceRule

    wanted = settings.whatsapp

    def command(descriptor: int, generation: int) -> Sequence[str]:
        max_age = timedelta(seconds=wanted.max_age_s)
        options = ChildOptions(
            session=paths.whatsapp_session,
            spool=paths.whatsapp_spool,
            has_owner=wanted.has_owner,
            not_before=heard_from(paths.whatsapp_session, now=clock.now(), max_age=max_age),
        )
        return child_command(options)(descriptor, generation)

    async def note(state: BridgeState) -> None:
        health = ChannelHealth.DOWN if state.is_tripped else ChannelHealth.TRYING
        if state.link is LinkState.OPEN:
            health = ChannelHealth.OPEN
        elif state.link is LinkState.AUTH_REQUIRED:
            health = ChannelHealth.UNLINKED
        if (own := lid_and_phone(*state.me) if len(state.me) == 2 else None) is not None:
            with contextlib.suppress(Unavailable):  # said again with the next link
                await on_same([own])
        shown = ChannelState(name=channel.name, title="WhatsApp", health=health, why=state.why)
        await on_state(shown, channel.owns)

    plan = ChannelPlan(
        session=paths.whatsapp_session,
        command=command,
        pace=PaceRule(chat_per_minute=wanted.chat_per_minute, all_per_minute=wanted.all_per_minute),
        format_text=to_whatsapp,
    )
    channel = WhatsAppChannel(plan, tasks=tasks, clock=clock, on_state=note, on_same=on_same, random=Random())
    return channel
