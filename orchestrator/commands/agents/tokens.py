"""Session tokens: given to agents that may start others, renewed while they live, void when they end.

Source: agents.md section 2.
"""

import asyncio
import secrets
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import structlog

from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller, caller_of
from orchestrator.contracts.errors import DovecoteError, ErrorCode, NotFound
from orchestrator.contracts.events import (
    TokenExpired,
    TokenGenerated,
    TokenSignatureInvalid,
    TokenValidationFailed,
)
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.agents import Agent, AgentStatus
from orchestrator.contracts.records.spawns import TreeStatus
from orchestrator.contracts.records.tokens import (
    SessionToken,
    TokenFault,
    TokenSubject,
)
from orchestrator.core.agents.tokens import (
    BadToken,
    claimed_agent,
    fingerprint,
    is_due,
    issue,
    may_spawn,
    sealed,
    shown,
    subject_of,
    unsealed,
)
from orchestrator.store import agents, event_log, tokens, trees
from orchestrator.store.key_ring import KeyRing, open_ring, rotate
from orchestrator.store.times import from_ms, to_ms
from orchestrator.store.token_files import (
    remove_other_tokens,
    remove_token,
    renew_token,
    token_directory,
    write_token,
)
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)
_VALUE_BYTES: Final = 32
_KEY_SIGNS_FOR: Final = timedelta(days=30)
_KEPT_AFTER: Final = timedelta(days=1)
"""A token lives for an hour; a day longer its refusal can still say that it has expired."""
_HOLDS_A_TOKEN: Final = frozenset({AgentStatus.STARTING, AgentStatus.RUNNING})
_CODES: Final = {
    TokenFault.EXPIRED: ErrorCode.TOKEN_EXPIRED,
    TokenFault.TREE_ENDED: ErrorCode.TOKEN_TREE_INVALID,
    TokenFault.AGENT_ENDED: ErrorCode.TOKEN_PARENT_INVALID,
}
_SAID: Final = {
    TokenFault.EXPIRED: "The session token has expired.",
    TokenFault.TREE_ENDED: "The tree of this token's agent is over.",
    TokenFault.AGENT_ENDED: "The agent of this token is not running any more.",
    TokenFault.FOREIGN_SOCKET: "The session token works only through the socket of its own agent.",
}


class TokenRefused(DovecoteError):
    """A session token that is not taken. fault: why, exactly; the message tells a stranger less."""

    code = ErrorCode.TOKEN_INVALID

    def __init__(self, fault: TokenFault) -> None:
        super().__init__(
            _SAID.get(fault, "The session token is not valid."),
            code=_CODES.get(fault),
            suggestion="Read it again from the file that PINOCCHIO_SESSION_TOKEN_FILE names.",
        )
        self.fault = fault


async def prepare_token_dir(services: Services, agent_id: AgentId, uid: int | None) -> Path | None:
    """The directory with a new token of an agent, to be mounted; None if the agent may start no others.

    uid: who the agent is on the host; None: our own user. Raises DovecoteError, OSError.
    """
    at = services.clock.now()
    ring = await _ring(services)

    def body(tx: Transaction) -> SessionToken | None:
        agent = agents.get(tx, agent_id)
        if agent is None or not may_start_others(services, agent):
            return None
        return _issue(tx, services, agent, ring, at)

    token = await services.db.run(body)
    if token is None:
        return None
    directory = token_directory(services.paths.tokens, agent_id)
    text = sealed(token, ring.newest.secret)
    await asyncio.to_thread(lambda: write_token(directory, text, uid=uid))
    return directory


def may_start_others(services: Services, agent: Agent) -> bool:
    """Whether an agent could start another one, by the settings and by what it may."""
    return services.settings.spawn.enabled and may_spawn(_subject(services, agent))


async def renew_tokens(services: Services) -> None:
    """Give each agent whose token is past half of its life the next one; the old one stays good meanwhile.

    Never beyond the deadline of its run. Raises Unavailable.
    """
    at = services.clock.now()
    ring = await _ring(services)

    def body(tx: Transaction) -> list[SessionToken]:
        renewed = [
            _issue(tx, services, agent, ring, at)
            for held in tokens.held(tx)
            if (agent := agents.get(tx, held.agent_id)) is not None
            and agent.status in _HOLDS_A_TOKEN
            and is_due(held.issued_at, held.expires_at, now=at, deadline_at=agent.deadline_at)
        ]
        # After that: a machine that slept for days has agents whose only token is an old one.
        tokens.prune(tx, before=at - _KEPT_AFTER)
        return renewed

    for token in await services.db.run(body):
        await _renew_file(services, token, ring)


async def rotate_keys(services: Services) -> None:
    """Sign with a new key from time to time; what the one before signed stays good to its end."""
    at, path = services.clock.now(), services.paths.keys
    await asyncio.to_thread(lambda: rotate(path, at=at, every=_KEY_SIGNS_FOR, keep_for=_KEPT_AFTER))


def revoke_tokens(tx: Transaction, agent_ids: Iterable[AgentId], *, at: datetime) -> None:
    """From this transaction on nothing is good that these agents were given."""
    tokens.revoke(tx, agent_ids, at=at)


async def remove_token_dir(services: Services, agent_id: AgentId) -> None:
    """Remove the file of an agent that is dead. No error if it had none."""
    await asyncio.to_thread(remove_token, token_directory(services.paths.tokens, agent_id))


async def sweep_token_dirs(services: Services) -> None:
    """Remove what agents of an earlier process left; those that still live keep theirs."""
    async with services.db.reader() as reader:
        living = {agent.agent_id for agent in await agents.list_live(reader)}
    await asyncio.to_thread(remove_other_tokens, services.paths.tokens, living)


async def caller_of_token(services: Services, text: str, *, through: AgentId) -> AgentCaller:
    """The agent that this token stands for. Raises TokenRefused, which the audit has then.

    through: whose socket it came by: a token that another agent got hold of is good for nothing.
    """
    at = services.clock.now()
    ring = await _ring(services)
    try:
        token = unsealed(text, ring.secrets)
    except BadToken as error:
        fault = error.fault
        await services.db.run(lambda tx: _note_refusal(tx, claimed_agent(text), fault, at))
        raise TokenRefused(fault) from None

    def body(tx: Transaction) -> AgentCaller | TokenFault:
        found = _judge(tx, token, through=through, at=at)
        if isinstance(found, TokenFault):
            _note_fault(tx, token, found, at)
            return found
        return caller_of(found)

    caller = await services.db.run(body)
    if isinstance(caller, TokenFault):
        raise TokenRefused(caller)
    return caller


async def token_view(services: Services, agent_id: str) -> Mapping[str, object]:
    """The fields of seed 000's `SessionToken` for an operator, without the secret ones. Raises NotFound."""

    def body(tx: Transaction) -> Mapping[str, object]:
        agent = agents.get(tx, AgentId(agent_id))
        held = next((each for each in tokens.held(tx) if each.agent_id == agent_id), None)
        if agent is None or held is None:
            raise NotFound(
                f"The agent {agent_id[:128]!r} holds no token.",
                code=ErrorCode.AGENT_NOT_FOUND if agent is None else ErrorCode.NOT_FOUND,
                suggestion="Only live agents that may start others hold one.",
            )
        token = SessionToken(
            value="",
            key_id="",
            subject=_subject(services, agent),
            issued_at_ms=to_ms(held.issued_at),
            expires_at_ms=to_ms(held.expires_at),
        )
        return shown(token)

    return await services.db.view(body)


async def _ring(services: Services) -> KeyRing:
    at = services.clock.now()
    return await asyncio.to_thread(lambda: open_ring(services.paths.keys, at=at))


def _subject(services: Services, agent: Agent) -> TokenSubject:
    return subject_of(agent, max_depth=services.settings.spawn.max_depth)


def _issue(tx: Transaction, services: Services, agent: Agent, ring: KeyRing, at: datetime) -> SessionToken:
    token = issue(
        _subject(services, agent),
        value=secrets.token_hex(_VALUE_BYTES),
        key_id=ring.newest.key_id,
        now_ms=to_ms(at),
        deadline_ms=None if agent.deadline_at is None else to_ms(agent.deadline_at),
    )
    tokens.add(
        tx,
        tokens.IssuedToken(
            fingerprint=fingerprint(token),
            agent_id=agent.agent_id,
            tree_id=agent.tree_id,
            issued_at=at,
            expires_at=from_ms(token.expires_at_ms),
        ),
    )
    event = TokenGenerated(
        agent_id=agent.agent_id, tree_id=agent.tree_id, depth=agent.depth, expires_at=token.expires_at_ms
    )
    event_log.append(tx, agent.tree_id, event, at)
    return token


async def _renew_file(services: Services, token: SessionToken, ring: KeyRing) -> None:
    agent_id = token.subject.agent_id
    directory, text = token_directory(services.paths.tokens, agent_id), sealed(token, ring.newest.secret)
    try:
        await asyncio.to_thread(renew_token, directory, text)
    except OSError as error:  # the old one is good for half of its life still, and this comes again
        _log.error("token.not_renewed", agent=agent_id, error=error.strerror)


def _judge(tx: Transaction, token: SessionToken, *, through: AgentId, at: datetime) -> Agent | TokenFault:
    """The agent that may act by this token, which one of our keys has signed."""
    subject = token.subject
    if subject.agent_id != through:
        return TokenFault.FOREIGN_SOCKET
    tree, agent = trees.get(tx, subject.tree_id), agents.get(tx, subject.agent_id)
    if tree is None or tree.status is TreeStatus.TERMINATED:
        return TokenFault.TREE_ENDED
    if agent is None or agent.status not in _HOLDS_A_TOKEN:
        return TokenFault.AGENT_ENDED
    if to_ms(at) >= token.expires_at_ms:
        return TokenFault.EXPIRED
    issued = tokens.get(tx, fingerprint(token))
    if issued is None or (issued.agent_id, issued.tree_id) != (agent.agent_id, agent.tree_id):
        return TokenFault.NOT_ISSUED
    return agent if issued.revoked_at is None else TokenFault.REVOKED


def _note_fault(tx: Transaction, token: SessionToken, fault: TokenFault, at: datetime) -> None:
    subject = token.subject
    if fault is TokenFault.EXPIRED:
        event = TokenExpired(agent_id=subject.agent_id, expired_at=token.expires_at_ms)
        event_log.append(tx, subject.tree_id, event, at)
        return
    _note_refusal(tx, subject.agent_id, fault, at, tree_id=subject.tree_id)


def _note_refusal(
    tx: Transaction,
    agent_id: AgentId | None,
    fault: TokenFault,
    at: datetime,
    *,
    tree_id: TreeId | None = None,
) -> None:
    """tree_id: None where no signature says which it is."""
    if fault is TokenFault.SIGNATURE:
        event_log.append(tx, tree_id, TokenSignatureInvalid(agent_id=agent_id), at)
    else:
        event_log.append(tx, tree_id, TokenValidationFailed(reason=fault.value, agent_id=agent_id), at)
