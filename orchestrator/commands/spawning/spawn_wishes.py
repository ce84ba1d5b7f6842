"""What a spawn asks for, made ready outside of the store: its words checked, its paths looked up.

Nothing is refused here; why it can't be done is kept for the transaction, which knows more. Source:
agents.md section 2.
"""

import asyncio
import hashlib
from dataclasses import asdict, dataclass, replace
from typing import Final, TypeVar

from orchestrator.commands.agents.agent_sight import OPERATOR_KEY
from orchestrator.commands.services import Services
from orchestrator.commands.spawning.spawn_places import PlaceWish, SpawnPlaces, find_places, parent_place
from orchestrator.contracts.callers import AgentCaller, Caller
from orchestrator.contracts.errors import DovecoteError, ErrorCode, InvalidRequest
from orchestrator.contracts.ids import AgentId, new_id
from orchestrator.contracts.records.spawns import (
    OnParentExit,
    RestartPolicy,
    SpawnProfile,
    SpawnSpec,
    WaitFor,
    WishedPermissions,
)
from orchestrator.contracts.wire.agent_requests import PermissionWish, SpawnAgent
from orchestrator.contracts.wire.codec import to_json
from orchestrator.core.agents.limits import checked_timeout_ms
from orchestrator.core.agents.spawn_paths import workspace_words, writable_words
from orchestrator.core.text_cleaning import clean_name, clean_text

MAX_TASK_CHARS: Final = 50_000
MAX_NAME_CHARS: Final = 64
MAX_KEY_CHARS: Final = 128
AGENT_KEY: Final = "agent:"
"""Stands before its id in the credential that an agent is."""

W = TypeVar("W", bound=WaitFor | SpawnProfile | OnParentExit | RestartPolicy)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedSpawn:
    """A spawn with all that can be known of it before it is decided.

    agent_id: the new agent's. parent_id: None of a root. fault: what is wrong with its words. places: None
    where they could not be looked up, or there is no such parent.
    """

    agent_id: AgentId
    spec: SpawnSpec
    parent_id: AgentId | None
    caller_key: str
    body_sha256: str
    timeout_ms: int = 0
    capped_by: str | None = None
    places: SpawnPlaces | None = None
    fault: DovecoteError | None = None


def spec_of(request: SpawnAgent) -> SpawnSpec:
    """What a request file asks for. Raises InvalidRequest for a word that is none of those known."""
    wish = request.permissions or PermissionWish()
    return SpawnSpec(
        task=request.task,
        workspace_path=request.workspace_path,
        writable_paths=request.writable_paths,
        timeout_ms=request.timeout_ms,
        wait=_word(WaitFor, request.wait, "wait"),
        profile=_word(SpawnProfile, request.profile, "profile"),
        on_parent_exit=_word(OnParentExit, request.on_parent_exit, "onParentExit"),
        restart_policy=_word(RestartPolicy, request.restart_policy, "restartPolicy"),
        permissions=WishedPermissions(
            can_spawn=wish.can_spawn,
            chat=wish.chat,
            inherit_github_token=wish.inherit_git_hub_token,
            detach=wish.detach,
        ),
        name=request.name,
        idempotency_key=request.idempotency_key,
    )


def request_of(spec: SpawnSpec) -> SpawnAgent:
    """The request file that asks for the same; what operators are shown of it."""
    wish = spec.permissions
    return SpawnAgent(
        task=spec.task,
        workspace_path=spec.workspace_path,
        writable_paths=spec.writable_paths,
        timeout_ms=spec.timeout_ms,
        wait=spec.wait.value,
        profile=spec.profile.value,
        on_parent_exit=spec.on_parent_exit.value,
        restart_policy=spec.restart_policy.value,
        permissions=None
        if wish == WishedPermissions()
        else PermissionWish(
            can_spawn=wish.can_spawn,
            chat=wish.chat,
            inherit_git_hub_token=wish.inherit_github_token,
            detach=wish.detach,
        ),
        name=spec.name,
        idempotency_key=spec.idempotency_key,
    )


def agent_key(agent_id: AgentId) -> str:
    """The credential that an agent is, by its box or by its token."""
    return f"{AGENT_KEY}{agent_id}"


async def prepare_request(services: Services, caller: Caller, request: SpawnAgent) -> PreparedSpawn:
    """As `prepare_spawn`, of a request file: an agent that asks is the parent."""
    parent_id = caller.agent_id if isinstance(caller, AgentCaller) else None
    fault: DovecoteError | None = None
    try:
        spec = spec_of(request)
    except InvalidRequest as error:
        spec, fault = SpawnSpec(task=request.task, idempotency_key=request.idempotency_key), error
    caller_key = OPERATOR_KEY if parent_id is None else agent_key(parent_id)
    made = await prepare_spawn(services, spec, parent_id=parent_id, caller_key=caller_key)
    return made if fault is None else replace(made, fault=fault)


async def prepare_spawn(
    services: Services, spec: SpawnSpec, *, parent_id: AgentId | None, caller_key: str
) -> PreparedSpawn:
    """Check the words and look up the paths. Raises Unavailable when the store is away."""
    made = PreparedSpawn(
        agent_id=AgentId(new_id("agent")),
        spec=spec,
        parent_id=parent_id,
        caller_key=caller_key,
        body_sha256=_body_sha256(spec, parent_id),
    )
    try:
        made = replace(made, spec=_cleaned(spec))
        settings = services.settings.spawn
        timeout_ms, capped_by = checked_timeout_ms(
            spec.timeout_ms,
            default_s=settings.default_timeout_s,
            longest_s=settings.absolute_max_timeout_s,
        )
        made = replace(made, timeout_ms=timeout_ms, capped_by=capped_by)
        below = None if spec.workspace_path is None else workspace_words(spec.workspace_path)
        writable = writable_words(spec.writable_paths)
    except DovecoteError as error:
        return replace(made, fault=error)
    place = await services.db.run(lambda tx: parent_place(tx, services, parent_id))
    if parent_id is not None and place is None:
        return made  # the transaction says that there is no such parent
    wish = PlaceWish(agent_id=made.agent_id, named=spec.workspace_path, below=below, writable=writable)
    return replace(made, places=await asyncio.to_thread(find_places, services, wish, place))


def _cleaned(spec: SpawnSpec) -> SpawnSpec:
    """Its texts as they are kept. Raises InvalidRequest."""
    task = clean_text(spec.task).strip()
    if not task:
        raise InvalidRequest(
            "A spawn without a task.",
            code=ErrorCode.MISSING_TASK,
            suggestion="Say in `task` what the agent is to do.",
        )
    if len(task) > MAX_TASK_CHARS:
        raise InvalidRequest(
            f"The task has {len(task)} characters; {MAX_TASK_CHARS} is the most.",
            suggestion="Put what is long into a file of the workspace and name it in the task.",
        )
    key = spec.idempotency_key
    if key is not None and not (1 <= len(key) <= MAX_KEY_CHARS and key.isprintable()):
        raise InvalidRequest(
            f"idempotencyKey is not 1 to {MAX_KEY_CHARS} printable characters.",
            suggestion="Use a random hexadecimal key.",
        )
    name = None if spec.name is None else clean_name(spec.name)[:MAX_NAME_CHARS] or None
    return replace(spec, task=task, name=name)


def _body_sha256(spec: SpawnSpec, parent_id: AgentId | None) -> str:
    """How long the caller is held is no part of what it asks for."""
    plain = asdict(replace(spec, idempotency_key=None, wait=WaitFor.NONE)) | {"parent": parent_id}
    if spec.restart_policy is RestartPolicy.NEVER:
        del plain["restart_policy"]  # keys that were used before there was such a wish stay good
    return hashlib.sha256(to_json(plain).encode()).hexdigest()


def _word(kind: type[W], value: str, field: str) -> W:
    try:
        return kind(value)
    except ValueError:
        raise InvalidRequest(
            f"{field} is {value[:40]!r}, but must be one of {', '.join(each.value for each in kind)}.",
            suggestion=f"Set {field} right, or leave it out.",
        ) from None
