"""What is always at work in a running Dovecote."""

import asyncio
from typing import Final

import structlog

from orchestrator.app.ground import Ground
from orchestrator.app.house import House
from orchestrator.commands.groups.group_requests import make_missing_folders
from orchestrator.engine.activities import Activities
from orchestrator.engine.alarm import AlarmClock
from orchestrator.engine.chat_directory import ChatDirectory
from orchestrator.engine.event_feed import EventFeed
from orchestrator.engine.group_queue import GroupQueue
from orchestrator.engine.housekeeping import Housekeeping
from orchestrator.engine.left_words import LeftWords
from orchestrator.engine.operator_alerts import OperatorAlerts
from orchestrator.engine.outbox_sender import OutboxSender
from orchestrator.engine.room_watch import RoomWatch
from orchestrator.engine.router import Router
from orchestrator.engine.size_watch import SizeWatch
from orchestrator.engine.snapshots import SnapshotKeeper
from orchestrator.engine.supervisor import SWEEP_S, Supervisor
from orchestrator.engine.token_keeper import TokenKeeper
from orchestrator.paths import Paths
from orchestrator.runners.program_pruning import prune_programs

_log = structlog.get_logger(__name__)
_POLLS_A_SWEEP: Final = 30
"""What no event told of is looked for more seldom among agents than among messages: it happens less."""


def start_activities(
    activities: Activities, house: House, ground: Ground, outbox: OutboxSender, events: EventFeed
) -> "list[asyncio.Task[None]]":
    """Start them all. Without a vital one the process ends; a replaceable one is started again."""
    services, agents = house.services, house.agents
    queue = GroupQueue(services, agents, floor=house.floor, ledger=house.ledger)
    sizes = SizeWatch(services, house.ledger, live=lambda: agents.live_groups, stop=agents.stop_group)
    sweep_s = min(SWEEP_S, _POLLS_A_SWEEP * services.settings.message_poll_s)
    supervisor = Supervisor(services, agents, sweep_s=sweep_s)
    vital = {
        "agents": lambda: agents.run(ground.run_parts, ground.adopted),
        "intake": ground.boxes.run,
        "outbox": outbox.run,
        "router": Router(services, queue, agents).run,
        "alarm": AlarmClock(services).run,
        "left words": LeftWords(services).run,
        "supervisor": supervisor.run,
        "snapshots": SnapshotKeeper(services, agents).run,
        "housekeeping": Housekeeping(services).run,
        "tokens": TokenKeeper(services).run,
        "sizes": sizes.run,
        "room": RoomWatch(services, house.floor, agents, sizes).run,
    }
    replaceable = {
        "alerts": OperatorAlerts(services).run,
        "event feed": events.run,
        "group folders": lambda: make_missing_folders(services),
        "old programs": lambda: _prune_old_programs(services.paths),
        "chat directory": ChatDirectory(services, house.channels).run,
    }
    return [
        *(activities.start_vital(name, run) for name, run in vital.items()),
        *(activities.start_replaceable(name, run) for name, run in replaceable.items()),
    ]


async def _prune_old_programs(paths: Paths) -> None:
    gone = await asyncio.to_thread(prune_programs, paths.programs)
    if gone:
        _log.info("programs.pruned", count=len(gone))
