"""The forms that operators fill in by hand, and how a wrong entry is told: where, what, what it may be."""

import difflib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from orchestrator.contracts.records.tool_servers import McpServer
from orchestrator.contracts.wire.field_names import in_our_words

FieldPath: TypeAlias = tuple[str | int, ...]
"""Where in a form a value stands: `("budget", "tokens_per_day")`."""

_MAX_SHOWN_CHARS: Final = 80
_MAX_VALUE_CHARS: Final = 8_192
_MAX_ENTRIES: Final = 64
NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
# What makes an interpreter or a loader run code of somebody else's choice.
_CODE_VARIABLES: Final = frozenset(
    {"NODE_OPTIONS", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "BASH_ENV", "ENV"}
)
_CODE_PREFIXES: Final = ("LD_", "DYLD_")
_OUR_PREFIX: Final = "DOVECOTE_"
_REFERENCE: Final = (
    r"^(env:[A-Za-z_][A-Za-z0-9_]*|secret:providers/[a-z0-9][a-z0-9_.-]*/[a-z0-9][a-z0-9_.-]*)$"
)
_HOW_TO_REFER: Final = (
    "It must be env:VARIABLE or secret:providers/PROVIDER/SLOT. What stands there is not shown, in case it "
    "is a credential: keep one by dovecote secret set providers/PROVIDER/SLOT"
)
_HOLD_CREDENTIALS: Final = frozenset({"env", "environment", "headers"})
"""Fields with values that may be credentials: what is said of a fault is seen in chats and logs."""
_OUR_NAMES: Final = frozenset({"HOME", "PATH"})


class Form(BaseModel):
    """Base of the forms: frozen, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with one entry. field: as people write it. mend: what it may be."""

    place: FieldPath
    field: str
    what: str
    mend: str


def all_faults(error: ValidationError, form: type[Form]) -> list[Fault]:
    """What is wrong, in a sentence's parts: of each place once, whatever it could be instead."""
    found: list[Fault] = []
    seen: list[FieldPath] = []
    for each in error.errors(include_url=False):
        place = tuple(part for part in each["loc"] if not _is_inner(part))
        if not any(place[: len(known)] == known for known in seen):
            seen.append(place)
            found.append(_fault(each, place, form))
    return found


def _fault(found: ErrorDetails, place: FieldPath, form: type[Form]) -> Fault:
    field = written(place)
    if found["type"] == "extra_forbidden":
        known = _fields_at(form, place[:-1])
        near = difflib.get_close_matches(str(place[-1]), known, n=1)
        mend = f"Did you mean {near[0]}?" if near else f"Known are: {', '.join(known)}."
        return Fault(place=place, field=field, what="is not known here", mend=mend)
    if found["type"] == "missing":
        return Fault(place=place[:-1], field=field, what="is missing", mend=f"Add {place[-1]}.")
    if found.get("ctx", {}).get("pattern") == _REFERENCE:
        return Fault(place=place, field=field, what="names no credential", mend=_HOW_TO_REFER)
    value = "not shown" if _HOLD_CREDENTIALS.intersection(place) else shown(found["input"])
    return Fault(place=place, field=field, what=f"is {value}", mend=f"It must be {_must(found)}.")


def shown(value: object) -> str:
    """A value as a text of bounded length, whatever it holds."""
    text = ascii(value) if isinstance(value, str | int | float | bool | None) else _kind(value)
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"


def written(place: FieldPath) -> str:
    """`("mcp_servers", "x", "args", 0)` as people write it: `mcp_servers.x.args[0]`."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list | tuple) else "a table" if isinstance(value, dict) else "that"


def _is_inner(part: str | int) -> bool:
    """Parts that pydantic adds of its own: the member of a union, the key of a mapping."""
    return isinstance(part, str) and (part == "[key]" or part.startswith("function-"))


def _must(found: ErrorDetails) -> str:
    said = in_our_words(found["msg"]).removeprefix("Input should be ")
    if found["type"] == "string_pattern_mismatch":
        return f"of the form {found['ctx']['pattern']}"
    if found["type"] in ("string_too_long", "string_too_short", "too_long"):
        # "String should have at most …", "List should have at most … after validation, not …"
        return f"one with {said.partition(' should have ')[2].partition(' after')[0]}"
    if found["type"] == "list_type":
        return "a list"
    if found["type"] in ("dict_type", "model_type", "model_attributes_type", "dataclass_type"):
        return "a table of names and values"
    return said.removeprefix("must be ").rstrip(".")


def _fields_at(form: type[BaseModel], place: FieldPath) -> list[str]:
    """The fields that may stand there."""
    here: type[BaseModel] = form
    for part in place:
        info = here.model_fields.get(str(part))
        if info is not None:
            here = _model_in(info.annotation) or here
    return sorted(info.alias or name for name, info in here.model_fields.items())


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if (found := _model_in(inner)) is not None:
            return found
    return None


def _as_text(value: object) -> object:
    """A number or a truth value where a variable's text belongs: written as YAML and TOML write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _plain_text(text: str) -> str:
    if any(ord(sign) < 32 and sign not in "\t\n" for sign in text) or "\x7f" in text:
        raise ValueError("a text without control characters")
    return text


def _variables(given: Mapping[str, str]) -> Mapping[str, str]:
    code = [name for name in given if _loads_code(name.upper())]
    ours = [name for name in given if name.upper().startswith(_OUR_PREFIX) or name.upper() in _OUR_NAMES]
    makes = "makes" if len(code) == 1 else "make"
    wrong = [
        *([f"without {', '.join(code)}, which {makes} programs load foreign code"] if code else []),
        *([f"without {', '.join(ours)}, which Dovecote sets itself"] if ours else []),
    ]
    if wrong:
        raise ValueError(", and ".join(wrong))
    return given


def _loads_code(name: str) -> bool:
    return name in _CODE_VARIABLES or name.startswith(_CODE_PREFIXES)


def _words(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"a command as for a shell ({str(error).lower()})") from None
    if not words or not words[0]:
        raise ValueError("a command that begins with the name of a program")
    return text


def _web_address(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_one = False
        parts = urlsplit("")
    if not is_one or parts.username is not None or parts.query or parts.fragment:
        raise ValueError("https://host[:port][/path], without user, query or fragment")
    return text.rstrip("/")


Plain = Annotated[str, AfterValidator(_plain_text)]
Line = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]*$", min_length=1, max_length=200)]
Name = Annotated[str, Field(pattern=f"^{NAME}$")]
ProviderName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
Command = Annotated[str, Field(max_length=4_096), AfterValidator(_plain_text), AfterValidator(_words)]
ModelName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@+\[\]-]{0,127}$")]
WebAddress = Annotated[str, Field(max_length=2_048), AfterValidator(_web_address)]
SecretReference = Annotated[str, Field(pattern=_REFERENCE)]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
VariableText = Annotated[
    str, BeforeValidator(_as_text), Field(max_length=_MAX_VALUE_CHARS), AfterValidator(_plain_text)
]
Variables = Annotated[
    Mapping[VariableName, VariableText], Field(max_length=_MAX_ENTRIES), AfterValidator(_variables)
]


class McpServerForm(Form):
    """A tool server as operators write it: `command` and `args` of a program, or the `url` of one."""

    command: Command | None = None
    args: Annotated[list[Plain], Field(max_length=_MAX_ENTRIES)] = Field(default_factory=list)
    env: Variables = Field(default_factory=dict)
    url: WebAddress | None = None

    def record(self, name: str) -> McpServer:
        """The record of it. Raises ValueError unless it has exactly one of command and url."""
        if (self.command is None) == (self.url is None):
            raise ValueError("a table with either command or url")
        words = () if self.command is None else (*shlex.split(self.command), *self.args)
        return McpServer(name=name, command=words, environment=dict(self.env), url=self.url)


def _servers(given: Mapping[str, McpServerForm]) -> Mapping[str, McpServerForm]:
    wrong = ["without dovecote, which is the server of Dovecote itself"] if "dovecote" in given else []
    for name, form in given.items():
        try:
            form.record(name)
        except ValueError as error:
            wrong.append(f"{error} at {name}")
    if wrong:
        raise ValueError(", and ".join(wrong))
    return given


McpServers = Annotated[Mapping[Name, McpServerForm], Field(max_length=_MAX_ENTRIES), AfterValidator(_servers)]


def server_records(given: Mapping[str, McpServerForm]) -> tuple[McpServer, ...]:
    """The records of the servers of a form, in its order."""
    return tuple(form.record(name) for name, form in given.items())
