"""The limits of spawns: each named in its error, with its value and how to change it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.errors import ErrorCode, InvalidRequest, LimitExceeded
from orchestrator.core.agents.limits import (
    ABSOLUTE_MAX_TIMEOUT,
    PARENT_DEADLINE,
    SpawnLimits,
    SpawnUsage,
    check_limits,
    checked_timeout_ms,
    quota_of,
    within_parent,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMITS = SpawnLimits(depth=2, tree_agents=10, tree_spawns=100, live_agents=20, per_minute=10)
ROOM = SpawnUsage(depth=0, tree_agents=1, tree_spawns=0, live_agents=1)


@pytest.mark.parametrize(
    ("fields", "limits", "code", "limit", "current", "most", "how"),
    [
        ({"depth": 2}, {}, "DEPTH_EXCEEDED", "depth", 2, 2, "spawn.max_depth"),
        ({"depth": 0}, {"depth": 0}, "DEPTH_EXCEEDED", "depth", 0, 0, "spawn.max_depth"),
        ({"tree_agents": 10}, {}, "QUOTA_EXCEEDED", "tree_agents", 10, 10, "spawn.max_agents_per_tree"),
        ({"tree_spawns": 100}, {}, "QUOTA_EXCEEDED", "tree_spawns", 100, 100, "spawn.max_spawns_per_tree"),
        ({"live_agents": 20}, {}, "LIMIT_EXCEEDED", "live_agents", 20, 20, "queue.max_live"),
        ({"children": 5}, {"children": 5}, "LIMIT_EXCEEDED", "children", 5, 5, "profile standard"),
        ({"retry_after_s": 7.5}, {}, "RATE_LIMITED", "spawns_per_minute", 10, 10, "spawn.per_minute"),
    ],
    ids=["depth", "no depth at all", "live of a tree", "ever of a tree", "live in all", "children", "rate"],
)
def test_a_limit_names_itself_its_value_and_how_to_change_it(
    fields: dict[str, Any],
    limits: dict[str, Any],
    code: str,
    limit: str,
    current: int,
    most: int,
    how: str,
) -> None:
    with pytest.raises(LimitExceeded) as caught:
        check_limits(replace(ROOM, **fields), replace(LIMITS, **limits))

    details = caught.value.details
    assert caught.value.code is ErrorCode(code)
    assert (details["limit"], details["current"], details["max"]) == (limit, current, most)
    assert details["howToChange"] == how
    assert str(most) in caught.value.message
    assert caught.value.suggestion


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({"depth": 2}, {"tree_agents_remaining": 9, "depth_remaining": 0}),
        ({"depth": 0, "tree_agents": 10}, {"tree_agents_remaining": 0, "depth_remaining": 1}),
        ({"depth": 1, "tree_spawns": 100}, {"tree_agents_remaining": 0, "depth_remaining": 0}),
        ({"live_agents": 20}, None),
        ({"retry_after_s": 7.5}, None),
        ({"depth": None, "live_agents": 20}, None),
        ({"depth": None, "retry_after_s": 7.5}, None),
    ],
)
def test_a_refusal_says_what_a_tree_has_left_only_where_that_is_why(
    fields: dict[str, Any], left: dict[str, int] | None
) -> None:
    with pytest.raises(LimitExceeded) as caught:
        check_limits(replace(ROOM, **fields), LIMITS)

    assert caught.value.details.get("quota_info") == left


@pytest.mark.parametrize(
    ("fields", "retry_after_s"),
    [({"retry_after_s": 7.5}, 7.5), ({"live_agents": 20}, 5.0), ({"tree_agents": 10}, None)],
    ids=["rate", "capacity", "tree"],
)
def test_what_passes_by_itself_says_when_to_try_again(
    fields: dict[str, Any], retry_after_s: float | None
) -> None:
    with pytest.raises(LimitExceeded) as caught:
        check_limits(replace(ROOM, **fields), LIMITS)

    assert caught.value.retry_after_s == retry_after_s


def test_who_starts_too_many_in_a_minute_is_told_in_how_many_seconds_the_next_may_start() -> None:
    with pytest.raises(LimitExceeded) as caught:
        check_limits(replace(ROOM, retry_after_s=7.5), LIMITS)

    assert caught.value.suggestion == (
        "Start the next one in 8 s, or let an operator raise spawn.per_minute."
    )


ALL_REACHED = {"depth": 2, "tree_spawns": 100, "tree_agents": 10, "live_agents": 20, "retry_after_s": 7.5}


@pytest.mark.parametrize(
    ("without", "limit"),
    [(0, "depth"), (1, "tree_spawns"), (2, "tree_agents"), (3, "live_agents"), (4, "spawns_per_minute")],
)
def test_p2_of_several_limits_that_is_told_which_no_waiting_or_the_longest_lifts(
    without: int, limit: str
) -> None:
    reached: dict[str, Any] = dict(list(ALL_REACHED.items())[without:])

    with pytest.raises(LimitExceeded) as caught:
        check_limits(replace(ROOM, **reached), LIMITS)

    assert caught.value.details["limit"] == limit


USAGES = st.builds(
    SpawnUsage,
    depth=st.none() | st.integers(0, 11),
    tree_agents=st.integers(0, 110),
    tree_spawns=st.integers(0, 110),
    live_agents=st.integers(0, 30),
    children=st.integers(0, 6),
    retry_after_s=st.sampled_from([0.0, 1.0]),
)
SOME_LIMITS = st.builds(
    SpawnLimits,
    depth=st.integers(0, 10),
    tree_agents=st.integers(1, 100),
    tree_spawns=st.integers(1, 100),
    live_agents=st.integers(1, 30),
    per_minute=st.integers(1, 100),
    children=st.none() | st.just(5),
)


@given(USAGES, SOME_LIMITS)
def test_a_spawn_is_let_through_exactly_when_no_limit_is_reached(
    usage: SpawnUsage, limits: SpawnLimits
) -> None:
    is_root = usage.depth is None
    reached = [
        not is_root and (usage.depth or 0) >= limits.depth,
        not is_root and usage.tree_agents >= limits.tree_agents,
        not is_root and usage.tree_spawns >= limits.tree_spawns,
        usage.live_agents >= limits.live_agents,
        limits.children is not None and usage.children >= limits.children,
        usage.retry_after_s > 0,
    ]

    try:
        check_limits(usage, limits)
    except LimitExceeded:
        assert any(reached)
    else:
        assert not any(reached)


@given(USAGES, SOME_LIMITS)
def test_what_remains_is_never_negative_and_none_of_it_means_no(
    usage: SpawnUsage, limits: SpawnLimits
) -> None:
    quota = quota_of(usage, limits)

    assert quota.tree_agents_remaining >= 0
    assert quota.depth_remaining >= 0
    if usage.depth is not None and not (quota.tree_agents_remaining and quota.depth_remaining):
        with pytest.raises(LimitExceeded):
            check_limits(usage, limits)


@pytest.mark.parametrize("wished_ms", [-1, 0, 86_400_001])
def test_a_time_outside_of_1_ms_to_24_h_is_refused(wished_ms: int) -> None:
    with pytest.raises(InvalidRequest, match="86400000") as caught:
        checked_timeout_ms(wished_ms, default_s=3600, longest_s=86_400)

    assert caught.value.code is ErrorCode.INVALID_TIMEOUT


@pytest.mark.parametrize(
    ("wished_ms", "longest_s", "expected"),
    [
        (None, 86_400, (3_600_000, None)),
        (1, 86_400, (1, None)),
        (86_400_000, 86_400, (86_400_000, None)),
        (5_000, 2, (2_000, ABSOLUTE_MAX_TIMEOUT)),
        (None, 2, (2_000, ABSOLUTE_MAX_TIMEOUT)),
    ],
    ids=["the usual", "the least", "the most", "above the setting", "the usual above the setting"],
)
def test_a_time_is_the_wish_within_what_is_set(
    wished_ms: int | None, longest_s: float, expected: tuple[int, str | None]
) -> None:
    assert checked_timeout_ms(wished_ms, default_s=3600, longest_s=longest_s) == expected


@given(st.integers(1, 86_400_000), st.none() | st.integers(-1_000, 90_000_000))
def test_a_child_never_has_more_time_than_its_parent(timeout_ms: int, rest_ms: int | None) -> None:
    deadline = None if rest_ms is None else NOON + timedelta(milliseconds=rest_ms)

    got_ms, capped_by = within_parent(timeout_ms, None, now=NOON, parent_deadline=deadline)

    assert got_ms == (timeout_ms if rest_ms is None else min(timeout_ms, rest_ms))
    assert (capped_by == PARENT_DEADLINE) is (got_ms < timeout_ms)
