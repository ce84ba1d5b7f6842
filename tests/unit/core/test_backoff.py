"""How long to wait before the next try."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.backoff import delay_s


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
