"""Credentials besides the operator's: session tokens of agents, keys of programs.

Source: agents.md sections 1, 2.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from orchestrator.contracts.ids import AgentId, TreeId


class Scope(StrEnum):
    """What a program with an API key may do. MANAGE is all that the operator may."""

    READ = "read"
    SPAWN = "spawn"
    STOP = "stop"
    MANAGE = "manage"


class TokenFault(StrEnum):
    """Why a session token is not taken."""

    MALFORMED = "malformed"
    KEY_UNKNOWN = "key_unknown"
    SIGNATURE = "signature"
    EXPIRED = "expired"
    FOREIGN_SOCKET = "foreign_socket"
    NOT_ISSUED = "not_issued"
    REVOKED = "revoked"
    TREE_ENDED = "tree_ended"
    AGENT_ENDED = "agent_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPermissions:
    """What the agent that holds a session token may do with it."""

    can_spawn: bool
    inherit_github_token: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSubject:
    """Whom a session token stands for, and where that agent stands in its tree."""

    agent_id: AgentId
    tree_id: TreeId
    parent_agent_id: AgentId | None
    depth: int
    max_depth: int
    permissions: TokenPermissions


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionToken:
    """A session token as its signature covers it. value: 32 random bytes in hex. Source: seed 000.

    key_id: the key of the ring that signed it. issued_at_ms, expires_at_ms: Unix time.
    """

    value: str
    key_id: str
    subject: TokenSubject
    issued_at_ms: int
    expires_at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A named key of a program outside, without its secret."""

    name: str
    scopes: frozenset[Scope]
    created_at: datetime
