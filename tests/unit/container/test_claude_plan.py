"""How far a turn of the driver `claude` is: by the calls that keep its list, and by nothing else."""

from collections.abc import Mapping
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from container.drivers.claude_events import ToolBegun, ToolDone
from container.drivers.claude_plan import ClaudePlan

STEP = {"subject": "Water", "description": "Water the lilies"}


def called(
    plan: ClaudePlan, name: str, given: Mapping[str, object], *, is_error: bool = False
) -> tuple[float, str] | None:
    """A call from its begin to its end."""
    plan.begun(ToolBegun(name=name, call_id="c", given=given))
    return plan.done(ToolDone(call_id="c", is_error=is_error))


def test_steps_that_are_done_count_of_those_that_are_there() -> None:
    plan = ClaudePlan()

    told = [
        called(plan, "TaskCreate", STEP),
        called(plan, "TaskCreate", STEP),
        called(plan, "TaskCreate", STEP),
        called(plan, "TaskUpdate", {"taskId": "1", "status": "in_progress"}),
        called(plan, "TaskUpdate", {"taskId": "1", "status": "completed"}),
        called(plan, "TaskUpdate", {"taskId": "2", "status": "deleted"}),
        called(plan, "TaskUpdate", {"taskId": "3", "status": "completed"}),
    ]

    assert [None if each is None else each[0] for each in told] == [0, 0, 0, 0, 100 / 3, 50, 100]
    assert told[-1] == (100, "2 of 2 steps")


def test_a_call_that_fails_or_says_nothing_of_steps_tells_nothing() -> None:
    plan = ClaudePlan()

    assert called(plan, "TaskCreate", STEP, is_error=True) is None
    assert called(plan, "Bash", {"command": "echo 100% done, no error"}) is None
    assert called(plan, "TaskUpdate", {"taskId": "1"}) is None
    assert called(plan, "TaskUpdate", {"taskId": 1, "status": "completed"}) is None
    assert plan.done(ToolDone(call_id="never begun", is_error=False)) is None


def test_steps_of_an_earlier_turn_are_steps_too() -> None:
    assert called(ClaudePlan(), "TaskUpdate", {"taskId": "7", "status": "completed"}) == (100, "1 of 1 steps")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["TaskCreate", "TaskUpdate", "Read"]),
            st.fixed_dictionaries(
                {},
                optional={
                    "taskId": st.one_of(st.integers(), st.sampled_from(["1", "2", "3"])),
                    "status": st.sampled_from(["pending", "in_progress", "completed", "deleted", "?"]),
                },
            ),
            st.booleans(),
        )
    )
)
def test_it_is_never_outside_of_0_to_100(calls: list[tuple[str, Mapping[str, object], bool]]) -> None:
    plan, numbers = ClaudePlan(), count()

    for name, arguments, is_error in calls:
        call_id = str(next(numbers))
        plan.begun(ToolBegun(name=name, call_id=call_id, given=arguments))
        told = plan.done(ToolDone(call_id=call_id, is_error=is_error))
        assert told is None or 0 <= told[0] <= 100
