"""How many request files share a batch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.batch_size import Pace, batch_size


@pytest.mark.parametrize(
    ("backlog", "pace", "files"),
    [
        (1, None, 100),
        (1_000, None, 100),
        (1_001, None, 300),
        (20_000, Pace(files=300, took_s=0.03), 300),
        (20_000, Pace(files=300, took_s=0.06), 150),
        (20_000, Pace(files=300, took_s=0.01), 300),
        (500, Pace(files=100, took_s=0.06), 50),
        (20_000, Pace(files=300, took_s=10), 25),
        (20_000, Pace(files=300, took_s=0), 300),
        (20_000, Pace(files=300, took_s=5e-324), 300),
    ],
)
def test_a_batch_is_as_large_as_the_backlog_asks_and_the_time_allows(
    backlog: int, pace: Pace | None, files: int
) -> None:
    assert batch_size(backlog, pace) == files


@given(
    backlog=st.integers(min_value=0, max_value=10**7),
    files=st.integers(min_value=1, max_value=300),
    took_s=st.floats(min_value=0, max_value=1e6),
)
def test_a_slow_machine_still_goes_on_and_a_fast_one_stays_within_a_commit(
    backlog: int, files: int, took_s: float
) -> None:
    assert 25 <= batch_size(backlog, Pace(files=files, took_s=took_s)) <= 300
