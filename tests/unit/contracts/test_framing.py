"""Standard output of a container: what the writer frames, the reader gives back, and nothing else."""

import json
import tracemalloc
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.contracts.wire.framing import (
    CUT_NOTE,
    EventLine,
    Frame1x,
    LogLine,
    OutputItem,
    OutputReader,
    Text,
    frame,
)

START, END = "OUTPUT_START_MARKER", "OUTPUT_END_MARKER"
START_1X, END_1X = "---NANOCLAW_OUTPUT_START---", "---NANOCLAW_OUTPUT_END---"
KIB, MIB = 1024, 1024 * 1024

MARKER_PIECES = st.sampled_from(
    [START, END, START_1X, END_1X, "\\", "\n", "\r", " ", "x", "AGENT_EVENT {}", "é", "😀", "\u2028", "\x85"]
)
HOSTILE_TEXTS = st.lists(MARKER_PIECES, max_size=12).map("".join)
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | HOSTILE_TEXTS


def read(stream: bytes, *, sizes: Iterable[int] = ()) -> list[OutputItem]:
    """The items of a whole stream, given to the reader in pieces of these sizes, then the rest."""
    reader, items, start = OutputReader(), [], 0
    for size in sizes:
        items += reader.feed(stream[start : start + size])
        start += size
    return [*items, *reader.feed(stream[start:]), *reader.finish()]


def pair(*lines: str, start: str = START, end: str = END) -> bytes:
    return "".join(f"{line}\n" for line in (start, *lines, end)).encode()


@given(st.lists(TEXTS, max_size=4))
@example(["OUTPUT_END_MARKER\r"])
@example(["\\OUTPUT_END_MARKER", "\\\\---NANOCLAW_OUTPUT_END---\r"])
@example(["a\r\nb\r", "", "\n"])
def test_every_text_comes_back_as_it_was_framed(texts: Sequence[str]) -> None:
    stream = "".join(frame(text) for text in texts).encode()

    assert read(stream) == [Text(text=text) for text in texts]


@given(st.lists(TEXTS, max_size=3), st.lists(st.integers(1, 9), max_size=200))
def test_the_chunks_in_which_output_arrives_make_no_difference(
    texts: Sequence[str], sizes: Sequence[int]
) -> None:
    stream = b"".join(b"log \xff\xe2\x82\n" + frame(text).encode() for text in texts) + b"tail"

    assert read(stream, sizes=sizes) == read(stream)


@given(st.binary(max_size=300), st.lists(st.integers(1, 40), max_size=50))
def test_any_bytes_at_all_are_read_alike_in_any_chunks(stream: bytes, sizes: Sequence[int]) -> None:
    assert read(stream, sizes=sizes) == read(stream)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1))
def test_what_was_printed_before_a_pair_never_spoils_its_marker(noise: str) -> None:
    texts = [item for item in read((noise + frame("answer")).encode()) if isinstance(item, Text)]

    assert texts[-1:] == [Text(text="answer")]


def test_half_a_surrogate_pair_in_a_text_does_not_stop_the_writer() -> None:
    assert read(frame("a\ud800b").encode()) == [Text(text="a\ufffdb")]


def test_pairs_events_and_log_lines_come_in_their_order() -> None:
    stream = (
        b"hello\n"
        + b'AGENT_EVENT {"type":"ready","protocol":1}\n'
        + pair("one", "", "two")
        + pair()
        + b'AGENT_EVENT {"type":"turn_ended"}\n\nbye'
    )

    assert read(stream) == [
        LogLine(text="hello"),
        EventLine(plain={"type": "ready", "protocol": 1}),
        Text(text="one\n\ntwo"),
        Text(text=""),
        EventLine(plain={"type": "turn_ended"}),
        LogLine(text="bye"),
    ]


def test_a_text_is_held_back_until_its_end_marker() -> None:
    reader = OutputReader()

    early = reader.feed(f"{START}\nhalf of it\n{END[:-1]}".encode())
    is_open = reader.in_pair
    late = reader.feed(b"R\n")

    assert (early, is_open) == ([], True)
    assert late == [Text(text="half of it")]
    assert not reader.in_pair


def test_a_pair_cut_off_by_death_is_never_given_out() -> None:
    assert read(f"{START}\nhalf of it\nand mo".encode()) == []


def test_the_last_end_marker_needs_no_newline() -> None:
    assert read(f"{START}\nwhole\n{END}".encode()) == [Text(text="whole")]


@pytest.mark.parametrize(
    "line", [f" {END}", f"{END} ", f"x{END}", END.lower(), END[:-1], f"{END}\r\r", START, END_1X]
)
def test_d_12_inside_a_pair_only_its_own_end_marker_alone_on_a_line_ends_it(line: str) -> None:
    """Case D-12."""
    assert read(pair(line, "more")) == [Text(text=f"{line}\nmore")]


@pytest.mark.parametrize("line", ['AGENT_EVENT {"type":"ready"}', START_1X, "AGENT_EVENT"])
def test_inside_a_pair_every_line_is_text(line: str) -> None:
    assert read(pair(line)) == [Text(text=line)]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"\\{END}", END),
        (f"\\\\{END}", f"\\{END}"),
        (f"\\{START_1X}", START_1X),
        ("\\x", "\\x"),
        (f"\\{END}x", f"\\{END}x"),
        ("\\", "\\"),
    ],
)
def test_one_backslash_is_taken_from_what_looks_like_a_marker_and_from_nothing_else(
    written: str, shown: str
) -> None:
    assert read(pair(written)) == [Text(text=shown)]


def test_line_ends_of_two_characters_are_understood() -> None:
    stream = pair("one", "two", f"\\{END}").replace(b"\n", b"\r\n") + b"log\r\nAGENT_EVENT {}\r\n"

    assert read(stream) == [Text(text=f"one\ntwo\n{END}"), LogLine(text="log"), EventLine(plain={})]


def test_a_byte_order_mark_at_the_start_is_passed_over_and_elsewhere_is_text() -> None:
    bom = b"\xef\xbb\xbf"

    assert read(bom + pair("a")) == [Text(text="a")]
    assert read(b"x\n" + bom + pair("a")) == [
        LogLine(text="x"),
        LogLine(text=f"\ufeff{START}"),
        LogLine(text="a"),
        LogLine(text=END),
    ]


def test_a_character_may_be_split_anywhere() -> None:
    stream = frame("é€😀").encode()

    assert read(stream, sizes=[1] * len(stream)) == [Text(text="é€😀")]


def test_bytes_that_are_no_text_are_replaced_and_harm_only_themselves() -> None:
    assert read(b"\xff\n" + pair("X").replace(b"X", b"a\xc3(\x80b")) == [
        LogLine(text="\ufffd"),
        Text(text="a\ufffd(\ufffdb"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "AGENT_EVENT {",
        "AGENT_EVENT NaN",
        "AGENT_EVENT ",
        'AGENT_EVENT {"a":1,"a":2}',
        "AGENT_EVENT " + "[" * 100_000,
        "agent_event {}",
        " AGENT_EVENT {}",
        "AGENT_EVENT{}",
    ],
    ids=["unfinished", "nan", "nothing", "key twice", "too deep", "lower case", "indented", "no space"],
)
def test_what_is_not_quite_an_event_is_a_log_line(line: str) -> None:
    assert read(f"{line}\n".encode()) == [LogLine(text=line[: 16 * KIB])]


def test_an_event_line_of_one_mebibyte_is_read_and_a_longer_one_is_logged() -> None:
    def event(size: int) -> bytes:
        head, tail = b'AGENT_EVENT {"a":"', b'"}'
        return head + b"x" * (size - len(head) - len(tail)) + tail

    (longest,), (too_long,) = read(event(MIB) + b"\n"), read(event(MIB + 1) + b"\n")

    assert isinstance(longest, EventLine)
    assert too_long == LogLine(text=event(MIB + 1)[: 16 * KIB].decode())


@pytest.mark.parametrize("filler", ["x", "é", "€", "😀"])
def test_a_text_of_64_kib_is_whole_and_a_longer_one_is_cut_with_a_note(filler: str) -> None:
    longest = filler * (64 * KIB // len(filler.encode()))
    longest += "." * (64 * KIB - len(longest.encode()))

    (whole,), (cut,) = read(frame(longest).encode()), read(frame(longest + ".").encode())

    assert whole == Text(text=longest)
    assert isinstance(cut, Text)
    assert cut.cut
    assert cut.text.endswith(CUT_NOTE)
    assert longest.startswith(cut.text.removesuffix(CUT_NOTE))
    assert 64 * KIB - 4 < len(cut.text.encode()) <= 64 * KIB


@pytest.mark.parametrize(
    "line", ["x" * (2 * MIB), *["\n" * (70 * KIB)], "ab\n" * (30 * KIB)], ids=["one line", "empty", "short"]
)
def test_a_text_over_the_limit_ends_with_its_pair_whatever_its_lines(line: str) -> None:
    items = read(frame(line).encode() + frame("next").encode())

    assert [isinstance(item, Text) and item.cut for item in items] == [True, False]
    assert items[1] == Text(text="next")


def test_a_cut_text_of_bad_bytes_keeps_the_limit_too() -> None:
    (item,) = read(f"{START}\n".encode() + b"\xff" * (64 * KIB) + f"\n{END}\n".encode())

    assert isinstance(item, Text)
    assert item.cut
    assert len(item.text.encode()) <= 64 * KIB


def test_a_log_line_is_cut_at_16_kib_between_characters() -> None:
    (ascii_line,) = read(b"x" * (17 * KIB) + b"\n")
    (wide_line,) = read(("x" + "€" * (6 * KIB)).encode() + b"\n")
    (torn_line,) = read(("x" + "😀" * (5 * KIB)).encode() + b"\n")
    (bad_line,) = read(b"\xff" * (10 * KIB) + b"\n")

    assert ascii_line == LogLine(text="x" * (16 * KIB))
    assert wide_line == LogLine(text="x" + "€" * 5461)
    assert torn_line == LogLine(text="x" + "😀" * 4095)
    assert bad_line == LogLine(text="\ufffd" * 5461)


@pytest.mark.parametrize(
    "opening", [b"", f"{START}\n".encode(), f"{START_1X}\n".encode()], ids=["log", "pair", "1.x"]
)
def test_a_gigabyte_without_a_newline_takes_no_more_than_a_few_mebibytes(opening: bytes) -> None:
    reader, chunk = OutputReader(), b"x" * (64 * KIB)
    reader.feed(opening)

    tracemalloc.start()
    for _ in range(16 * KIB):
        reader.feed(chunk)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 4 * MIB


def test_a_line_that_comes_byte_by_byte_takes_no_more_memory_than_its_length() -> None:
    reader = OutputReader()

    tracemalloc.start()
    for _ in range(300 * KIB):
        reader.feed(b"x")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < MIB


def frame_1x(**fields: object) -> bytes:
    return pair(json.dumps(fields, separators=(",", ":")), start=START_1X, end=END_1X)


def test_frames_of_the_older_dialect_are_read() -> None:
    stream = (
        frame_1x(status="success", result="hi\nthere", newSessionId="s-1")
        + frame_1x(status="success", result=None, newSessionId="s-1")
        + frame_1x(status="error", error="no", result=7)
    )

    assert read(stream, sizes=[30, 5, 1]) == [
        Frame1x(status="success", result="hi\nthere", new_session_id="s-1"),
        Frame1x(status="success", new_session_id="s-1"),
        Frame1x(status="error", error="no"),
    ]


@pytest.mark.parametrize("words", [END_1X, f"{END_1X}\n{END}", START_1X, "\\", f"\\{END_1X}"])
def test_a_marker_inside_the_older_dialects_json_is_text(words: str) -> None:
    assert read(frame_1x(status="success", result=words)) == [Frame1x(status="success", result=words)]


def test_json_over_several_lines_is_read_in_the_older_dialect() -> None:
    body = json.dumps({"status": "success", "result": "x"}, indent=2).split("\n")

    assert read(pair(*body, start=START_1X, end=END_1X)) == [Frame1x(status="success", result="x")]


@pytest.mark.parametrize(
    "body", ["plain words", "[]", "{}", '{"status":"odd"}', '{"status":["success"]}', "{"]
)
def test_what_is_not_the_older_dialects_json_is_a_log_line(body: str) -> None:
    assert read(pair(body, start=START_1X, end=END_1X)) == [LogLine(text=body)]


def test_a_text_in_the_older_dialect_is_cut_like_any_other() -> None:
    (item,) = read(frame_1x(status="success", result="é" * (40 * KIB)))

    assert isinstance(item, Frame1x)
    assert item.result is not None
    assert item.result.endswith(CUT_NOTE)
    assert len(item.result.encode()) <= 64 * KIB


@pytest.mark.parametrize("chunks", [0, 100], ids=["at once", "in chunks"])
def test_a_frame_of_the_older_dialect_that_is_too_long_is_an_error_and_not_silence(chunks: int) -> None:
    stream = frame_1x(status="success", result="x" * (2 * MIB)) + b"next\n"

    (item, after) = read(stream, sizes=[64 * KIB] * chunks)

    assert isinstance(item, Frame1x)
    assert (item.status, item.result) == ("error", None)
    assert item.error is not None
    assert after == LogLine(text="next")


def test_half_a_surrogate_pair_in_the_older_dialect_is_replaced() -> None:
    assert read(frame_1x(status="success", result="a\ud800")) == [Frame1x(status="success", result="a\ufffd")]
