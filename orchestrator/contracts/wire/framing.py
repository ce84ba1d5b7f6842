"""Standard output of a container: pairs of marker lines around texts, event lines, and the rest.

The writer gives a text line that looks like a marker one more leading backslash; the reader takes
one away. So no text can close its own pair. Source: contracts.md section 2 and, for the older
dialect, nanoclaw.md.
"""

import codecs
import re
from dataclasses import dataclass, field
from typing import Final

from orchestrator.contracts.wire.codec import WireError, parse_json, without_lone_surrogates

START_MARKER: Final = "OUTPUT_START_MARKER"
END_MARKER: Final = "OUTPUT_END_MARKER"
START_MARKER_1X: Final = "---NANOCLAW_OUTPUT_START---"
END_MARKER_1X: Final = "---NANOCLAW_OUTPUT_END---"
EVENT_PREFIX: Final = "AGENT_EVENT "

MAX_TEXT_BYTES: Final = 64 * 1024
MAX_EVENT_BYTES: Final = 1024 * 1024
MAX_LOG_LINE_BYTES: Final = 16 * 1024
CUT_NOTE: Final = "\n[… cut here: the text was too long]"

_EVENT_PREFIX_UTF8: Final = EVENT_PREFIX.encode()
_MARKERS: Final = (START_MARKER, END_MARKER, START_MARKER_1X, END_MARKER_1X)
# With a carriage return too: a reader that takes line ends of two characters would see a marker there.
_MARKER_LIKE: Final = re.compile(rf"\\*(?:{'|'.join(_MARKERS)})\r?")
_MARKER_LIKE_UTF8: Final = re.compile(_MARKER_LIKE.pattern.encode())
_END_OF_START: Final = {
    START_MARKER.encode(): END_MARKER.encode(),
    START_MARKER_1X.encode(): END_MARKER_1X.encode(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One pair: what becomes one chat message. cut: the text was over the limit and ends in a note."""

    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame1x:
    """One pair of the NanoClaw 1.x dialect. result None: the turn is over, the agent waits."""

    status: str
    result: str | None = None
    new_session_id: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    """An `AGENT_EVENT` line that held JSON; its meaning is `container_io.parse_event`'s to say."""

    plain: object


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """Any other line: the agent's log."""

    text: str


OutputItem = Text | Frame1x | EventLine | LogLine


def frame(text: str) -> str:
    """`text` between its marker lines, escaped, with a newline before and after.

    The newline before makes the marker stand on a line of its own whatever was printed so far.
    """
    body = "\n".join(_escape(line) for line in without_lone_surrogates(text).split("\n"))
    return f"\n{START_MARKER}\n{body}\n{END_MARKER}\n"


def _escape(line: str) -> str:
    return "\\" + line if _MARKER_LIKE.fullmatch(line) else line


def _unescape(line_utf8: bytes) -> bytes:
    is_escaped = line_utf8.startswith(b"\\") and _MARKER_LIKE_UTF8.fullmatch(line_utf8)
    return line_utf8[1:] if is_escaped else line_utf8


@dataclass(slots=True, kw_only=True)
class _OpenPair:
    """What is known of a pair whose end marker was not seen yet. body: every line behind a newline."""

    end_marker: bytes
    ends_in_crlf: bool
    body: bytearray = field(default_factory=bytearray)
    is_cut: bool = False

    @property
    def is_1x(self) -> bool:
        return self.end_marker == END_MARKER_1X.encode()


class OutputReader:
    """Bytes in, items out; any chunking, bounded memory, bad UTF-8 replaced.

    Works on bytes up to the end of a line, so that a character may be split anywhere: a newline is
    never part of one. A pair that is still open at the end of the stream is never given out.
    """

    def __init__(self) -> None:
        self._line = bytearray()
        self._is_first_line = True
        self._pair: _OpenPair | None = None

    @property
    def in_pair(self) -> bool:
        """Whether a pair is open: its text is held back until its end marker."""
        return self._pair is not None

    def feed(self, chunk: bytes) -> list[OutputItem]:
        """The items that `chunk` completes."""
        first, *others = chunk.split(b"\n")
        self._keep(first)
        if not others:
            return []
        *whole, last = others
        items = [self._end_line(), *[self._take_line(line) for line in whole]]
        self._keep(last)
        return [item for item in items if item is not None]

    def finish(self) -> list[OutputItem]:
        """The last line, if the stream ended without a newline. Call once, at the end."""
        item = self._end_line() if self._line else None
        return [] if item is None else [item]

    def _keep(self, piece: bytes) -> None:
        """Add to the unfinished line, but never beyond what says that it is too long for any kind."""
        self._line += piece[: MAX_EVENT_BYTES + 1 - len(self._line)]

    def _end_line(self) -> OutputItem | None:
        line = bytes(self._line)
        self._line.clear()
        return self._take_line(line)

    def _take_line(self, line: bytes) -> OutputItem | None:
        if self._is_first_line:
            self._is_first_line = False
            line = line.removeprefix(codecs.BOM_UTF8)
        return self._take_outside(line) if self._pair is None else self._take_inside(line, self._pair)

    def _take_outside(self, line: bytes) -> OutputItem | None:
        bare = line.removesuffix(b"\r")
        if bare in _END_OF_START:
            self._pair = _OpenPair(end_marker=_END_OF_START[bare], ends_in_crlf=bare != line)
            return None
        if bare.startswith(_EVENT_PREFIX_UTF8) and len(bare) <= MAX_EVENT_BYTES:
            return _event(bare)
        return _log_line(bare) if bare else None

    def _take_inside(self, line: bytes, pair: _OpenPair) -> OutputItem | None:
        bare = line.removesuffix(b"\r")
        if bare == pair.end_marker:
            self._pair = None
            return _frame_1x(pair) if pair.is_1x else _text(pair)
        _add_line(pair, bare if pair.ends_in_crlf else line)
        return None


def _add_line(pair: _OpenPair, line: bytes) -> None:
    # The older dialect holds one JSON line; half of it is worthless, so it may be as long as an event.
    limit = MAX_EVENT_BYTES if pair.is_1x else MAX_TEXT_BYTES
    room = limit + 1 - len(pair.body)
    added = b"\n" + (line if pair.is_1x else _unescape(line))
    pair.is_cut = pair.is_cut or len(added) > room
    pair.body += added[:room]


def _text(pair: _OpenPair) -> Text:
    return _capped(_decode(pair.body[1:], is_cut=pair.is_cut), is_cut=pair.is_cut)


def _capped(text: str, *, is_cut: bool) -> Text:
    """`text` if it keeps the limit; else its beginning and a note, together within the limit."""
    encoded = text.encode()
    if not is_cut and len(encoded) <= MAX_TEXT_BYTES:
        return Text(text=text)
    room = MAX_TEXT_BYTES - len(CUT_NOTE.encode())
    return Text(text=encoded[:room].decode("utf-8", "ignore") + CUT_NOTE, cut=True)


def _decode(line_utf8: bytes | bytearray, *, is_cut: bool) -> str:
    """The text, bad bytes replaced; of a cut one, a last character that is not whole is left out."""
    return codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(line_utf8), final=not is_cut)


def _log_line(line_utf8: bytes | bytearray) -> LogLine:
    # A replaced byte is three bytes long: a line of a third of the limit can never be over it.
    if 3 * len(line_utf8) <= MAX_LOG_LINE_BYTES:
        return LogLine(text=line_utf8.decode("utf-8", "replace"))
    is_cut = len(line_utf8) > MAX_LOG_LINE_BYTES
    text = _decode(line_utf8[:MAX_LOG_LINE_BYTES], is_cut=is_cut)
    return LogLine(text=text.encode()[:MAX_LOG_LINE_BYTES].decode("utf-8", "ignore"))


def _event(line: bytes) -> OutputItem:
    try:
        return EventLine(plain=parse_json(line[len(_EVENT_PREFIX_UTF8) :]))
    except WireError:
        return _log_line(line)


def _frame_1x(pair: _OpenPair) -> OutputItem:
    """The older dialect's frame; what is not its JSON is a log line, as the older host does."""
    body = bytes(pair.body[1:])
    if pair.is_cut:
        return Frame1x(status="error", error="The output was longer than 1 MiB.")
    try:
        plain = parse_json(body.decode("utf-8", "replace"))
    except WireError:
        return _log_line(body)
    if not isinstance(plain, dict) or plain.get("status") not in ("success", "error"):
        return _log_line(body)
    words = {key: value for key, value in plain.items() if isinstance(value, str)}
    result = words.get("result")
    return Frame1x(
        status=plain["status"],
        result=None if result is None else _capped(result, is_cut=False).text,
        new_session_id=words.get("newSessionId"),
        error=words.get("error"),
    )
