"""How long to wait before the next try."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.backoff import delay_s, with_jitter


@pytest.mark.parametrize(
    ("attempt", "expected"), [(0, 5), (1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (100, 60), (10**9, 60)]
)
def test_the_delay_doubles_up_to_its_limit(attempt: int, expected: float) -> None:
    assert delay_s(attempt, first_s=5, most_s=60) == expected


@given(st.integers(1, 10**6), st.floats(0.001, 60), st.floats(0.001, 3600))
def test_a_later_try_never_waits_less_and_none_waits_too_long(
    attempt: int, first_s: float, most_s: float
) -> None:
    delay = delay_s(attempt, first_s=first_s, most_s=most_s)

    assert 0 < delay <= most_s
    assert delay <= delay_s(attempt + 1, first_s=first_s, most_s=most_s)


@pytest.mark.parametrize(("fraction", "expected"), [(0.0, 4.0), (0.5, 6.0), (1.0, 8.0)])
def test_jitter_takes_away_up_to_a_half(fraction: float, expected: float) -> None:
    assert with_jitter(8.0, fraction) == expected
