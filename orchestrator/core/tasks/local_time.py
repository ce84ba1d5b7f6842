"""Wall clocks and instants: what daylight saving skips and repeats.

Instants are in UTC; a local time is a naive datetime, what a clock on the wall of the zone shows. Two
changes of a zone's offset are never less than days apart.
"""

from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

_STRIDE: Final = timedelta(days=3)
"""The closest two changes since 1970 are 6.95 days apart (Recife, October 2000)."""
_SECOND: Final = timedelta(seconds=1)


def local_of(instant: datetime, zone: ZoneInfo) -> datetime:
    """What the clock of `zone` shows."""
    return instant.astimezone(zone).replace(tzinfo=None)


def first_instant_of(local: datetime, zone: ZoneInfo) -> datetime:
    """When the clock shows `local` for the first time; if it skips it, the first instant after the gap."""
    first = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if local_of(first, zone) == local:
        return first
    # In a gap, fold 1 reckons with the later offset and so names an instant before the change (PEP 495).
    before = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    change = first_change(zone, after=before, until=first)
    return first if change is None else change


def first_change(zone: ZoneInfo, *, after: datetime, until: datetime) -> datetime | None:
    """The first instant in (after, until] from which on the zone has another offset than at `after`."""
    offset = offset_at(after, zone)
    low = after.replace(microsecond=0)  # changes come at whole seconds
    while low < until:
        high = min(low + _STRIDE, until)
        if offset_at(high, zone) != offset:
            return _bisected(zone, low, high, offset)
        low = high
    return None


def offset_at(instant: datetime, zone: ZoneInfo) -> timedelta:
    """How far the clock of `zone` is ahead of UTC."""
    offset = instant.astimezone(zone).utcoffset()
    assert offset is not None
    return offset


def _bisected(zone: ZoneInfo, low: datetime, high: datetime, offset: timedelta) -> datetime:
    """The change between `low`, where the offset still holds, and `high`, where it does not."""
    while high - low > _SECOND:
        middle = low + (high - low) // 2
        middle = max(middle.replace(microsecond=0), low + _SECOND)
        if offset_at(middle, zone) == offset:
            low = middle
        else:
            high = middle
    return high
