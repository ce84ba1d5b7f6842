"""`AGENT.md`: what may stand in its front matter, and its body. Source: agents.md section 4."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationError

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.faults import each_of, raise_any
from orchestrator.contracts.records.definitions import HostPort
from orchestrator.contracts.records.providers import Permissions
from orchestrator.contracts.wire.tools import CHAT_TOOLS, GROUP_TOOLS, SPAWN_TOOLS, TASK_TOOLS
from orchestrator.core.agents.forms import (
    Command,
    FieldPath,
    Form,
    Line,
    McpServers,
    ModelName,
    Name,
    Plain,
    ProviderName,
    SecretReference,
    Variables,
    all_faults,
)
from orchestrator.core.agents.front_matter import Lines, refusal, split_front_matter
from orchestrator.core.sandbox.egress_rules import is_host_name

PROVIDER_TOOLS: Final = "provider-tools"
"""In `egress`: the provider may be asked to reach elsewhere for the agent."""
MAX_BODY_BYTES: Final = 64 * 1024
_MAX_ENTRIES: Final = 64
_LOCALE: Final = r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$"
Toolset = Literal["chat", "tasks", "groups", "spawn"]
assert {CHAT_TOOLS, TASK_TOOLS, GROUP_TOOLS, SPAWN_TOOLS} == set(Toolset.__args__)  # type: ignore[attr-defined]  # of a Literal


def host_port(text: str) -> HostPort | None:
    """The destination that `host:port` names; None for what names none, an address too."""
    host, colon, port = text.rpartition(":")
    if not colon or not re.fullmatch(r"[1-9][0-9]{0,4}", port) or int(port) > 65_535:
        return None
    return HostPort(host=host.lower(), port=int(port)) if is_host_name(host.lower()) else None


def _destination(text: str) -> str:
    if text != PROVIDER_TOOLS and host_port(text) is None:
        raise ValueError(f"host:port with a name and no address, such as a.example:443, or {PROVIDER_TOOLS}")
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError("an absolute path")
    return text


class BudgetForm(Form):
    """What the group may spend."""

    tokens_per_day: Annotated[int, Field(ge=1, le=10**12)] | None = None
    usd_per_month: Annotated[float, Field(gt=0, le=10**6)] | None = None


class DirectoryForm(Form):
    """A directory of the host that the agent sees at `/workspace/extra/<name>`."""

    name: Name
    path: Annotated[Plain, AfterValidator(_absolute)]
    mode: Literal["ro", "rw"] = "ro"


_NEEDED_OF_DIRECTORY: Final = {
    name for name, info in DirectoryForm.model_fields.items() if info.is_required()
}


class AgentFields(Form):
    """The front matter; every field is optional."""

    name: Line | None = None
    provider: ProviderName | None = None
    command: Command | None = None
    model: ModelName | None = None
    permissions: Literal["deny-all", "approve-reads", "approve-all"] | None = None
    mcp_servers: McpServers = Field(default_factory=dict)
    env: Variables = Field(default_factory=dict)
    additional_dirs: Annotated[list[DirectoryForm], Field(max_length=_MAX_ENTRIES)] | None = None
    tools: Annotated[list[Toolset], Field(max_length=_MAX_ENTRIES)] | None = None
    max_turns: Annotated[int, Field(ge=1, le=1_000)] | None = None
    budget: BudgetForm = BudgetForm()
    egress: (
        Annotated[list[Annotated[str, AfterValidator(_destination)]], Field(max_length=_MAX_ENTRIES)] | None
    ) = None
    github_token: SecretReference | None = None
    locale: Annotated[str, Field(pattern=_LOCALE, max_length=35)] | None = None

    @property
    def wanted_permissions(self) -> Permissions | None:
        """As the record's word."""
        return None if self.permissions is None else Permissions(self.permissions)

    @property
    def hosts(self) -> tuple[HostPort, ...] | None:
        """The entries of `egress` that are hosts; None where there is no list."""
        if self.egress is None:
            return None
        found = (host_port(each) for each in self.egress)
        return tuple(dict.fromkeys(each for each in found if each is not None))


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFile:
    """One `AGENT.md`. where: its name, for errors. body_line: the line that the body begins in.

    is_template: the body is rendered; one without front matter is taken as it stands. faults: what is wrong
    with it by itself; unread: the fields that nothing is known of on their account.
    """

    where: str
    fields: AgentFields = field(default_factory=AgentFields)
    lines: Lines = field(default_factory=dict)
    body: str = ""
    body_line: int = 1
    is_template: bool = False
    faults: tuple[InvalidSettings, ...] = ()
    unread: frozenset[str] = frozenset()

    def refusal(self, name: str, what: str, mend: str) -> InvalidSettings:
        """The error about the field `name`, or of the whole where it is not written here."""
        return refusal(self.where, self.lines.get((name,)), what, mend)


def parse_agent_file(text: str, *, where: str) -> AgentFile:
    """The file that `text` is. where: its name, for errors.

    Raises InvalidSettings naming line and field of all that is wrong.
    """
    file = read_agent_file(text, where=where)
    raise_any(file.faults)
    return file


def unreadable_file(error: InvalidSettings, *, where: str) -> AgentFile:
    """A file of which nothing is known but what is wrong with it."""
    return AgentFile(where=where, faults=each_of(error), unread=frozenset(AgentFields.model_fields))


def read_agent_file(text: str, *, where: str) -> AgentFile:
    """As `parse_agent_file`, with what is wrong among its faults, so that the rest can be judged too."""
    try:
        found = split_front_matter(text, where=where)
    except InvalidSettings as error:
        return unreadable_file(error, where=where)
    fields, faults, unread = _fields(found.fields, found.lines, where)
    size = len(found.body.encode("utf-8", "replace"))
    if size > MAX_BODY_BYTES:
        what = f"begins a text of {size:,} bytes; at most {MAX_BODY_BYTES:,} are given to an agent"
        mend = "Shorten it, or put parts into files of the workspace."
        faults.append(refusal(where, found.body_line, what, mend))
    return AgentFile(
        where=where,
        fields=fields,
        lines=found.lines,
        body=found.body.strip("\n"),
        body_line=found.body_line + _leading_lines(found.body),
        is_template=found.is_there,
        faults=tuple(faults),
        unread=unread,
    )


def _fields(
    plain: Mapping[str, object], lines: Lines, where: str
) -> tuple[AgentFields, list[InvalidSettings], frozenset[str]]:
    """What can be read, what is wrong, and the fields that are not known on that account."""
    # A name without a value is as if it were not there.
    given = {name: value for name, value in plain.items() if value is not None}
    try:
        return AgentFields.model_validate(given), [], frozenset()
    except ValidationError as error:
        told = [(_line_of(fault.place, lines), fault) for fault in all_faults(error, AgentFields)]
    told.sort(key=lambda each: each[0] or 0)
    faults = [
        refusal(where, line, f"has the field {fault.field}, which {fault.what}", fault.mend)
        for line, fault in told
    ]
    places = [fault.place for _, fault in told]
    return _without(given, places), faults, frozenset(_meant(place, given) for place in places)


def _without(given: Mapping[str, object], places: Sequence[FieldPath]) -> AgentFields:
    """The fields without the wrong ones; of a list only its wrong entries go, or what is wrong in them."""
    left = dict(given)
    for name in {str(place[0]) for place in places if place}:
        within = [place for place in places if place[0] == name]
        value = left.pop(name, None)
        if isinstance(value, list) and all(len(place) > 1 for place in within):
            left[name] = [
                entry
                for number, each in enumerate(value)
                for entry in _entry_without(each, [place[2:] for place in within if place[1] == number])
            ]
    try:
        return AgentFields.model_validate(left)
    except ValidationError:
        return AgentFields()


def _entry_without(entry: object, wrong: Sequence[FieldPath]) -> list[object]:
    """The entry of a list without its wrong fields, as long as it is one then; else none."""
    if not wrong:
        return [entry]
    if not isinstance(entry, dict) or not all(wrong):
        return []
    left = {name: value for name, value in entry.items() if name not in {place[0] for place in wrong}}
    return [left] if left.keys() >= _NEEDED_OF_DIRECTORY else []


def _meant(place: FieldPath, given: Mapping[str, object]) -> str:
    """The field that a wrong entry is, or was meant to be: none that stands there by its own name."""
    name = str(place[0]) if place else ""
    near = next(iter(difflib.get_close_matches(name, AgentFields.model_fields, n=1)), name)
    return name if near in given else near


def _line_of(place: FieldPath, lines: Lines) -> int | None:
    """The line of the value, or of the nearest one around it that has a line."""
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place)


def _leading_lines(body: str) -> int:
    return len(body) - len(body.lstrip("\n"))
