"""Docker's framing, taken off without keeping anything."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.runners.docker_stream import FrameReader


def framed(content: bytes) -> bytes:
    """A frame as the engine's documentation of `attach` describes it, of standard output."""
    return b"\x01\x00\x00\x00" + len(content).to_bytes(4, "big") + content


@given(contents=st.lists(st.binary(max_size=300), max_size=20), cuts=st.lists(st.integers(1, 50), min_size=1))
def test_any_chunking_gives_the_content_back(contents: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(framed(content) for content in contents)
    reader = FrameReader()

    found, at, turn = b"", 0, 0
    while at < len(stream):
        size = cuts[turn % len(cuts)]
        found += reader.feed(stream[at : at + size])
        at, turn = at + size, turn + 1

    assert found == b"".join(contents)


def test_a_frame_that_is_cut_off_gives_what_came() -> None:
    reader = FrameReader()

    found = reader.feed(framed(b"half a sentence")[:-4])

    assert found == b"half a sent"
