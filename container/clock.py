"""The one clock inside a container."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """This instant, aware, in UTC."""
    return datetime.now(UTC)  # noqa: TID251  the host's Clock seam does not reach in here; drivers are given this
