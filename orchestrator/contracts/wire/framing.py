"""Standard output of a container: pairs of marker lines around texts, event lines, and the rest.

The writer gives a text line that looks like a marker one more leading backslash; the reader takes
one away. So no text can close its own pair. Source: contracts.md section 2 and, for the older
dialect, nanoclaw.md.
"""

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

START_MARKER: Final = "OUTPUT_START_MARKER"
END_MARKER: Final = "OUTPUT_END_MARKER"
START_MARKER_1X: Final = "---NANOCLAW_OUTPUT_START---"
END_MARKER_1X: Final = "---NANOCLAW_OUTPUT_END---"
EVENT_PREFIX: Final = "AGENT_EVENT "
_MARKERS: Final = frozenset({START_MARKER, END_MARKER, START_MARKER_1X, END_MARKER_1X})

MAX_TEXT_BYTES: Final = 64 * 1024
MAX_EVENT_BYTES: Final = 1024 * 1024
MAX_LOG_LINE_BYTES: Final = 16 * 1024
CUT_NOTE: Final = "\n[… cut: the text was longer than 64 KiB]"


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
    body = "\n".join(_escape(line) for line in text.split("\n"))
    return f"\n{START_MARKER}\n{body}\n{END_MARKER}\n"


def _escape(line: str) -> str:
    return "\\" + line if line.lstrip("\\") in _MARKERS else line


def _unescape(line: str) -> str:
    return line[1:] if line.startswith("\\") and line.lstrip("\\") in _MARKERS else line


class OutputReader:
    """Bytes in, items out; any chunking, bounded memory, bad UTF-8 replaced.

    A pair that is still open at the end of the stream is never given out.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace")
        self._line: list[str] = []
        self._line_size = 0
        self._line_cut = False
        self._end_marker: str | None = None
        self._body: list[str] = []
        self._body_size = 0
        self._body_cut = False

    @property
    def in_pair(self) -> bool:
        """Whether a pair is open: its text is held back until its end marker."""
        return self._end_marker is not None

    def feed(self, chunk: bytes) -> list[OutputItem]:
        """The items that `chunk` completes."""
        return list(self._lines(self._decode.decode(chunk)))

    def finish(self) -> list[OutputItem]:
        """The last line, if the stream ended without a newline. Call once, at the end."""
        rest = self._decode.decode(b"", final=True)
        items = list(self._lines(rest))
        if self._line_size:
            items.extend(self._take_line())
        return items

    def _lines(self, text: str) -> Iterator[OutputItem]:
        start = 0
        while (newline := text.find("\n", start)) >= 0:
            self._keep(text[start:newline])
            yield from self._take_line()
            start = newline + 1
        self._keep(text[start:])

    def _keep(self, piece: str) -> None:
        """Add to the unfinished line, but never beyond what any kind of line may hold."""
        room = MAX_EVENT_BYTES - self._line_size
        if len(piece) > room:
            piece, self._line_cut = piece[:room], True
        if piece:
            self._line.append(piece)
            self._line_size += len(piece)

    def _take_line(self) -> Iterator[OutputItem]:
        line, was_cut = "".join(self._line), self._line_cut
        self._line, self._line_size, self._line_cut = [], 0, False
        line = line.removesuffix("\r")
        if self._end_marker is not None:
            if line == self._end_marker:
                yield from self._close_pair()
            else:
                self._add_to_body(line, was_cut=was_cut)
        elif line in (START_MARKER, START_MARKER_1X):
            self._end_marker = END_MARKER if line == START_MARKER else END_MARKER_1X
        elif line.startswith(EVENT_PREFIX) and not was_cut:
            yield _event(line)
        elif line:
            yield LogLine(text=line[:MAX_LOG_LINE_BYTES])

    def _add_to_body(self, line: str, *, was_cut: bool) -> None:
        # The older dialect holds one JSON line; half of it is worthless, so it may be as long as an event.
        limit = MAX_TEXT_BYTES if self._end_marker == END_MARKER else MAX_EVENT_BYTES
        line = _unescape(line)
        encoded = line.encode()
        room = limit - self._body_size
        if len(encoded) > room:
            line, was_cut = encoded[: max(room, 0)].decode("utf-8", "ignore"), True
            encoded = encoded[: max(room, 0)]
        if self._body_cut and not line:
            return
        self._body.append(line)
        self._body_size += len(encoded) + 1
        self._body_cut = self._body_cut or was_cut

    def _close_pair(self) -> Iterator[OutputItem]:
        text, cut, dialect = "\n".join(self._body), self._body_cut, self._end_marker
        self._end_marker, self._body, self._body_size, self._body_cut = None, [], 0, False
        if dialect == END_MARKER:
            yield Text(text=text + CUT_NOTE if cut else text, cut=cut)
        else:
            yield _frame_1x(text)


def _event(line: str) -> OutputItem:
    try:
        return EventLine(plain=json.loads(line[len(EVENT_PREFIX) :]))
    except (ValueError, RecursionError):
        return LogLine(text=line[:MAX_LOG_LINE_BYTES])


def _frame_1x(text: str) -> OutputItem:
    """The older dialect's frame; what is not its JSON is a log line, as the older host does."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        return LogLine(text=text[:MAX_LOG_LINE_BYTES])
    if not isinstance(plain, dict) or plain.get("status") not in ("success", "error"):
        return LogLine(text=text[:MAX_LOG_LINE_BYTES])

    def word(key: str) -> str | None:
        value = plain.get(key)
        return value if isinstance(value, str) else None

    return Frame1x(
        status=plain["status"], result=word("result"), new_session_id=word("newSessionId"), error=word("error")
    )
