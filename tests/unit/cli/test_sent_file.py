"""How a file that was sent is shown in a terminal."""

from datetime import UTC, datetime

import pytest

from orchestrator.api.chat_watch import SentFile, SentText
from orchestrator.cli.sent_file import shown_lines, shown_size


def sent(text: str, file: SentFile | None) -> SentText:
    return SentText(id=1, text=text, created_at=datetime(2026, 1, 1, tzinfo=UTC), is_notice=False, file=file)


FILE = SentFile(
    name="report.pdf", media_type="application/pdf", size_bytes=12_345, path="/home/ada/dovecote/report.pdf"
)
LINE = "[report.pdf, 12 kB] /home/ada/dovecote/report.pdf"


@pytest.mark.parametrize(
    ("text", "file", "lines"),
    [
        pytest.param("hello", None, ["hello"], id="a text"),
        pytest.param("", None, [""], id="an empty text"),
        pytest.param("", FILE, [LINE], id="a file"),
        pytest.param("The figures.", FILE, ["The figures.", LINE], id="a file with a caption"),
    ],
)
def test_a_file_is_named_below_its_caption_with_its_size_and_its_place(
    text: str, file: SentFile | None, lines: list[str]
) -> None:
    assert shown_lines(sent(text, file)) == lines


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (9_949, "9.9 kB"),
        (16_777_216, "17 MB"),
        (2**31, "2.1 GB"),
    ],
)
def test_a_size_is_told_in_the_unit_that_reads_best(size_bytes: int, shown: str) -> None:
    assert shown_size(size_bytes) == shown
