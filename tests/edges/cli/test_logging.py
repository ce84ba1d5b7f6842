"""Log lines in a real file: JSON, without texts, without repeats, rotated."""

import io
import json
import logging
import os
import pty
from pathlib import Path
from typing import Any

import pytest
import structlog

from orchestrator.cli.log_repeats import WINDOW_S
from orchestrator.cli.logging_setup import logging_to
from orchestrator.settings.tree import LogSettings
from tests.support.manual_clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    return tmp_path / "dovecote.log"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_is_json_with_time_level_event_and_values(log_file: Path, clock: ManualClock) -> None:
    with logging_to(log_file, LogSettings(), clock=clock, on_terminal=False):
        structlog.get_logger("a.b").info("message.stored", chat="console:main", chars=3)

    (line,) = lines(log_file)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "message.stored",
        "level": "info",
        "logger": "a.b",
        "chat": "console:main",
        "chars": 3,
    }


def test_h14_texts_and_secrets_are_lengths_unless_debug_is_asked_for(
    tmp_path: Path, clock: ManualClock
) -> None:
    for level in ("info", "debug"):
        with logging_to(
            tmp_path / level,
            LogSettings(level=level),
            clock=clock,
            on_terminal=False,
        ):
            structlog.get_logger().info("odd", text="secret", token="secret", body=[1])

    assert "secret" not in (tmp_path / "info").read_text()
    assert lines(tmp_path / "info")[0]["text"] == "(6 characters)"
    assert lines(tmp_path / "debug")[0]["text"] == "secret"


def test_lines_below_the_level_are_left_out(log_file: Path, clock: ManualClock) -> None:
    with logging_to(log_file, LogSettings(level="warning"), clock=clock, on_terminal=False):
        structlog.get_logger().info("quiet")
        structlog.get_logger().warning("loud")

    assert [line["event"] for line in lines(log_file)] == ["loud"]


def test_i5_the_same_error_is_counted_within_its_window_and_told_after_it(
    log_file: Path, clock: ManualClock
) -> None:
    with logging_to(log_file, LogSettings(), clock=clock, on_terminal=False):
        log = structlog.get_logger()
        for attempt in range(500):
            log.error("engine.away", error="refused", attempt=attempt)
        log.error("engine.away", error="another")
        clock.advance(WINDOW_S)
        log.error("engine.away", error="refused", attempt=500)

    assert [(line["error"], line.get("repeated")) for line in lines(log_file)] == [
        ("refused", None),
        ("another", None),
        ("refused", 499),
    ]


def test_life_events_are_never_collapsed(log_file: Path, clock: ManualClock) -> None:
    with logging_to(log_file, LogSettings(), clock=clock, on_terminal=False):
        for _ in range(3):
            structlog.get_logger().info("turn.ended", turn="t1")

    assert len(lines(log_file)) == 3


def test_i5_files_are_rotated_by_size_and_only_so_many_kept(log_file: Path, clock: ManualClock) -> None:
    settings = LogSettings(max_bytes=64 * 1024, keep=2)

    with logging_to(log_file, settings, clock=clock, on_terminal=False):
        for number in range(3_000):
            structlog.get_logger().info("message.stored", number=number, filler="x" * 50)

    files = sorted(path.name for path in log_file.parent.iterdir())
    assert files == ["dovecote.log", "dovecote.log.1", "dovecote.log.2"]
    assert all(path.stat().st_size <= 64 * 1024 for path in log_file.parent.iterdir())
    assert lines(log_file)[-1]["number"] == 2_999


def test_libraries_log_to_the_same_file_and_tracebacks_are_in_it(log_file: Path, clock: ManualClock) -> None:
    with logging_to(log_file, LogSettings(), clock=clock, on_terminal=False):
        logging.getLogger("some.library").warning("odd %s", "thing")
        try:
            raise ValueError("broken")
        except ValueError:
            structlog.get_logger().exception("activity.failed")

    library, ours = lines(log_file)
    assert (library["event"], library["logger"]) == ("odd thing", "some.library")
    assert "ValueError: broken" in ours["exception"]


def test_a_terminal_that_is_none_gets_json_on_standard_error(
    log_file: Path, clock: ManualClock, capsys: pytest.CaptureFixture[str]
) -> None:
    with logging_to(log_file, LogSettings(), clock=clock, on_terminal=True):
        structlog.get_logger().info("dovecote.ready", runner="process")

    assert json.loads(capsys.readouterr().err)["event"] == "dovecote.ready"


class _Terminal(io.StringIO):
    """A stream that says of itself that people read it."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "has_colours"),
    [
        pytest.param({"TERM": "xterm"}, True, id="usual"),
        pytest.param({"TERM": "xterm", "NO_COLOR": "1"}, False, id="no colours wanted"),
        pytest.param({"TERM": "dumb"}, False, id="none known"),
    ],
)
def test_a_terminal_gets_lines_for_people_and_colours_where_it_shows_them(
    log_file: Path,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    has_colours: bool,
) -> None:
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    with logging_to(log_file, LogSettings(), clock=clock, on_terminal=True):
        structlog.get_logger().info("dovecote.ready", runner="process")

    said = terminal.getvalue()
    assert "dovecote.ready" in said
    assert "{" not in said
    assert ("\x1b[" in said) is has_colours


def test_after_the_end_nothing_of_it_is_left(log_file: Path, clock: ManualClock) -> None:
    root = logging.getLogger()
    before = (list(root.handlers), root.level)

    with logging_to(log_file, LogSettings(), clock=clock, on_terminal=True):
        pass

    assert (list(root.handlers), root.level) == before
    assert not structlog.is_configured()


def test_no_line_of_a_library_tells_of_our_own_calls_below_debug(tmp_path: Path, clock: ManualClock) -> None:
    for level in ("info", "debug"):
        with logging_to(tmp_path / level, LogSettings(level=level), clock=clock, on_terminal=False):
            logging.getLogger("httpx").info("HTTP Request: POST http://dovecote")
            logging.getLogger("apscheduler.scheduler").info("Added job to job store")

    assert lines(tmp_path / "info") == []
    assert len(lines(tmp_path / "debug")) == 2


def test_a_terminal_gets_lines_for_people_wherever_standard_output_goes(
    log_file: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal, os.fdopen(ours, "rb", buffering=0) as seen:
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setattr("sys.stdout", io.StringIO())
        with logging_to(log_file, LogSettings(), clock=clock, on_terminal=True):
            structlog.get_logger("a").info("dovecote.ready")
            logging.getLogger("library").warning("hm")
        told = seen.read(4096).decode()

    assert "dovecote.ready" in told
    assert '{"' not in told


def test_what_a_person_waits_for_is_told_in_words(log_file: Path, clock: ManualClock) -> None:
    said: list[str] = []
    with logging_to(log_file, LogSettings(), clock=clock, on_terminal=False, tell=said.append):
        log = structlog.get_logger()
        log.info("programs.installing", program="claude")
        log.info("message.stored", chat="console:main")

    assert said == ["Fetching the agent program claude, once; it takes a moment…"]
