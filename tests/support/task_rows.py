"""Tasks and requests about them for tests, with all that a test does not care about filled in."""

from datetime import timedelta
from typing import Any, Final

from orchestrator.contracts.ids import GroupFolder, TaskId
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.tasks import CatchUp, ContextMode, ScheduleKind, Task, TaskStatus
from tests.support.store_rows import CHAT, NOON

HOURLY_MS: Final = str(3_600_000)


def task(name: str = "task-1", **fields: Any) -> Task:
    """An hourly task of the family, made at `NOON` and due an hour later."""
    plain: dict[str, Any] = {
        "task_id": TaskId(name),
        "group": GroupFolder("family"),
        "chat_jid": CHAT,
        "title": "Water the plants",
        "prompt": "Water the plants",
        "kind": ScheduleKind.INTERVAL,
        "schedule_value": HOURLY_MS,
        "timezone": "UTC",
        "context_mode": ContextMode.GROUP,
        "catch_up": CatchUp.LATEST,
        "notify": True,
        "status": TaskStatus.ACTIVE,
        "rights": Rights.OPERATOR,
        "created_at": NOON,
        "next_run_at": NOON + timedelta(hours=1),
    }
    return Task(**(plain | fields))
