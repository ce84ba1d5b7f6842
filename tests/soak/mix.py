"""What people write, twenty messages a second over eight chats, and what the script driver does with each."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final

from tests.torture.script import TRIGGER, mark

CHATS: Final = tuple(f"soak{number}" for number in range(1, 9))
RATE: Final = 20.0
"""Messages a second, in all chats together."""


class Kind(StrEnum):
    """What a message is there for. `SLOW` is answered late enough that others follow while its turn runs."""

    PLAIN = "plain"
    SLOW = "slow"
    BY_BOX = "bybox"
    PLANS = "plans"
    CHATTER = "chatter"


ANSWERS: Final = ("re", "boxed", "planned")
"""What a text begins with that answers a turn; each turn has one."""
BOX: Final = "box"
"""What the text begins with that a turn with the answer `boxed` sent by its box before."""
_WEIGHTS: Final = {Kind.PLAIN: 50, Kind.SLOW: 12, Kind.BY_BOX: 12, Kind.PLANS: 6, Kind.CHATTER: 20}
_SLOW_S: Final = 0.5
_ALIAS: Final = "soak-{turn}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message; `number` is in all texts that answer it."""

    number: int
    chat: str
    kind: Kind

    @property
    def text(self) -> str:
        """What somebody writes; chatter does not call the assistant, and the next turn is given it."""
        words = f"{mark(self.number)} {self.kind}"
        return words if self.kind is Kind.CHATTER else f"{TRIGGER} {words}"


def draw(random: Random, number: int) -> Message:
    """The next message."""
    kind = random.choices([*_WEIGHTS], [*_WEIGHTS.values()])[0]
    return Message(number=number, chat=random.choice(CHATS), kind=kind)


def scenario() -> Mapping[str, object]:
    """Of each group: the last message of a turn decides what is done for all of it."""
    return {
        "rules": [
            {"match": Kind.SLOW, "steps": [{"delay_s": _SLOW_S}, {"say": "re: {texts}"}]},
            {"match": Kind.BY_BOX, "steps": [{"send_message": "box: {texts}"}, {"say": "boxed: {texts}"}]},
            {"match": Kind.PLANS, "steps": [*_planning(), {"say": "planned: {texts}"}]},
        ],
        "default": [{"say": "re: {texts}"}],
    }


def _planning() -> list[Mapping[str, object]]:
    """A task that is never due, looked at and taken back."""
    schedule = {
        "type": "schedule_task",
        "taskId": _ALIAS,
        "prompt": "{texts}",
        "scheduleType": "once",
        "scheduleValue": "2100-01-01T00:00:00Z",
    }
    bodies = [
        schedule,
        {"type": "list_tasks", "requestId": "list-{turn}"},
        {"type": "cancel_task", "taskId": _ALIAS},
    ]
    return [{"request": {"directory": "tasks", "body": body}} for body in bodies]
