"""What groups used, for people: by day and model, or by turn. Source: agents.md section 4."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from orchestrator.commands.services import Services
from orchestrator.commands.usage.usage_meter import zone_of
from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.records.usage import TurnUse, UsageLine
from orchestrator.core.agents.spending import day_began
from orchestrator.core.tasks.local_time import first_instant_of
from orchestrator.core.tasks.schedule import zone_or_utc
from orchestrator.store import groups, usage

MAX_DAYS = 366
_MOST_TURNS = 1_000


async def usage_by_day(
    services: Services, folder: GroupFolder | None, *, days: int
) -> list[Mapping[str, object]]:
    """One line a group, day, provider and model; days are those of the group's timezone, the oldest first.

    folder: None for all groups. days: so many, the present one included.
    """
    zones = await _zones(services)
    now = services.clock.now()
    found: list[Mapping[str, object]] = []
    async with services.db.reader() as reader:
        for each in [folder] if folder is not None else await usage.folders(reader):
            zone = zones.get(each, zone_or_utc(services.settings.assistant.timezone))
            lines = await usage.lines(reader, each, _days(now, zone, days))
            found += [_plain_line(line, zone) for line in lines]
    return found


async def usage_by_turn(
    services: Services, folder: GroupFolder | None, *, days: int
) -> list[Mapping[str, object]]:
    """One line a turn, the newest first; folder, days: as of `usage_by_day`."""
    zones = await _zones(services)
    now = services.clock.now()
    found: list[TurnUse] = []
    async with services.db.reader() as reader:
        for each in [folder] if folder is not None else await usage.folders(reader):
            zone = zones.get(each, zone_or_utc(services.settings.assistant.timezone))
            since = _days(now, zone, days)[0][0]
            found += await usage.turns(reader, each, since=since, count=_MOST_TURNS)
    newest = sorted(found, key=lambda turn: turn.began_at, reverse=True)[:_MOST_TURNS]
    return [_plain_turn(turn) for turn in newest]


async def _zones(services: Services) -> dict[GroupFolder, ZoneInfo]:
    async with services.db.reader() as reader:
        return {group.folder: zone_of(services, group) for group in await groups.list_all(reader)}


def _days(now: datetime, zone: ZoneInfo, count: int) -> list[tuple[datetime, datetime]]:
    """The last `count` days in `zone`, each from its first instant to the next one's."""
    today = day_began(now, zone).astimezone(zone).replace(hour=0, minute=0, second=0, tzinfo=None)
    # Midnight may not exist on a day, and then its first instant is shown as one o'clock.
    starts = [first_instant_of(today - timedelta(days=back), zone) for back in range(count - 1, -2, -1)]
    return list(pairwise(starts))


def _plain_line(line: UsageLine, zone: ZoneInfo) -> Mapping[str, object]:
    return {
        "day": line.day.astimezone(zone).date().isoformat(),
        "group": line.group,
        "provider": line.provider,
        "model": line.model,
        "turns": line.turns,
        "calls": line.calls,
        "failedCalls": line.failed_calls,
        "inputTokens": line.input_tokens,
        "outputTokens": line.output_tokens,
        "cacheReadTokens": line.cache_read_tokens,
        "cacheWriteTokens": line.cache_write_tokens,
        "costUsd": line.cost_usd,
        "unpricedCalls": line.unpriced_calls,
    }


def _plain_turn(turn: TurnUse) -> Mapping[str, object]:
    return {
        "beganAt": turn.began_at.isoformat(timespec="seconds"),
        "group": turn.group,
        "agent": turn.agent_id,
        "turn": turn.turn_id,
        "provider": turn.provider,
        "calls": turn.calls,
        "tokens": turn.tokens,
        "costUsd": turn.cost_usd,
    }
