"""What a spawn asks for in a body over HTTP or in the arguments of a tool: seed 000's spelling, or ours."""

import contextlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from orchestrator.commands.spawning.spawn_wishes import spec_of
from orchestrator.contracts.errors import DovecoteError, ErrorCode, InvalidRequest
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.spawns import SpawnSpec, WaitFor
from orchestrator.contracts.wire.agent_requests import SpawnAgent
from orchestrator.contracts.wire.codec import WireError, camel, from_plain, parse_json
from orchestrator.contracts.wire.field_names import unknown_field

NAMES: Final = (
    "task",
    "workspace_path",
    "writable_paths",
    "timeout_ms",
    "parent_agent_id",
    "wait",
    "profile",
    "on_parent_exit",
    "restart_policy",
    "permissions",
    "name",
    "idempotency_key",
)
"""What may be said of a spawn, as seed 000 spells it."""
_SPELLINGS: Final = {name: camel(name) for name in NAMES if camel(name) != name}
_OURS: Final = f"{SpawnAgent.__name__}."
"""What the path of a field begins with in our own words."""
_IN_CAMEL_CASE: Final = re.compile(rf"\b({'|'.join(_SPELLINGS.values())})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSpawn:
    """A spawn and, if the caller named one, its parent. names: those of its fields, as they were sent."""

    spec: SpawnSpec
    parent: AgentId | None
    names: frozenset[str]

    def reword(self, error: DovecoteError) -> None:
        """Have a refusal name each field as its sender does, and not as our request files do."""
        _name_as_sent(error, self.names)


@contextlib.contextmanager
def _names_as_sent(names: Collection[str]) -> Iterator[None]:
    try:
        yield
    except DovecoteError as error:
        _name_as_sent(error, names)
        raise


def _name_as_sent(error: DovecoteError, names: Collection[str]) -> None:
    error.message = _as_sent(error.message, names)
    error.suggestion = None if error.suggestion is None else _as_sent(error.suggestion, names)


def _as_sent(text: str, names: Collection[str]) -> str:
    ours = {theirs: name for name, theirs in _SPELLINGS.items()}
    return _IN_CAMEL_CASE.sub(lambda found: found[1] if found[1] in names else ours[found[1]], text)


def read_body(raw: bytes) -> AskedSpawn:
    """What a body of JSON asks for. Raises InvalidRequest."""
    try:
        plain = parse_json(raw)
    except WireError as error:
        raise InvalidRequest(
            f"The body is {error}.", suggestion="Send one JSON object in UTF-8 with a `task`."
        ) from None
    return read_spawn(plain)


def read_spawn(plain: object) -> AskedSpawn:
    """The same of JSON types. Who does not say how long to wait stays for the end. Raises InvalidRequest."""
    if not isinstance(plain, dict):
        raise InvalidRequest("The body is no JSON object.", suggestion="Send an object with a `task`.")
    _check_names(plain)
    with _names_as_sent(plain.keys()):
        return _read(plain)


def _read(plain: Mapping[str, Any]) -> AskedSpawn:
    fields = {_SPELLINGS.get(str(key), str(key)): value for key, value in plain.items()}
    _check_kinds(fields)
    parent = fields.pop("parentAgentId", None)
    if parent is not None and not isinstance(parent, str):
        raise InvalidRequest("parent_agent_id is no text.", suggestion="Give the id of an agent.")
    try:
        request = from_plain(SpawnAgent, {"wait": WaitFor.RESULT.value, **_given(fields)})
    except WireError as error:
        raise InvalidRequest(
            f"The spawn has a wrong field: {str(error).replace(_OURS, '')}.",
            suggestion="Set the field right and send it again.",
        ) from None
    return AskedSpawn(
        spec=spec_of(request),
        parent=None if parent is None else AgentId(parent),
        names=frozenset(plain),
    )


def _check_names(plain: Mapping[str, Any]) -> None:
    """Each field is known and said once: a limit that is misspelled, or passed over for another, is none."""
    fault = unknown_field(plain, [*NAMES, *_SPELLINGS.values()])
    if fault is not None:
        raise InvalidRequest(
            f"The spawn has a wrong field: {fault}.", suggestion=f"It takes: {', '.join(NAMES)}."
        )
    for ours in plain.keys() & _SPELLINGS.keys():
        if _SPELLINGS[ours] in plain:
            raise InvalidRequest(
                f"The spawn has {ours} twice, also as {_SPELLINGS[ours]}.", suggestion="Send one of them."
            )


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _check_kinds(fields: dict[str, Any]) -> None:
    """The faults that have codes of their own in seed 000."""
    if fields.get("task") is None:
        raise InvalidRequest(
            "A spawn without a task.",
            code=ErrorCode.MISSING_TASK,
            suggestion="Say in `task` what the agent is to do.",
        )
    timeout = fields.get("timeoutMs")
    if isinstance(timeout, float) and timeout.is_integer():
        fields["timeoutMs"] = int(timeout)
    elif timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int)):
        raise InvalidRequest(
            f"timeout_ms is {str(timeout)[:40]!r}, but must be a whole number of milliseconds.",
            code=ErrorCode.INVALID_TIMEOUT,
            suggestion="Give 1 to 86400000, or leave it out.",
        )
    workspace = fields.get("workspacePath")
    if workspace is not None and not isinstance(workspace, str):
        raise InvalidRequest(
            "workspace_path is no text.",
            code=ErrorCode.INVALID_WORKSPACE,
            suggestion="Give an absolute path, or leave it out.",
        )
