"""What the script driver plays: a YAML file, read and checked before the first turn.

```yaml
session: s-1            # said as the session's id at the start
join: true              # follow-ups join the running turn (default: each becomes a turn of its own)
turns:                  # used up in order, one a turn, by each run of the agent anew
  - - say: hello
rules:                  # then the first rule that fits the turn's last message
  - match: weather      # a part of its text, in any case …
    steps: [{say: sunny}]
  - regex: '^crash'     # … or a regular expression, searched
    times: 1            # only so often, counted in the workspace across runs
    steps: [{crash: SEGV}]
default:                # else this; without it, every turn is answered by "re: {text}"
  - say: "re: {text}"
```

A step is a mapping with one key, its name:

| step | value | what it does |
|---|---|---|
| `say` | text | one pair; may hold `{text}` (last message), `{texts}` (all), `{joined}`, `{turn}` (a count) |
| `say_raw` | text or `!!binary` | these bytes on the real standard output |
| `open_pair` | text | a start marker and the text, no end marker |
| `flood` | `bytes`, `newlines` (false), `stream` (stdout, stderr) | that many bytes |
| `stderr` | text | a line on standard error |
| `delay_s` | number | waits |
| `wait_for_file` | path | waits until it is there; relative to the workspace |
| `wait_for_join` | seconds | waits until a follow-up has joined; the turn fails if none comes in time |
| `write_file` | `path`, `text` | writes a file; relative to the workspace |
| `run` | list of words | runs a program to its end, its streams inherited |
| `send_message` | text, or `text`, `chat_jid`, `wait_s` (5) | a request; waits for the reply and logs it |
| `request` | `directory`, `body`, `name` | in the box: a text as it is, else as JSON, filled in as by `say` |
| `ask` | text, or `question`, `options` | asks the chat and waits; `say` may hold the `{answer}` |
| `tool` | `name`, `status` (done) | an event |
| `progress` | number | an event |
| `event` | mapping | any event, by its `type` |
| `usage` | `input_tokens`, `output_tokens`, `cost_usd` | told at the end of the turn |
| `fail` | code, or `code`, `message` | ends the turn as failed |
| `raise` | text | an exception in the driver |
| `exit` | number | the process ends at once |
| `crash` | signal name or number | the process dies by it |
| `ignore_sigterm` | true | from now on SIGTERM does nothing |
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import InvalidRequest


class ScenarioError(InvalidRequest):
    """The scenario can't be played; the message names the place in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One checked step. What the file gave lies in the one field that fits its form."""

    name: str
    text: str = ""
    raw: bytes = b""
    number: float = 0.0
    words: tuple[str, ...] = ()
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Steps for the turns whose last message fits. times: None for always. number: its place in the file."""

    number: int
    pattern: re.Pattern[str]
    steps: tuple[Step, ...]
    times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """All that a file says."""

    session: str | None = None
    join: bool = False
    turns: tuple[tuple[Step, ...], ...] = ()
    rules: tuple[Rule, ...] = ()
    default: tuple[Step, ...]


ECHO: Final = Scenario(default=(Step(name="say", text="re: {text}", fields={}),))
"""What is played without a file."""


class _Form(Enum):
    TEXT = auto()
    BYTES = auto()
    NUMBER = auto()
    YES = auto()
    WORDS = auto()
    FIELDS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """The forms a step's value may have. keys: of a mapping, None for any; the first is needed."""

    forms: tuple[_Form, ...]
    keys: tuple[str, ...] | None = ()


_SHAPES: Final[Mapping[str, _Shape]] = {
    "say": _Shape(forms=(_Form.TEXT,)),
    "say_raw": _Shape(forms=(_Form.BYTES, _Form.TEXT)),
    "open_pair": _Shape(forms=(_Form.TEXT,)),
    "flood": _Shape(forms=(_Form.FIELDS,), keys=("bytes", "newlines", "stream")),
    "stderr": _Shape(forms=(_Form.TEXT,)),
    "delay_s": _Shape(forms=(_Form.NUMBER,)),
    "wait_for_file": _Shape(forms=(_Form.TEXT,)),
    "wait_for_join": _Shape(forms=(_Form.NUMBER,)),
    "write_file": _Shape(forms=(_Form.FIELDS,), keys=("path", "text")),
    "run": _Shape(forms=(_Form.WORDS,)),
    "send_message": _Shape(forms=(_Form.TEXT, _Form.FIELDS), keys=("text", "chat_jid", "wait_s")),
    "request": _Shape(forms=(_Form.FIELDS,), keys=("directory", "body", "name")),
    "ask": _Shape(forms=(_Form.TEXT, _Form.FIELDS), keys=("question", "options")),
    "tool": _Shape(forms=(_Form.FIELDS,), keys=("name", "status")),
    "progress": _Shape(forms=(_Form.NUMBER,)),
    "event": _Shape(forms=(_Form.FIELDS,), keys=None),
    "usage": _Shape(forms=(_Form.FIELDS,), keys=("input_tokens", "output_tokens", "cost_usd")),
    "fail": _Shape(forms=(_Form.TEXT, _Form.FIELDS), keys=("code", "message")),
    "raise": _Shape(forms=(_Form.TEXT,)),
    "exit": _Shape(forms=(_Form.NUMBER,)),
    "crash": _Shape(forms=(_Form.TEXT, _Form.NUMBER)),
    "ignore_sigterm": _Shape(forms=(_Form.YES,)),
}
STEP_NAMES: Final = frozenset(_SHAPES)
"""Every step there is; the script driver has an action for each."""
_TOP_KEYS: Final = ("session", "join", "turns", "rules", "default")
_RULE_KEYS: Final = ("match", "regex", "times", "steps")


def load_scenario(path: Path) -> Scenario:
    """The scenario in a file. Raises ScenarioError with the line, or the place by keys. Blocks."""
    import yaml  # the only use of it in a container, and slow to import: echo needs none

    try:
        plain = yaml.safe_load(path.read_bytes())
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"The scenario {path.name!r} can't be read: {error}.") from error
    except yaml.YAMLError as error:
        raise ScenarioError(f"The scenario {path.name!r} is not YAML: {error}.") from error
    return parse_scenario(plain)


def parse_scenario(plain: object) -> Scenario:
    """The scenario that plain YAML values stand for. Raises ScenarioError."""
    top = _mapping(plain if plain is not None else {}, "scenario", _TOP_KEYS)
    session, join = top.get("session"), top.get("join", False)
    if session is not None and not isinstance(session, str):
        raise _wrong("session", "a text", session)
    if not isinstance(join, bool):
        raise _wrong("join", "true or false", join)
    turns = _sequence(top.get("turns", []), "turns")
    rules = _sequence(top.get("rules", []), "rules")
    return Scenario(
        session=session,
        join=join,
        turns=tuple(_steps(turn, f"turns[{n}]") for n, turn in enumerate(turns)),
        rules=tuple(_rule(rule, n) for n, rule in enumerate(rules)),
        default=_steps(top["default"], "default") if "default" in top else ECHO.default,
    )


def _rule(plain: object, number: int) -> Rule:
    where = f"rules[{number}]"
    rule = _mapping(plain, where, _RULE_KEYS)
    given = [key for key in ("match", "regex") if key in rule]
    if len(given) != 1:
        raise ScenarioError(f"{where}: give one of 'match' and 'regex'.")
    text, times = rule[given[0]], rule.get("times")
    if not isinstance(text, str):
        raise _wrong(f"{where}.{given[0]}", "a text", text)
    if times is not None and (isinstance(times, bool) or not isinstance(times, int) or times < 1):
        raise _wrong(f"{where}.times", "a number from 1", times)
    try:
        pattern = re.compile(text if given[0] == "regex" else re.escape(text), re.IGNORECASE)
    except re.error as error:
        raise ScenarioError(f"{where}.regex: {error}.") from None
    steps = _steps(rule.get("steps"), f"{where}.steps")
    return Rule(number=number, pattern=pattern, times=times, steps=steps)


def _steps(plain: object, where: str) -> tuple[Step, ...]:
    return tuple(_step(item, f"{where}[{n}]") for n, item in enumerate(_sequence(plain, where)))


def _step(plain: object, where: str) -> Step:
    if not isinstance(plain, dict) or len(plain) != 1:
        raise ScenarioError(f"{where}: a step is a mapping with one key, such as `say: hello`.")
    [(name, value)] = plain.items()
    shape = _SHAPES.get(name)
    if shape is None:
        raise ScenarioError(f"{where}: unknown step {name!r}. Known are: {', '.join(sorted(_SHAPES))}.")
    where = f"{where}.{name}"
    match value:
        case True if _Form.YES in shape.forms:
            return Step(name=name, fields={})
        case str() if _Form.TEXT in shape.forms:
            return Step(name=name, text=value, raw=value.encode(), fields={})
        case bytes() if _Form.BYTES in shape.forms:
            return Step(name=name, raw=value, fields={})
        case int() | float() if _Form.NUMBER in shape.forms and not isinstance(value, bool):
            return Step(name=name, number=float(value), text=str(value), fields={})
        case list() if _Form.WORDS in shape.forms and value and all(isinstance(word, str) for word in value):
            return Step(name=name, words=tuple(value), fields={})
        case dict() if _Form.FIELDS in shape.forms:
            return _step_with_fields(name, value, shape, where)
    raise _wrong(where, " or ".join(form.name.lower() for form in shape.forms), value)


def _step_with_fields(name: str, value: object, shape: _Shape, where: str) -> Step:
    fields = _mapping(value, where, shape.keys)
    if shape.keys and shape.keys[0] not in fields and name != "usage":
        raise ScenarioError(f"{where}: {shape.keys[0]!r} is missing.")
    return Step(name=name, fields=fields, text=str(fields.get("text", "")))


def _mapping(plain: object, where: str, keys: Sequence[str] | None) -> Mapping[str, object]:
    if not isinstance(plain, dict):
        raise _wrong(where, "a mapping", plain)
    unknown = [str(key) for key in plain if keys is not None and key not in keys]
    if unknown:
        raise ScenarioError(f"{where}: unknown key {unknown[0]!r}. Known are: {', '.join(keys or ())}.")
    return plain


def _sequence(plain: object, where: str) -> Sequence[object]:
    if not isinstance(plain, list):
        raise _wrong(where, "a list", plain)
    return plain


def _wrong(where: str, wanted: str, found: object) -> ScenarioError:
    return ScenarioError(f"{where}: expected {wanted}, got {type(found).__name__} {found!r}.")
