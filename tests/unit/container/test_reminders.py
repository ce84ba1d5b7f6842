"""Which number each reminder has."""

from collections.abc import Mapping, Sequence

import pytest

from container.drivers.reminders import numbered


def task(title: str, task_id: str = "task-1") -> Mapping[str, object]:
    return {
        "id": task_id,
        "title": title,
        "prompt": f"text of {task_id}",
        "scheduleType": "once",
        "scheduleValue": "2027-01-05T14:00:00+01:00",
        "nextRun": "2027-01-05T14:00:00+01:00",
        "status": "active",
    }


@pytest.mark.parametrize(
    ("titles", "numbers"),
    [
        pytest.param([], [], id="none"),
        pytest.param(["Reminder 1: a", "Reminder 3: b"], [("0", 1), ("1", 3)], id="one ended in between"),
        pytest.param(["Reminder 3: a", "Reminder 1: b"], [("1", 1), ("0", 3)], id="in the order of numbers"),
        pytest.param(["Report", "Reminder 1: b"], [("1", 1), ("0", 2)], id="another's task gets a free one"),
        pytest.param(["Reminder 2: a", "Reminder 2: b"], [("1", 1), ("0", 2)], id="the same number twice"),
        pytest.param(["Reminder 0: a", "Reminders 5"], [("0", 1), ("1", 2)], id="no numbers of ours"),
    ],
)
def test_a_number_stays_with_its_reminder(titles: Sequence[str], numbers: Sequence[tuple[str, int]]) -> None:
    found = numbered([task(title, str(n)) for n, title in enumerate(titles)])

    assert [(reminder.task_id, reminder.number) for reminder in found] == list(numbers)
