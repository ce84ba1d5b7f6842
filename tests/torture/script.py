"""What the agents of the rig do. Each output begins with its class and holds the mark of all it answers."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.torture.plan import Wish

TRIGGER: Final = "@Assistant"
ASKED: Final = ".asked"
DONE: Final = ".done"
"""Endings of files in a workspace that grow by a byte before and after each request of a wish."""
_HELPER_TASK: Final = "help along"
_MINUTE_MS: Final = 60_000
_BURST: Final = Path(__file__).with_name("burst_program.py")


def mark(number: int) -> str:
    """How message or task `number` is known wherever it goes."""
    return f"#{number}#"


def marks_in(text: str) -> list[int]:
    """The numbers of all marks in a text."""
    return [int(number) for number in re.findall(r"#(\d+)#", text)]


def wish_text(number: int, wish: Wish) -> str:
    """What somebody writes."""
    return f"{TRIGGER} {mark(number)} {wish}"


def slot_prompt(number: int) -> str:
    """What a task is told to do."""
    return f"slotwork {mark(number)}"


def _rule(match: str, *steps: object, times: int | None = None) -> Mapping[str, object]:
    plain: dict[str, object] = {"match": match, "steps": list(steps)}
    return plain if times is None else plain | {"times": times}


_ANSWER: Final = {"say": "re: {texts}"}
_SECOND: Final = {"say": "two: {texts}"}


def _counted(wish: Wish, step: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The step, between two lines of the agent's own ledger."""
    before, after = ({"run": ["/bin/sh", "-c", f"printf x >> {wish}{ending}"]} for ending in (ASKED, DONE))
    return [before, step, after]


def _request(directory: str, body: object) -> Mapping[str, object]:
    return {"request": {"directory": directory, "body": body}}


def scenario(chat: str, *, seed: int) -> Mapping[str, object]:
    """Of the group `chat`. seed: of its bursts."""
    left = {"type": "message", "chatJid": f"file:{chat}", "text": "left: {texts}"}
    helper = {
        "type": "spawn_agent",
        "requestId": "help-{turn}",
        "task": _HELPER_TASK,
        "timeoutMs": _MINUTE_MS,
        "wait": "result",
    }
    rules = [
        _rule(Wish.TWICE, _ANSWER, {"delay_s": 0.1}, _SECOND),
        _rule(Wish.SLOW, _ANSWER, {"delay_s": 1.5}, _SECOND),
        _rule(Wish.BY_BOX, *_counted(Wish.BY_BOX, {"send_message": "box: {texts}"}), _ANSWER),
        _rule(Wish.LEFT_IN_BOX, *_counted(Wish.LEFT_IN_BOX, _request("messages", left)), {"crash": "KILL"}),
        _rule(Wish.GARBAGE, *_counted(Wish.GARBAGE, _request("messages", "{no request")), _ANSWER),
        _rule(Wish.MUTE),
        _rule(Wish.DIES_EARLY, {"crash": "KILL"}, times=2),
        _rule(Wish.DIES_LATE, _ANSWER, {"exit": 3}),
        _rule(Wish.FAILS, {"fail": "AGENT_ERROR"}, times=2),
        _rule(Wish.BUSY, {"fail": "PROVIDER_OVERLOADED"}, times=2),
        _rule(Wish.HELPER, _request("agents", helper), {"delay_s": 0.3}, _ANSWER),
        _rule(Wish.PLANS, *_counted(Wish.PLANS, _request("tasks", _planned(chat))), _ANSWER),
        _rule(Wish.BURST, {"run": _burst_command(chat, seed)}, _ANSWER),
        _rule(_HELPER_TASK, {"say": "helped"}),
        _rule("slotwork", {"say": "slot: {texts}"}),
        _rule("laterwork", {"say": "later: {texts}"}),
    ]
    return {"rules": rules, "default": [_ANSWER]}


def _burst_command(chat: str, seed: int) -> list[str]:
    return ["python3", "-c", _BURST.read_text(encoding="utf-8"), chat, str(seed)]


def _planned(chat: str) -> Mapping[str, object]:
    """A task that an agent asks for: it is never due, and counted."""
    return {
        "type": "schedule_task",
        "groupFolder": chat,
        "chatJid": f"file:{chat}",
        "prompt": "laterwork {texts}",
        "scheduleType": "once",
        "scheduleValue": "2031-01-01T00:00:00Z",
    }
