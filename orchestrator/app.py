"""The one composition root: which channels, runners and clocks there are, and in which order they live."""

import asyncio
import contextlib
import os
import platform
import resource
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

import structlog

from orchestrator.api.agent_spawn import AgentSpawnApi
from orchestrator.api.credentials import Credentials
from orchestrator.api.operator_token import ensure_operator_token
from orchestrator.api.server import ApiServer
from orchestrator.channels.base import ChannelParts
from orchestrator.channels.catalog import network_channels
from orchestrator.channels.console import ConsoleChannel
from orchestrator.commands.agents.tokens import sweep_token_dirs
from orchestrator.commands.groups.first_start import give_shared_texts, register_main
from orchestrator.commands.groups.group_chats import note_group_change
from orchestrator.commands.groups.group_requests import make_missing_folders
from orchestrator.commands.hearing.chat import receive_message
from orchestrator.commands.hearing.hearing import is_read
from orchestrator.commands.hearing.said_words import do_left_words
from orchestrator.commands.running.stopping import stop_agents
from orchestrator.commands.saying.attachments import sweep_spool
from orchestrator.commands.saying.channel_health import note_channel_state
from orchestrator.commands.saying.contacts import join_contacts
from orchestrator.commands.services import Services
from orchestrator.commands.usage.usage_meter import StoredUsage
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.launch import AGENT_RUNNER_COMMAND
from orchestrator.contracts.records.messages import InboundMessage
from orchestrator.contracts.seams import (
    Channel,
    Checkpoints,
    Clock,
    Runner,
    SecretValues,
    Topic,
    UsageMeter,
)
from orchestrator.egress.proxy import EgressProxy, opened_egress
from orchestrator.engine.activities import Activities, Activity
from orchestrator.engine.alarm import AlarmClock
from orchestrator.engine.channel_set import ChannelSet
from orchestrator.engine.chat_directory import ChatDirectory
from orchestrator.engine.disk_floor import DiskFloor
from orchestrator.engine.event_feed import EventFeed
from orchestrator.engine.group_queue import GroupQueue
from orchestrator.engine.housekeeping import Housekeeping
from orchestrator.engine.left_words import LeftWords
from orchestrator.engine.operator_alerts import OperatorAlerts
from orchestrator.engine.outbox_sender import OutboxSender
from orchestrator.engine.recovery import reconcile
from orchestrator.engine.room_watch import RoomWatch
from orchestrator.engine.router import Router
from orchestrator.engine.run_state import RunParts
from orchestrator.engine.snapshots import SnapshotKeeper
from orchestrator.engine.supervisor import Stop, Supervisor
from orchestrator.engine.token_keeper import TokenKeeper
from orchestrator.engine.tree_ledger import TreeLedger
from orchestrator.engine.tree_watch import TreeWatch
from orchestrator.engine.wakeups import TopicWakeups
from orchestrator.ipc.boxes import BoxKeeper
from orchestrator.ipc.hints import Hints
from orchestrator.ipc.lane import IntakeLimits
from orchestrator.paths import Paths
from orchestrator.runners.catalog import RunnerOptions, choose_runner, make_runner
from orchestrator.runners.program_pruning import prune_programs
from orchestrator.settings.tree import Settings
from orchestrator.store import facts
from orchestrator.store.database import Database
from orchestrator.store.home_files import clear_laid_files
from orchestrator.store.instance_lock import InstanceLock
from orchestrator.store.secret_values import SecretKeeper

_log = structlog.get_logger(__name__)

_FLUSH_S: Final = 5.0
_FILES: Final = 65_536


class SystemClock:
    """The real time."""

    def now(self) -> datetime:
        """This instant, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()


class NoCheckpoints:
    """Production: nothing happens at a checkpoint."""

    def reached(self, name: str) -> None:
        """Go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacements:
    """What a test puts in the place of a real part; None keeps the real one."""

    clock: Clock | None = None
    checkpoints: Checkpoints | None = None
    runner: tuple[Runner, str] | None = None
    networks: Callable[[ChannelParts], Sequence[Channel]] | None = None
    channels: Sequence[Channel] = ()
    watches: bool = True
    agent_command: tuple[str, ...] = AGENT_RUNNER_COMMAND
    serves_api: bool = True
    secrets: SecretValues | None = None
    meter: UsageMeter | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """A running Dovecote. runner_line: which runner was chosen and why, for people."""

    services: Services
    console: ConsoleChannel
    channels: ChannelSet
    queue: GroupQueue
    outbox: OutboxSender
    activities: Activities
    events: EventFeed
    runner_line: str


@contextlib.asynccontextmanager
async def running(
    settings: Settings, paths: Paths, *, replacements: Replacements | None = None
) -> AsyncIterator[App]:
    """A Dovecote whose doors are open; leaving it is the orderly shutdown of design.md section 5.

    Raises DovecoteError when it can't start: another one holds the home, the store is unreadable,
    no runner is usable.
    """
    parts = replacements or Replacements()
    paths.ensure()
    _allow_many_files()
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(InstanceLock.acquire(paths.lock, pid=os.getpid()))
        wakeups = TopicWakeups()
        database = await Database.open(paths.database, backups=paths.backups, on_wake=wakeups.wake)
        stack.push_async_callback(database.close)
        clock = parts.clock or SystemClock()
        console = ConsoleChannel(clock=clock, wakeups=wakeups, file_path=paths.console_file)
        group = asyncio.TaskGroup()
        channel_parts = ChannelParts(
            tasks=group,
            clock=clock,
            on_state=lambda state, owns: note_channel_state(services, state, owns=owns),
            on_same=lambda pairs: join_contacts(services, pairs),
            on_group=lambda channel, change: note_group_change(services, channel, change),
            is_read=lambda message: is_read(services, message),
        )
        make_networks = parts.networks or partial(network_channels, settings, paths)
        networks = make_networks(channel_parts)
        channels = ChannelSet([*networks, *parts.channels, console])
        floor = DiskFloor(paths.data, paths.groups, floor_bytes=settings.disk_floor_bytes, clock=clock)
        ledger = TreeLedger()
        queue = GroupQueue(floor, ledger)
        services = Services(
            db=database,
            clock=clock,
            wakeups=wakeups,
            checkpoints=parts.checkpoints or NoCheckpoints(),
            settings=settings,
            paths=paths,
            text_limit=channels.text_limit,
            control=queue,
            secrets=parts.secrets or SecretKeeper(paths.secrets, environment=os.environ),
        )
        instance_id = await database.run(facts.instance_id)
        options = runner_options(settings, paths)
        runner, runner_line = parts.runner or await choose_runner(settings.agent.runner, options)
        stack.push_async_callback(runner.close)
        _log.info("runner.chosen", runner=runner.name, why=runner_line)
        await sweep_spool(services)
        boxes = await BoxKeeper.open(
            services,
            path=paths.ipc,
            limits=_intake_limits(settings),
            poll_s=settings.ipc.poll_s,
            make_hints=make_hints if parts.watches else None,
            on_violation=queue.stop_violator,
        )
        stack.push_async_callback(boxes.close)
        adopted = await reconcile(
            services,
            boxes,
            runner,
            runner_named=lambda name: make_runner(name, options),
            instance_id=instance_id,
        )
        meter = parts.meter or StoredUsage(services)
        egress = await _open_egress(stack, services, meter, [each.agent.agent_id for each in adopted])
        await register_main(services)
        await do_left_words(services)  # before anything runs that a word was not meant for
        await give_shared_texts(services)
        outbox = OutboxSender(services, channels)
        events = await EventFeed.open(services)
        trees = TreeWatch(services, ledger, live=lambda: queue.live_groups, stop=queue.stop_group)
        run_parts = RunParts(
            services=services,
            boxes=boxes,
            runner=runner,
            channels=channels,
            instance_id=instance_id,
            command=parts.agent_command,
            egress=egress,
            meter=meter,
        )
        async with group:
            activities = Activities(group, services.troubles)
            app = App(
                services=services,
                console=console,
                channels=channels,
                queue=queue,
                outbox=outbox,
                activities=activities,
                events=events,
                runner_line=runner_line,
            )
            tasks = [
                activities.start_vital("queue", lambda: queue.run(run_parts, adopted)),
                activities.start_vital("intake", boxes.run),
                activities.start_vital("outbox", outbox.run),
                activities.start_vital("router", Router(services, queue).run),
                activities.start_vital("alarm", AlarmClock(services).run),
                activities.start_vital("left words", LeftWords(services).run),
                activities.start_vital(
                    "supervisor", Supervisor(services, queue, stop=_stopper(services)).run
                ),
                activities.start_vital("snapshots", SnapshotKeeper(services, queue).run),
                activities.start_vital("housekeeping", Housekeeping(services).run),
                activities.start_vital("tokens", TokenKeeper(services).run),
                activities.start_replaceable("alerts", OperatorAlerts(services).run),
                activities.start_replaceable("event feed", events.run),
                activities.start_replaceable("group folders", lambda: make_missing_folders(services)),
                activities.start_replaceable("old programs", lambda: _prune_old_programs(paths)),
                activities.start_replaceable("chat directory", ChatDirectory(services, channels).run),
                activities.start_vital("trees", trees.run),
                activities.start_vital("room", RoomWatch(services, floor, queue, trees).run),
            ]
            doors = await _open_doors(app, parts, activities)
            try:
                yield app
            finally:
                await _close_doors(app, doors)
                for task in tasks:
                    task.cancel()


def _stopper(services: Services) -> Stop:
    return lambda agent_id, reason: stop_agents(services, HostCaller(), agent_id, reason)


async def _open_egress(
    stack: contextlib.AsyncExitStack, services: Services, meter: UsageMeter, living: Sequence[AgentId]
) -> EgressProxy:
    """The ways out of containers. What agents of an earlier process were given goes, unless they are among
    the living."""
    paths = services.paths
    opening = opened_egress(
        paths.run / "egress", meter=meter, clock=services.clock, agent_api=AgentSpawnApi(services)
    )
    egress = await stack.enter_async_context(opening)
    await egress.remove_stale(living)
    if not living:
        await asyncio.to_thread(clear_laid_files, paths.laid)
    await sweep_token_dirs(services)
    return egress


async def _prune_old_programs(paths: Paths) -> None:
    gone = await asyncio.to_thread(prune_programs, paths.programs)
    if gone:
        _log.info("programs.pruned", count=len(gone))


def make_hints() -> Hints:
    """What tells at once that a box has something new, on this system."""
    if platform.system() == "Linux":
        from orchestrator.ipc.inotify_hints import InotifyHints

        return InotifyHints()
    from orchestrator.ipc.watchfiles_hints import WatchfilesHints

    return WatchfilesHints()


def runner_options(settings: Settings, paths: Paths) -> RunnerOptions:
    """What the settings say of runners."""
    return RunnerOptions(
        image=settings.agent.image,
        programs_directory=paths.programs,
        engine_url=settings.agent.engine_url,
        bwrap=settings.agent.bwrap,
        allow_unisolated=settings.agent.allow_unisolated,
    )


def _intake_limits(settings: Settings) -> IntakeLimits:
    ipc = settings.ipc
    return IntakeLimits(
        per_minute=ipc.rate_per_minute,
        burst=ipc.burst,
        max_entries=ipc.max_entries,
        max_box_bytes=ipc.max_box_bytes,
    )


async def _open_doors(app: App, parts: Replacements, activities: Activities) -> "list[asyncio.Task[None]]":
    """Connect the channels, then serve the API: the last to open, the first to close."""
    services = app.services
    doors = [
        activities.start_replaceable(f"channel {channel.name}", _connector(app, channel))
        for channel in app.channels.all
        if channel is not app.console
    ]
    await _connector(app, app.console)()
    if parts.serves_api:
        token = await asyncio.to_thread(ensure_operator_token, services.paths.operator_token)
        server = ApiServer(
            services=services,
            door=app.console,
            credentials=Credentials(token, services),
            socket_path=services.paths.socket,
            live=app.events,
        )
        doors.append(activities.start_replaceable("api", server.run))
    return doors


def _connector(app: App, channel: Channel) -> Activity:
    async def connect() -> None:
        async def inbox(message: InboundMessage) -> None:
            await receive_message(app.services, message, channel.name)

        await channel.connect(inbox)
        app.services.wakeups.wake(Topic.OUTBOX)
        app.services.wakeups.wake(Topic.CHATS)

    return connect


async def _close_doors(app: App, doors: "list[asyncio.Task[None]]") -> None:
    """Stop accepting, let turns finish, stop agents, flush the outbox; each in bounded time."""
    settings = app.services.settings
    _log.info("shutdown.started", grace_s=settings.shutdown_grace_s)
    for door in doors:
        door.cancel()
    await app.queue.close_all(grace_s=settings.shutdown_grace_s)
    await app.outbox.flush(within_s=_FLUSH_S)
    for channel in app.channels.all:
        await channel.close()
    _log.info("shutdown.done")


def _allow_many_files() -> None:
    """Each live agent holds about a dozen descriptors; many systems allow 1,024 unless asked."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and (hard == resource.RLIM_INFINITY or soft < hard):
        wanted = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
