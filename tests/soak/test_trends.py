"""The slope is that of the line, and the table says what was measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.soak.trends import Measure, Sample, slope_an_hour, table


@given(
    st.floats(-100, 100),
    st.floats(-1000, 1000),
    st.lists(st.integers(0, 3600), min_size=2, max_size=20, unique=True),
)
def test_the_slope_of_a_line_is_its_own_whatever_its_moments(
    a_second: float, begin: float, at: list[int]
) -> None:
    points = [(float(at_s), begin + a_second * at_s) for at_s in at]

    assert slope_an_hour(points) == pytest.approx(a_second * 3600, abs=1e-3)


def test_the_slope_goes_between_the_points() -> None:
    assert slope_an_hour([(0, 1), (1800, 4), (3600, 1)]) == 0
    assert slope_an_hour([(0, 0), (1800, 3), (3600, 3)]) == 3


@pytest.mark.parametrize("points", [[], [(5.0, 7.0)], [(5.0, 7.0), (5.0, 9.0)]])
def test_where_no_time_passed_there_is_no_slope(points: list[tuple[float, float]]) -> None:
    assert slope_an_hour(points) == 0


def test_the_table_has_the_means_of_both_ends_and_leaves_out_what_was_never_there() -> None:
    samples = [Sample(at_s=10.0 * number, values={"rows": 2.0 * number, "none": 0.0}) for number in range(20)]
    samples.append(Sample(at_s=200.0, values={}))

    lines = table(
        [Measure(name="rows", unit="MiB", expected="grows"), Measure(name="clerk"), Measure(name="none")],
        samples,
    )

    assert [line.split() for line in lines] == [
        [
            "measure",
            "first",
            "tenth",
            "last",
            "tenth",
            "slope",
            "an",
            "hour",
            "of",
            "2nd",
            "half",
            "expected",
        ],
        ["rows", "1", "MiB", "37", "MiB", "+720", "MiB", "+720", "MiB", "grows"],
    ]
