"""The sessions of each provider's programs, so that a later run resumes where an earlier one stopped."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import GroupFolder, group_box
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.rights import Rights, least
from orchestrator.store import agents
from orchestrator.store.times import to_ms
from orchestrator.store.transaction import Transaction

# An empty session_id says that people asked for a new conversation then: an agent that was started
# before belongs to the old one, whatever it says later.
KEEP: Final = """
INSERT INTO sessions (folder, provider, session_id, rights, updated_ms)
VALUES (:folder, :provider, :session_id, :rights, :at_ms)
ON CONFLICT (folder, provider) DO UPDATE
   SET session_id = excluded.session_id, rights = excluded.rights, updated_ms = excluded.updated_ms
 WHERE sessions.session_id <> '' OR sessions.updated_ms < :started_ms
"""
# Of every provider that has one, or whose agent lives and may still name one.
DROP: Final = """
INSERT INTO sessions (folder, provider, session_id, updated_ms)
SELECT folder, provider, '', :at_ms FROM sessions WHERE folder = :folder
 UNION
SELECT folder, provider, '', :at_ms FROM agents
 WHERE folder = :folder AND status IN ('starting', 'running', 'stopping')
    ON CONFLICT (folder, provider) DO UPDATE
   SET session_id = '', rights = 'operator', updated_ms = excluded.updated_ms
"""
DROP_ONE: Final = """
UPDATE sessions SET session_id = '', rights = 'operator', updated_ms = :at_ms
 WHERE folder = :folder AND provider = :provider AND session_id <> ''
"""
GET: Final = """
SELECT session_id, rights FROM sessions
 WHERE folder = :folder AND provider = :provider AND session_id <> ''
"""
SET_RIGHTS: Final = """
UPDATE sessions SET rights = :rights WHERE folder = :folder AND provider = :provider AND session_id <> ''
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation that a later run resumes. rights: the least of all whose words it was given."""

    session_id: str
    rights: Rights


def keep(tx: Transaction, agent: Agent, session_id: str, *, at: datetime) -> None:
    """Remember the session that this group's agent named last, unless it was dropped since that agent
    started. It has the rights that the agent has by now.

    An agent in a box of its own has a conversation that nobody goes on with.
    """
    if agent.box != group_box(agent.group):
        return
    rights = agents.rights(tx, agent.agent_id) or Rights.BOT
    tx.execute(
        KEEP,
        {
            "folder": agent.group,
            "provider": agent.provider,
            "session_id": session_id,
            "rights": rights.value,
            "at_ms": to_ms(at),
            "started_ms": to_ms(agent.started_at),
        },
    )


def drop(tx: Transaction, folder: GroupFolder, *, at: datetime) -> None:
    """Let the next agent of this group begin a new conversation, whatever its provider."""
    tx.execute(DROP, {"folder": folder, "at_ms": to_ms(at)})


def drop_of(tx: Transaction, agent: Agent, *, at: datetime) -> bool:
    """Let the next agent of this group and provider begin a new conversation; whether there was an old one.

    An agent in a box of its own has none to drop.
    """
    if agent.box != group_box(agent.group):
        return False
    wanted = {"folder": agent.group, "provider": agent.provider, "at_ms": to_ms(at)}
    return tx.execute(DROP_ONE, wanted).rowcount > 0


def get(tx: Transaction, folder: GroupFolder, provider: str) -> Session | None:
    """The session to resume."""
    row = tx.one(GET, {"folder": folder, "provider": provider})
    return None if row is None else Session(session_id=row["session_id"], rights=Rights(row["rights"]))


def lower_rights(tx: Transaction, agent: Agent, rights: Rights) -> None:
    """The agent that holds the group's session was given words of somebody with these rights."""
    session = get(tx, agent.group, agent.provider) if agent.box == group_box(agent.group) else None
    if session is not None and least(rights, session.rights) is not session.rights:
        tx.execute(SET_RIGHTS, {"folder": agent.group, "provider": agent.provider, "rights": rights.value})
