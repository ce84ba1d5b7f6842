"""Whether a spawned agent is started again, and when. agents.md section 2."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.records.agents import AgentStatus, DeathCause, EndReason
from orchestrator.contracts.records.spawns import RestartPolicy, Restarts
from orchestrator.core.agents.restarts import (
    Ending,
    NextStep,
    RestartLimits,
    after_restart,
    all_files,
    next_step,
)
from orchestrator.core.states.agent import AgentEventKind
from tests.support.store_rows import NOON

E, S, D, R = AgentEventKind, AgentStatus, DeathCause, EndReason
NEVER, FAILURE, ALWAYS = RestartPolicy.NEVER, RestartPolicy.ON_FAILURE, RestartPolicy.ALWAYS
LIMITS = RestartLimits(most=3, window=timedelta(seconds=300))

WELL = Ending(status=S.RUNNING, cause=D.AGENT, reason=R.EXITED, event=E.ENDED_WELL)
BADLY = Ending(status=S.RUNNING, cause=D.AGENT, reason=R.CRASHED, event=E.ENDED_BADLY)
ENDINGS = {
    "ended well": (WELL, {ALWAYS}),
    "crashed": (BADLY, {FAILURE, ALWAYS}),
    "did not start": (
        Ending(status=S.STARTING, cause=D.AGENT, reason=R.START_FAILED, event=E.START_FAILED),
        {FAILURE, ALWAYS},
    ),
    "its engine went away": (
        Ending(status=S.RUNNING, cause=D.HOST, reason=R.ENGINE_LOST, event=E.ENDED_BADLY),
        {FAILURE, ALWAYS},
    ),
    "dovecote died": (
        Ending(status=S.RUNNING, cause=D.ORCHESTRATOR, reason=R.ORCHESTRATOR_DIED, event=E.FOUND_DEAD),
        {FAILURE, ALWAYS},
    ),
    "nobody knows whether it is dead": (
        Ending(status=S.RUNNING, cause=D.ORCHESTRATOR, reason=R.ORCHESTRATOR_DIED, event=E.NOT_FOUND),
        set(),
    ),
    "stopped": (
        Ending(status=S.STOPPING, cause=D.STOPPED, reason=R.STOPPED, event=E.ENDED_BADLY),
        set(),
    ),
    "told to stop, and gone before its record said so": (
        Ending(status=S.RUNNING, cause=D.STOPPED, reason=R.STOPPED, event=E.ENDED_BADLY),
        set(),
    ),
    "asked to stop, then dovecote died": (
        Ending(status=S.STOPPING, cause=D.ORCHESTRATOR, reason=R.ORCHESTRATOR_DIED, event=E.FOUND_DEAD),
        set(),
    ),
    "ran out of time": (
        Ending(status=S.RUNNING, cause=D.TIMED_OUT, reason=R.TIMED_OUT, event=E.RAN_OUT),
        set(),
    ),
    "did what none may": (
        Ending(status=S.RUNNING, cause=D.VIOLATED, reason=R.STOPPED, event=E.ENDED_BADLY),
        set(),
    ),
    "stopped with dovecote": (
        Ending(status=S.RUNNING, cause=D.HOST, reason=R.STOPPED, event=E.ENDED_BADLY),
        set(),
    ),
    "had never run": (
        Ending(status=S.PENDING, cause=D.HOST, reason=R.START_FAILED, event=E.START_FAILED),
        set(),
    ),
}


@pytest.mark.parametrize("policy", list(RestartPolicy))
@pytest.mark.parametrize("name", ENDINGS)
def test_only_one_that_ended_by_itself_is_started_again_and_only_if_that_was_wished(
    name: str, policy: RestartPolicy
) -> None:
    ending, restarting = ENDINGS[name]

    expected = NextStep.RESTARTS if policy in restarting else NextStep.NOTHING
    assert next_step(Restarts(policy=policy), ending, LIMITS, now=NOON) is expected


@pytest.mark.parametrize(
    ("ages_s", "expected"),
    [
        ((0, 100, 299), NextStep.GIVES_UP),
        ((0, 100, 300), NextStep.RESTARTS),
        ((0, 100), NextStep.RESTARTS),
        ((-60, 0, 100), NextStep.RESTARTS),
    ],
    ids=["three within", "one of three is old", "two", "one of a clock that was set back"],
)
def test_it_is_given_up_when_the_restarts_within_the_window_are_used_up(
    ages_s: tuple[int, ...], expected: NextStep
) -> None:
    restarts = Restarts(policy=FAILURE, recent=tuple(NOON - timedelta(seconds=age) for age in ages_s))

    assert next_step(restarts, BADLY, LIMITS, now=NOON) is expected


def test_where_nothing_is_started_again_an_end_is_what_it_is() -> None:
    none = RestartLimits(most=0, window=timedelta(seconds=300))

    assert next_step(Restarts(policy=FAILURE), BADLY, none, now=NOON) is NextStep.NOTHING
    assert next_step(Restarts(policy=ALWAYS), WELL, none, now=NOON) is NextStep.NOTHING


def test_each_restart_waits_twice_as_long_as_the_one_before() -> None:
    restarts, waits_s = Restarts(policy=FAILURE), []
    for _ in range(3):
        restarts = after_restart(restarts, LIMITS, now=NOON, files_modified=())
        assert restarts.start_after is not None
        waits_s.append((restarts.start_after - NOON).total_seconds())

    assert waits_s == [1, 2, 4]
    assert (restarts.count, restarts.recent) == (3, (NOON, NOON, NOON))


@given(most=st.integers(1, 100), window_s=st.integers(1, 86_400), policy=st.sampled_from([FAILURE, ALWAYS]))
def test_one_that_dies_at_once_is_given_up_after_exactly_so_many_restarts(
    most: int, window_s: int, policy: RestartPolicy
) -> None:
    limits = RestartLimits(most=most, window=timedelta(seconds=window_s))
    restarts, now = Restarts(policy=policy), NOON
    while next_step(restarts, BADLY, limits, now=now) is NextStep.RESTARTS:
        restarts = after_restart(restarts, limits, now=now, files_modified=())
        assert restarts.start_after is not None
        assert restarts.start_after - now <= timedelta(seconds=60)
        assert restarts.count <= most
        now = restarts.start_after

    assert restarts.count == most
    assert next_step(restarts, BADLY, limits, now=now) is NextStep.GIVES_UP


@given(ages_s=st.lists(st.integers(-1_000, 1_000), max_size=20))
def test_what_is_kept_of_restarts_never_grows_beyond_what_counts(ages_s: list[int]) -> None:
    restarts = Restarts(policy=ALWAYS, recent=tuple(NOON - timedelta(seconds=age) for age in ages_s))

    kept = after_restart(restarts, LIMITS, now=NOON, files_modified=()).recent

    assert len(kept) == sum(0 <= age < 300 for age in ages_s) + 1


@pytest.mark.parametrize(
    ("earlier", "last", "expected"),
    [
        ((), ("b", "a"), ("b", "a")),
        (("c", "a"), ("b", "a"), ("a", "b", "c")),
        (("a",), (), ("a",)),
        (None, ("a",), None),
        (("a",), None, None),
    ],
)
def test_what_all_attempts_changed_is_told_and_nothing_is_if_nobody_looked_at_one(
    earlier: tuple[str, ...] | None, last: tuple[str, ...] | None, expected: tuple[str, ...] | None
) -> None:
    assert all_files(Restarts(earlier_files=earlier), last) == expected
