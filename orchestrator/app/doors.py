"""The doors people and programs come in by: the last to open.

The API closes first, channels once all is sent.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from orchestrator.api.credentials import Credentials
from orchestrator.api.operator_token import ensure_operator_token
from orchestrator.api.server import ApiServer
from orchestrator.channels.console import ConsoleChannel
from orchestrator.commands.hearing.receiving import receive_message
from orchestrator.commands.running.lost_helpers import helpers_at_work, tell_of_stopped_helpers
from orchestrator.commands.services import Services
from orchestrator.contracts.records.messages import InboundMessage
from orchestrator.contracts.seams import Channel, Topic
from orchestrator.engine.activities import Activities, Activity
from orchestrator.engine.channel_set import ChannelSet
from orchestrator.engine.event_feed import EventFeed
from orchestrator.engine.outbox_sender import OutboxSender
from orchestrator.engine.running_agents import RunningAgents

_log = structlog.get_logger(__name__)

_FLUSH_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """A running Dovecote. runner_line: which runner was chosen and why, for people."""

    services: Services
    console: ConsoleChannel
    channels: ChannelSet
    agents: RunningAgents
    outbox: OutboxSender
    activities: Activities
    events: EventFeed
    runner_line: str


async def open_doors(
    app: App, *, serves_api: bool, give_way: Callable[[], None] | None = None
) -> "list[asyncio.Task[None]]":
    """Connect the channels, then serve the API. give_way: as of `running`."""
    services, activities = app.services, app.activities
    doors = [
        activities.start_replaceable(f"channel {channel.name}", _connector(app, channel))
        for channel in app.channels.all
        if channel is not app.console
    ]
    await _connector(app, app.console)()
    if serves_api:
        token = await asyncio.to_thread(ensure_operator_token, services.paths.operator_token)
        server = ApiServer(
            services=services,
            door=app.console,
            credentials=Credentials(token, services),
            socket_path=services.paths.socket,
            live=app.events,
            give_way=give_way,
        )
        doors.append(activities.start_replaceable("api", server.run))
    return doors


async def _close_agents(services: Services, agents: RunningAgents, *, grace_s: float) -> None:
    """Chats are told of helpers that are not done by the end of it: nobody goes on with those."""
    at_work = await services.db.run(helpers_at_work)
    await agents.close_all(grace_s=grace_s)
    at = services.clock.now()
    await services.db.run(lambda tx: tell_of_stopped_helpers(tx, services, at_work, at=at))


def _connector(app: App, channel: Channel) -> Activity:
    async def connect() -> None:
        async def inbox(message: InboundMessage) -> None:
            await receive_message(app.services, message, channel.name)

        await channel.connect(inbox)
        app.services.wakeups.wake(Topic.OUTBOX)
        app.services.wakeups.wake(Topic.CHATS)

    return connect


async def close_doors(app: App, doors: "list[asyncio.Task[None]]") -> None:
    """Stop accepting, let turns finish, stop agents, flush the outbox; each in bounded time."""
    settings = app.services.settings
    _log.info("shutdown.started", grace_s=settings.shutdown_grace_s)
    for door in doors:
        door.cancel()
    await _close_agents(app.services, app.agents, grace_s=settings.shutdown_grace_s)
    await app.outbox.flush(within_s=_FLUSH_S)
    for channel in app.channels.all:
        await channel.close()
    _log.info("shutdown.done")
