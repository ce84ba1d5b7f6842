"""What stands before anything moves: the store, the channels, the running agents, and what all use."""

import asyncio
import contextlib
import os
from dataclasses import dataclass
from functools import partial

from orchestrator.app.parts import NoCheckpoints, Replacements, SystemClock
from orchestrator.channels.base import ChannelParts
from orchestrator.channels.catalog import network_channels
from orchestrator.channels.console import ConsoleChannel
from orchestrator.commands.contacts import join_contacts
from orchestrator.commands.groups.group_chats import note_group_change
from orchestrator.commands.hearing.judging import is_read
from orchestrator.commands.saying.channel_health import note_channel_state
from orchestrator.commands.services import Services
from orchestrator.engine.channel_set import ChannelSet
from orchestrator.engine.disk_floor import DiskFloor
from orchestrator.engine.running_agents import RunningAgents
from orchestrator.engine.size_ledger import SizeLedger
from orchestrator.engine.wakeups import TopicWakeups
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings
from orchestrator.store.database import Database
from orchestrator.store.instance_lock import InstanceLock
from orchestrator.store.secret_values import SecretKeeper


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """The standing parts. group: owns every task of the orchestrator, once it is entered."""

    services: Services
    group: asyncio.TaskGroup
    console: ConsoleChannel
    channels: ChannelSet
    agents: RunningAgents
    floor: DiskFloor
    ledger: SizeLedger


async def open_house(
    stack: contextlib.AsyncExitStack, settings: Settings, paths: Paths, parts: Replacements
) -> House:
    """Lock the home, open its store and make what stands on them. The stack closes them again."""
    stack.enter_context(InstanceLock.acquire(paths.lock, pid=os.getpid()))
    wakeups = TopicWakeups()
    database = await Database.open(paths.database, backups=paths.backups, on_wake=wakeups.wake)
    stack.push_async_callback(database.close)
    clock = parts.clock or SystemClock()
    group = asyncio.TaskGroup()
    console = ConsoleChannel(clock=clock, wakeups=wakeups, file_path=paths.console_file)
    channel_parts = ChannelParts(
        tasks=group,
        clock=clock,
        on_state=lambda state, owns: note_channel_state(services, state, owns=owns),
        on_same=lambda pairs: join_contacts(services, pairs),
        on_group=lambda channel, change: note_group_change(services, channel, change),
        is_read=lambda message: is_read(services, message),
    )
    make_networks = parts.networks or partial(network_channels, settings, paths)
    channels = ChannelSet([*make_networks(channel_parts), *parts.channels, console])
    floor = DiskFloor(paths.data, paths.groups, floor_bytes=settings.disk_floor_bytes, clock=clock)
    ledger = SizeLedger()
    agents = RunningAgents()
    services = Services(
        db=database,
        clock=clock,
        wakeups=wakeups,
        checkpoints=parts.checkpoints or NoCheckpoints(),
        settings=settings,
        paths=paths,
        text_limit=channels.text_limit,
        control=agents,
        secrets=parts.secrets or SecretKeeper(paths.secrets, environment=os.environ),
    )
    return House(
        services=services,
        group=group,
        console=console,
        channels=channels,
        agents=agents,
        floor=floor,
        ledger=ledger,
    )
