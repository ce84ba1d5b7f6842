"""Reads the tables of `next_run`: three lines a case.

    source: what it shows
        zone | cron expression | start
        run  run  run

source: where the runs come from. cronsim: that program. zoneinfo: a wall time by the calendar, made an
instant by zoneinfo. hand: worked out from the calendar and the tz database. A time without an offset is one
of the zone.
"""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo


@dataclass(frozen=True, kw_only=True)
class Case:
    """From `after` on, `cron` is due in `zone` at `runs`, and not in between."""

    source: str
    name: str
    zone: ZoneInfo
    cron: str
    after: datetime
    runs: tuple[datetime, ...]

    @property
    def test_id(self) -> str:
        return f"{self.source}: {self.name}"


def cases_of(table: str) -> list[Case]:
    """Every case of a table."""
    lines = table.strip("\n").splitlines()
    return [_case(*lines[start : start + 3]) for start in range(0, len(lines), 3)]


def _case(title: str, given: str, runs: str) -> Case:
    source, _, name = title.partition(": ")
    zone_name, cron, after = given.strip().split(" | ")
    zone = ZoneInfo(zone_name)
    return Case(
        source=source,
        name=name,
        zone=zone,
        cron=cron,
        after=_moment(after, zone),
        runs=tuple(_moment(run, zone) for run in runs.split()),
    )


def _moment(text: str, zone: ZoneInfo) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment
