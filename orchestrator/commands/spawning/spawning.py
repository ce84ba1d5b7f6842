"""Starting an agent for somebody: one operation, whoever asks and by whichever way.
Source: agents.md section 2.

Limits are counted and the row is added in one transaction of the store's one writer, so none is exceeded.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from orchestrator.commands.agents.agent_sight import OPERATOR_KEY, key_credential, may_touch
from orchestrator.commands.agents.agent_waits import is_met
from orchestrator.commands.agents.event_writing import note_spawned
from orchestrator.commands.command import Command, Context, Refusal
from orchestrator.commands.proposals import Wish, propose
from orchestrator.commands.services import Services
from orchestrator.commands.spawning.spawn_refusals import (
    note_refused_file,
    note_refused_spawn,
    parent_not_found,
)
from orchestrator.commands.spawning.spawn_rules import Grant, grant
from orchestrator.commands.spawning.spawn_wishes import (
    AGENT_KEY,
    PreparedSpawn,
    agent_key,
    prepare_request,
    prepare_spawn,
    request_of,
)
from orchestrator.contracts.callers import AgentCaller, AnyCaller, KeyCaller, OperatorCaller
from orchestrator.contracts.errors import (
    ConfirmationNeeded,
    DovecoteError,
    InvalidRequest,
    NotFound,
    Unavailable,
)
from orchestrator.contracts.ids import AgentId, GroupFolder, Jid, TreeId, new_id, own_box
from orchestrator.contracts.records.agents import Agent, AgentKind
from orchestrator.contracts.records.rights import Rights, least
from orchestrator.contracts.records.spawns import Restarts, SpawnRecord, SpawnSpec, WaitFor
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.agent_requests import SpawnAgent
from orchestrator.contracts.wire.codec import parse_json, to_json
from orchestrator.core.agents.spawn_paths import is_host_path
from orchestrator.core.authority import Target, allow
from orchestrator.core.states.agent import AGENT
from orchestrator.store import agents, groups, spawns, waits
from orchestrator.store.transaction import Transaction
from orchestrator.store.waits import Wait

_NAME: Final = "spawn_agent"


def spawn(tx: Transaction, context: Context, prepared: PreparedSpawn) -> Mapping[str, object]:
    """Reserve an agent: its row holds its place in every limit from now on. What its caller is told at once.

    The same idempotency key of the same caller gives the same answer. Raises what `grant` raises.
    """
    if (known := _known(tx, prepared)) is not None:
        _hold(tx, context, prepared, AgentId(str(known["agentId"])))
        return known
    if prepared.fault is not None:
        raise prepared.fault
    granted = grant(tx, context.services, context.caller, prepared, at=context.at)
    agent = _agent(tx, context, prepared, granted)
    answer = _answer(agent, granted)
    agents.add(tx, agent)
    spawns.add(tx, _record(context, prepared, granted, answer))
    _hold(tx, context, prepared, agent.agent_id)
    if agent.parent_agent_id is not None:
        asked_by = prepared.caller_key.removeprefix(AGENT_KEY)
        note_spawned(tx, agent, agent.parent_agent_id, prepared.spec.task, asked_by=asked_by, at=context.at)
    tx.wake(Topic.AGENTS)
    tx.wake(Topic.WORK)
    return answer


def _hold(tx: Transaction, context: Context, prepared: PreparedSpawn, awaited: AgentId) -> None:
    """An agent that waits lends its running slot from now on; if there is nothing to wait for, it is told."""
    caller, wanted, agent = context.caller, prepared.spec.wait, agents.get(tx, awaited)
    if not isinstance(caller, AgentCaller) or wanted is WaitFor.NONE or agent is None:
        return
    if is_met(agent.status, wanted):
        spawns.set_reply_due(tx, awaited, is_due=True)
        return
    waiter = agents.get(tx, caller.agent_id)
    if waiter is not None and waiter.ended_at is None:
        waits.add(tx, Wait(waiter=caller.agent_id, awaited=awaited, wanted=wanted), at=context.at)


async def spawn_for(
    services: Services,
    caller: AnyCaller,
    spec: SpawnSpec,
    *,
    parent: AgentId | None = None,
    credential_key: str | None = None,
    reword: Callable[[DovecoteError], None] | None = None,
) -> Mapping[str, object]:
    """As `spawn`, asked for by HTTP, a tool server or the operator. parent: None: of an agent, itself; of
    others: none. credential_key: what the caller is counted by, if not by what it is. reword: puts a refusal
    into the words that its caller used, before it is kept.

    Raises what `spawn` raises, ConfirmationNeeded, and Unavailable.
    """
    parent_id = caller.agent_id if parent is None and isinstance(caller, AgentCaller) else parent
    key = credential_key or _credential(caller)
    prepared = await prepare_spawn(services, spec, parent_id=parent_id, caller_key=key)
    at = services.clock.now()

    def body(tx: Transaction) -> Mapping[str, object] | DovecoteError:
        context = _context(tx, services, caller, key)
        attempt = tx.attempt(lambda: _allowed(tx, context, prepared, caller))
        if isinstance(attempt, DovecoteError) and reword is not None:
            reword(attempt)
        if isinstance(attempt, ConfirmationNeeded):
            wish = Wish(context=context, command=SPAWN, request=request_of(spec), prepared=prepared)
            return propose(tx, wish)
        if isinstance(attempt, DovecoteError) and not isinstance(attempt, Unavailable):
            refusal = Refusal(caller=context.caller, prepared=prepared, error=attempt, at=at)
            note_refused_spawn(tx, services, refusal)
            return attempt
        if isinstance(attempt, Exception):
            raise attempt
        return attempt

    try:
        outcome = await services.db.run(body)
    except DovecoteError as error:
        if reword is not None:
            reword(error)
        raise
    if isinstance(outcome, DovecoteError):
        raise outcome
    return outcome


def _allowed(
    tx: Transaction, context: Context, prepared: PreparedSpawn, caller: AnyCaller
) -> Mapping[str, object]:
    """caller: as its credential says, before it acts for the operator."""
    parent = None if prepared.parent_id is None else agents.get(tx, prepared.parent_id)
    if parent is not None and not may_touch(tx, caller, parent):
        raise parent_not_found(parent.agent_id, caller)
    target = _target(tx, request_of(prepared.spec))
    allow(context.caller, _NAME, target, rights=context.rights)
    answer = spawn(tx, context, prepared)
    if isinstance(context.caller, AgentCaller):
        # As of what comes by its box: a turn that has started somebody never runs again unseen.
        agents.count_effect(tx, context.caller.agent_id)
    return answer


def _context(tx: Transaction, services: Services, caller: AnyCaller, key: str) -> Context:
    """A program outside acts for the operator who gave it its key; whether it may spawn its scopes say."""
    rights = Rights.OPERATOR
    if isinstance(caller, AgentCaller):
        rights = agents.rights(tx, caller.agent_id) or Rights.BOT
    asks = OperatorCaller() if isinstance(caller, KeyCaller) else caller
    return Context(services=services, caller=asks, at=services.clock.now(), key=key, rights=rights)


def _credential(caller: AnyCaller) -> str:
    if isinstance(caller, AgentCaller):
        return agent_key(caller.agent_id)
    return key_credential(caller.name) if isinstance(caller, KeyCaller) else OPERATOR_KEY


def _known(tx: Transaction, prepared: PreparedSpawn) -> Mapping[str, object] | None:
    key = prepared.spec.idempotency_key
    known = None if key is None else spawns.by_key(tx, prepared.caller_key, key)
    if known is None:
        return None
    if known.body_sha256 != prepared.body_sha256:
        raise InvalidRequest(
            f"idempotencyKey {key!r} was used before for another spawn.",
            suggestion="Give each spawn a key of its own; repeat one only with the same words.",
        )
    answer = parse_json(known.answer)
    assert isinstance(answer, dict)
    return answer


def _agent(tx: Transaction, context: Context, prepared: PreparedSpawn, granted: Grant) -> Agent:
    """The new agent: of its parent's group and tree, or of the main group and a tree of its own."""
    parent, agent_id = granted.parent, prepared.agent_id
    folder, chat = _home(tx) if parent is None else (parent.group, parent.chat_jid)
    rights = context.rights if parent is None else least(context.rights, parent.rights)
    return Agent(
        agent_id=agent_id,
        tree_id=TreeId(new_id("tree")) if parent is None else parent.tree_id,
        group=folder,
        chat_jid=chat,
        box=own_box(agent_id),
        runner="",
        provider="",
        status=AGENT.start,
        is_main=False,
        kind=AgentKind.JOB,
        parent_agent_id=None if parent is None else parent.agent_id,
        depth=0 if parent is None else parent.depth + 1,
        deadline_at=context.at + timedelta(milliseconds=granted.timeout_ms),
        permissions=granted.permissions,
        rights=rights,
        started_at=context.at,
    )


def _home(tx: Transaction) -> tuple[GroupFolder, Jid]:
    """The group whose definition an agent has that no group's agent started."""
    main = groups.main(tx)
    if main is None:
        raise NotFound(
            "There is no main group yet.", suggestion="Start the orchestrator once: dovecote serve"
        )
    return main.folder, main.jid


def _record(
    context: Context, prepared: PreparedSpawn, granted: Grant, answer: Mapping[str, object]
) -> SpawnRecord:
    spec, places = prepared.spec, granted.places
    return SpawnRecord(
        agent_id=prepared.agent_id,
        parent_agent_id=prepared.parent_id,
        caller_key=prepared.caller_key,
        task=spec.task,
        workspace=places.workspace,
        writable_paths=places.writable_paths,
        is_own_workspace=places.is_own,
        wait=spec.wait,
        profile=spec.profile,
        on_parent_exit=spec.on_parent_exit,
        restarts=Restarts(policy=spec.restart_policy),
        name=spec.name,
        idempotency_key=spec.idempotency_key,
        body_sha256=prepared.body_sha256,
        answer=to_json(answer),
        created_at=context.at,
        deadline_at=context.at + timedelta(milliseconds=granted.timeout_ms),
        effective_timeout_ms=granted.timeout_ms,
        capped_by=granted.capped_by,
    )


def _answer(agent: Agent, granted: Grant) -> dict[str, object]:
    return {
        "agentId": agent.agent_id,
        "treeId": agent.tree_id,
        "depth": agent.depth,
        "status": agent.status.value,
        "effectiveTimeoutMs": granted.timeout_ms,
        "cappedBy": granted.capped_by,
        "quotaInfo": {
            "treeAgentsRemaining": granted.quota.tree_agents_remaining,
            "depthRemaining": granted.quota.depth_remaining,
        },
    }


def _target(tx: Transaction, request: SpawnAgent) -> Target:
    """The own group's, unless it names a directory of the host."""
    path = request.workspace_path
    is_beyond = path is not None and is_host_path(path)
    return Target(chat_jid=None, group=None, is_registered=True, is_beyond=is_beyond)


SPAWN: Final = Command(
    request=SpawnAgent,
    name=_NAME,
    target=_target,
    prepare=prepare_request,
    run=spawn,
    refused=note_refused_file,
    takes_long=lambda request: bool(request.workspace_path or request.writable_paths),
)
COMMANDS: Final = (SPAWN,)
"""The requests of this area."""
