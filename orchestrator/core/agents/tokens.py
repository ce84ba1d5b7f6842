"""Session tokens: what they say, how they are signed, when they are renewed. Source: agents.md section 2.

A token is one opaque text to whoever holds it: `dvt1.{key}.{claims}.{signature}`. The signature is
HMAC-SHA256 over all before it and is compared as text in constant time, so that no other spelling of the same
token exists.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.tokens import SessionToken, TokenFault, TokenPermissions, TokenSubject

LIFE_MS: Final = 3_600_000
"""An hour: no token is good for longer than this, however long its agent runs."""
MAX_TOKEN_CHARS: Final = 4096
_PREFIX: Final = "dvt1"
_VALUE_HEX: Final = 64


class BadToken(Exception):
    """A text that none of our keys has signed as a token."""

    def __init__(self, fault: TokenFault) -> None:
        super().__init__(fault.value)
        self.fault = fault


def issue(
    subject: TokenSubject, *, value: str, key_id: str, now_ms: int, deadline_ms: int | None
) -> SessionToken:
    """A token from now on, for an hour or to the deadline of the agent's run, whichever comes first.

    What an earlier token of the agent said of its end does not count: a renewed one is as good as a first.
    """
    expires_at_ms = now_ms + LIFE_MS if deadline_ms is None else min(now_ms + LIFE_MS, deadline_ms)
    return SessionToken(
        value=value, key_id=key_id, subject=subject, issued_at_ms=now_ms, expires_at_ms=expires_at_ms
    )


def subject_of(agent: Agent, *, max_depth: int) -> TokenSubject:
    """Whom a token of this agent stands for: never more than the agent itself may."""
    return TokenSubject(
        agent_id=agent.agent_id,
        tree_id=agent.tree_id,
        parent_agent_id=agent.parent_agent_id,
        depth=agent.depth,
        max_depth=max_depth,
        permissions=TokenPermissions(
            can_spawn=agent.permissions.can_spawn,
            inherit_github_token=agent.permissions.inherit_github_token,
        ),
    )


def may_spawn(subject: TokenSubject) -> bool:
    """Whether there is anything that this agent could do with a token."""
    return subject.permissions.can_spawn and subject.depth < subject.max_depth


def is_due(issued_at: datetime, expires_at: datetime, *, now: datetime, deadline_at: datetime | None) -> bool:
    """Whether a live agent is to be given the next token: half of this one's life is over.

    deadline_at: of its run; a token that is good to that end needs no other.
    """
    if deadline_at is not None and expires_at >= deadline_at:
        return False
    return now >= expires_at - (expires_at - issued_at) / 2


def sealed(token: SessionToken, secret: bytes) -> str:
    """The text that the agent holds."""
    claims = json.dumps(_claims(token), sort_keys=True, separators=(",", ":")).encode()
    head = f"{_PREFIX}.{token.key_id}.{base64.urlsafe_b64encode(claims).rstrip(b'=').decode()}"
    return f"{head}.{_signature(head, secret)}"


def unsealed(text: str, secrets: Mapping[str, bytes]) -> SessionToken:
    """What a text says that one of these keys has signed. Raises BadToken; its end is not looked at.

    secrets: by key id.
    """
    head, _, signature = text.rpartition(".")
    parts = head.split(".")
    if len(text) > MAX_TOKEN_CHARS or not text.isascii() or len(parts) != 3 or parts[0] != _PREFIX:
        raise BadToken(TokenFault.MALFORMED)
    _, key_id, claims = parts
    if (secret := secrets.get(key_id)) is None:
        raise BadToken(TokenFault.KEY_UNKNOWN)
    if not hmac.compare_digest(signature, _signature(head, secret)):
        raise BadToken(TokenFault.SIGNATURE)
    return _read(claims, key_id)


def claimed_agent(text: str) -> AgentId | None:
    """Whom a text says it stands for, signed or not: for the record of a refusal, and for nothing else."""
    parts = text[:MAX_TOKEN_CHARS].split(".")
    try:
        return _read(parts[2], parts[1]).subject.agent_id
    except (BadToken, IndexError):
        return None


def fingerprint(token: SessionToken) -> bytes:
    """What the store knows a token by: who reads the store can't act with it."""
    return hashlib.sha256(token.value.encode()).digest()


def _signature(head: str, secret: bytes) -> str:
    return hmac.new(secret, head.encode(), hashlib.sha256).hexdigest()


def _claims(token: SessionToken) -> dict[str, Any]:
    subject = token.subject
    return {
        "token": token.value,
        "agentId": subject.agent_id,
        "treeId": subject.tree_id,
        "parentAgentId": subject.parent_agent_id,
        "depth": subject.depth,
        "maxDepth": subject.max_depth,
        "issuedAt": token.issued_at_ms,
        "expiresAt": token.expires_at_ms,
        "permissions": {
            "canSpawn": subject.permissions.can_spawn,
            "inheritGitHubToken": subject.permissions.inherit_github_token,
        },
    }


def shown(token: SessionToken) -> dict[str, Any]:
    """The fields of seed 000's `SessionToken` for an operator: without the value and the signature."""
    return {name: value for name, value in _claims(token).items() if name != "token"}


def _read(claims: str, key_id: str) -> SessionToken:
    try:
        raw = base64.b64decode(claims + "=" * (-len(claims) % 4), altchars=b"-_", validate=True)
        said = json.loads(raw)
        token = SessionToken(
            value=str(said["token"]),
            key_id=key_id,
            subject=_subject(said),
            issued_at_ms=int(said["issuedAt"]),
            expires_at_ms=int(said["expiresAt"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadToken(TokenFault.MALFORMED) from None
    if _claims(token) != said or len(token.value) != _VALUE_HEX:
        raise BadToken(TokenFault.MALFORMED)
    return token


def _subject(said: Mapping[str, Any]) -> TokenSubject:
    parent, permissions = said["parentAgentId"], said["permissions"]
    return TokenSubject(
        agent_id=AgentId(str(said["agentId"])),
        tree_id=TreeId(str(said["treeId"])),
        parent_agent_id=None if parent is None else AgentId(str(parent)),
        depth=int(said["depth"]),
        max_depth=int(said["maxDepth"]),
        permissions=TokenPermissions(
            can_spawn=permissions["canSpawn"], inherit_github_token=permissions["inheritGitHubToken"]
        ),
    )
