"""Lines out of a stream, however it is cut."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from container.drivers.acp_transport import LineReader


@given(
    lines=st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line), max_size=10),
    rest=st.binary(max_size=20).filter(lambda line: b"\n" not in line),
    cuts=st.lists(st.integers(min_value=0, max_value=250), max_size=10),
)
def test_lines_are_those_of_the_whole_stream_less_what_is_too_long(
    lines: list[bytes], rest: bytes, cuts: list[int]
) -> None:
    stream = b"".join(line + b"\n" for line in lines) + rest
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    dropped: list[str] = []
    reader = LineReader(12, dropped.append)

    found = [line for start, end in pairwise(edges) for line in reader.feed(stream[start:end])]

    assert found == [line for line in lines if len(line) <= 12]
    assert len(dropped) == sum(len(line) > 12 for line in [*lines, rest])
