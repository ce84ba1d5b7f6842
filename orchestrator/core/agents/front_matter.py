"""The front matter of a text: YAML between two lines of `---`, read to plain values with their lines.

A small part of YAML on purpose: texts, whole numbers, decimals, true and false, lists and tables. No
anchors, no tags, no key twice, bounded in size and depth; `no` and `on` are texts.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import yaml

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.core.agents.forms import FieldPath, shown

Lines: TypeAlias = dict[FieldPath, int]

MAX_BYTES: Final = 64 * 1024
_MAX_DEPTH: Final = 12
_MARK: Final = re.compile(r"---[ \t]*")
_INTEGER: Final = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_DECIMAL: Final = re.compile(r"[-+]?[0-9]{1,15}\.[0-9]{1,15}")
_CONSTANTS: Final[Mapping[str, object]] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """A text in its two parts. lines: of each value, counted in the whole text from 1.

    body_line: the line that the body begins in. is_there: whether there is a front matter at all.
    """

    fields: Mapping[str, object] = field(default_factory=dict)
    lines: Lines = field(default_factory=dict)
    body: str
    body_line: int = 1
    is_there: bool = False


def split_front_matter(text: str, *, where: str) -> FrontMatter:
    """The parts of `text`. where: its name, for errors. Raises InvalidSettings with the line."""
    rows = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if not _MARK.fullmatch(rows[0]):
        return FrontMatter(body="\n".join(rows))
    end = next((number for number, row in enumerate(rows[1:], start=1) if _MARK.fullmatch(row)), None)
    if end is None:
        raise refusal(where, 1, "begins a front matter that never ends", "Put a line of --- below it.")
    source = "\n".join(rows[1:end])
    if len(source.encode("utf-8", "replace")) > MAX_BYTES:
        raise refusal(where, 1, f"begins more than {MAX_BYTES:,} bytes of front matter", "Shorten it.")
    lines: Lines = {}
    plain = _read(source, where, lines)
    if not isinstance(plain, dict) and plain is not None:
        raise refusal(where, 2, f"is {shown(plain)}", "Write fields, such as: provider: builtin")
    return FrontMatter(
        fields=plain or {}, lines=lines, body="\n".join(rows[end + 1 :]), body_line=end + 2, is_there=True
    )


def refusal(where: str, line: int | None, what: str, mend: str) -> InvalidSettings:
    """The error for one place of a text."""
    place = where if line is None else f"{where} line {line}"
    return InvalidSettings(f"{place} {what}.", suggestion=mend, details={"where": where, "line": line})


def _read(source: str, where: str, lines: Lines) -> object:
    try:
        events = yaml.parse(source, Loader=yaml.SafeLoader)
        return _Reader(where, lines).document(events)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 2
        what = f"is not YAML: {str(error.problem)[:200]}"
        raise refusal(where, line, what, "Mend it: name: value, one a line.") from None
    except yaml.YAMLError as error:
        raise refusal(where, None, f"is not YAML: {str(error)[:200]}", "Mend it.") from None


class _Reader:
    """Reads the events of one document."""

    def __init__(self, where: str, lines: Lines) -> None:
        self._where = where
        self._lines = lines

    def document(self, events: Iterator[yaml.Event]) -> object:
        found: object = None
        has_one = False
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent) and has_one:
                line = _line_of(event)
                raise refusal(self._where, line, "begins a second document of YAML", "Remove the line above.")
            if isinstance(event, yaml.NodeEvent):
                found = self._node(event, events, ())
            has_one |= isinstance(event, yaml.DocumentEndEvent)
        return found

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event], place: FieldPath) -> object:
        line = _line_of(event)
        self._lines[place] = line
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise refusal(self._where, line, "has an anchor or an alias", "Write the value out.")
        if getattr(event, "tag", None) is not None:
            raise refusal(self._where, line, "has a tag", "Write the plain value, without !.")
        if len(place) > _MAX_DEPTH:
            raise refusal(self._where, line, f"is more than {_MAX_DEPTH} deep", "Write it flatter.")
        if isinstance(event, yaml.MappingStartEvent):
            return self._table(events, place)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(events, place)
        assert isinstance(event, yaml.ScalarEvent)
        return _scalar(event)

    def _list(self, events: Iterator[yaml.Event], place: FieldPath) -> list[object]:
        found: list[object] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            found.append(self._node(event, events, (*place, len(found))))
        return found

    def _table(self, events: Iterator[yaml.Event], place: FieldPath) -> dict[str, object]:
        found: dict[str, object] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            line = _line_of(event)
            if not isinstance(event, yaml.ScalarEvent):
                raise refusal(self._where, line, "has a name that is no text", "Write: name: value")
            name = event.value
            if name in found:
                raise refusal(self._where, line, f"has {shown(name)} a second time", "Remove one of them.")
            found[name] = self._node(next(events), events, (*place, name))
            self._lines[(*place, name)] = line
        return found


def _line_of(event: yaml.Event) -> int:
    """Counted in the whole text: the first line of the YAML is its second."""
    return 2 if event.start_mark is None else event.start_mark.line + 2


def _scalar(event: yaml.ScalarEvent) -> object:
    text: str = event.value
    if event.style is not None:
        return text
    if text.lower() in _CONSTANTS and text in (text.lower(), text.capitalize(), text.upper()):
        return _CONSTANTS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text
