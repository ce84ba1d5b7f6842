"""Runs of drivers and their turns."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from typing import Final

from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid, RunId, TreeId, TurnId
from orchestrator.contracts.records.agents import (
    ALL_PERMISSIONS,
    Agent,
    AgentKind,
    AgentStatus,
    EndReason,
    SpawnPermissions,
    Turn,
    TurnOutcome,
)
from orchestrator.contracts.records.messages import SenderRole
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.wire.codec import from_json, to_json
from orchestrator.contracts.wire.container_io import TurnError, Usage
from orchestrator.store import trees
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO agents (agent_id, tree_id, folder, chat_jid, box, runner, provider, status, is_main, started_ms,
                    rights, task_run_id, kind, parent_agent_id, depth, deadline_ms, permissions)
VALUES (:agent_id, :tree_id, :folder, :chat_jid, :box, :runner, :provider, :status, :is_main, :started_ms,
        :rights, :task_run_id, :kind, :parent_agent_id, :depth, :deadline_ms, :permissions)
"""
CLAIM: Final = """
UPDATE agents SET status = 'starting', runner = :runner, provider = :provider, started_ms = :at_ms
 WHERE agent_id = :agent_id AND status = 'pending'
"""
SET_RIGHTS: Final = "UPDATE agents SET rights = :rights WHERE agent_id = :agent_id"
SET_PROCESS: Final = """
UPDATE agents SET process_ref = :process_ref, is_legacy = :is_legacy WHERE agent_id = :agent_id
"""
FORGET_PROCESSES: Final = "UPDATE agents SET process_ref = NULL WHERE process_ref IS NOT NULL"
MOVE: Final = "UPDATE agents SET status = :now WHERE agent_id = :agent_id AND status = :was"
END: Final = """
UPDATE agents
   SET status = :now, ended_ms = :at_ms, exit_code = :exit_code, end_reason = :end_reason
 WHERE agent_id = :agent_id AND status = :was
"""
GET: Final = "SELECT * FROM agents WHERE agent_id = :agent_id"
RIGHTS: Final = """
SELECT agent_id, rights FROM agents WHERE agent_id IN (SELECT value FROM json_each(:agent_ids))
"""
PERMISSIONS: Final = """
SELECT agent_id, permissions FROM agents
 WHERE agent_id IN (SELECT value FROM json_each(:agent_ids)) AND permissions IS NOT NULL
"""
LIVE: Final = "SELECT * FROM agents WHERE status IN ('starting', 'running', 'stopping') ORDER BY started_ms"
LIVE_SESSIONS: Final = """
SELECT folder, min(started_ms), agent_id FROM agents
 WHERE status IN ('starting', 'running') AND kind = 'session' AND parent_agent_id IS NULL GROUP BY folder
"""
PENDING: Final = "SELECT * FROM agents WHERE status = 'pending' ORDER BY started_ms, rowid"
CHAT_AT_WORK: Final = """
SELECT max(a.status = 'starting'
           OR EXISTS (SELECT 1 FROM turns AS t
                       WHERE t.agent_id = a.agent_id AND t.ended_ms IS NULL)) AS is_busy
  FROM agents AS a
 WHERE a.chat_jid = :chat AND a.status IN ('starting', 'running', 'stopping')
"""
LAST_OF_BOX: Final = "SELECT * FROM agents WHERE box = :box ORDER BY started_ms DESC, rowid DESC LIMIT 1"
START_TURN: Final = """
INSERT INTO turns (turn_id, agent_id, chat_jid, started_ms, set_off_by)
VALUES (:turn_id, :agent_id, :chat_jid, :at_ms, :set_off_by)
ON CONFLICT (agent_id, turn_id) DO NOTHING
"""
END_TURN: Final = """
UPDATE turns
   SET ended_ms = :at_ms, status = :status, error = :error, usage = :usage
 WHERE agent_id = :agent_id AND turn_id = :turn_id AND ended_ms IS NULL
RETURNING *
"""
END_OPEN_TURNS: Final = """
UPDATE turns SET ended_ms = :at_ms, status = :status WHERE agent_id = :agent_id AND ended_ms IS NULL
"""
TURN: Final = "SELECT * FROM turns WHERE agent_id = :agent_id AND turn_id = :turn_id"
LAST_TURN: Final = """
SELECT status, error FROM turns WHERE agent_id = :agent_id ORDER BY started_ms DESC, rowid DESC LIMIT 1
"""
ANY_EFFECT: Final = "SELECT 1 FROM turns WHERE agent_id = :agent_id AND effects > 0 LIMIT 1"
COUNT_PAIR: Final = "UPDATE agents SET pairs = :ordinal WHERE agent_id = :agent_id AND pairs < :ordinal"
COUNT_OUTPUT: Final = """
UPDATE turns SET effects = effects + 1, outputs = outputs + 1
 WHERE agent_id = :agent_id AND turn_id = :turn_id
"""
COUNT_EFFECT: Final = """
UPDATE turns SET effects = effects + :count WHERE agent_id = :agent_id AND ended_ms IS NULL
"""
END_JOINED: Final = """
UPDATE turns SET ended_ms = :at_ms, status = 'joined'
 WHERE agent_id = :agent_id AND ended_ms IS NULL
   AND NOT EXISTS (SELECT 1 FROM messages
                    WHERE messages.agent_id = turns.agent_id AND messages.turn_id = turns.turn_id
                      AND messages.status = 'dispatched')
"""


def add(tx: Transaction, agent: Agent) -> None:
    """Remember an agent before it is started. A root begins its tree; a child is one more of its parent's."""
    tx.execute(
        ADD,
        {
            "agent_id": agent.agent_id,
            "tree_id": agent.tree_id,
            "folder": agent.group,
            "chat_jid": agent.chat_jid,
            "box": agent.box,
            "runner": agent.runner,
            "provider": agent.provider,
            "status": agent.status.value,
            "is_main": int(agent.is_main),
            "started_ms": to_ms(agent.started_at),
            "rights": agent.rights.value,
            "task_run_id": agent.task_run_id,
            "kind": agent.kind.value,
            "parent_agent_id": agent.parent_agent_id,
            "depth": agent.depth,
            "deadline_ms": None if agent.deadline_at is None else to_ms(agent.deadline_at),
            "permissions": _stored_permissions(agent.permissions),
        },
    )
    if agent.parent_agent_id is None:
        trees.add(tx, agent.tree_id, agent.agent_id, at=agent.started_at)
    else:
        trees.count_child(tx, agent.tree_id, depth=agent.depth)


def claim(tx: Transaction, agent_id: AgentId, *, runner: str, provider: str, at: datetime) -> bool:
    """Give a pending agent its place to run; False if it is not pending any more."""
    changed = tx.execute(
        CLAIM, {"agent_id": agent_id, "runner": runner, "provider": provider, "at_ms": to_ms(at)}
    )
    return changed.rowcount == 1


def set_rights(tx: Transaction, agent_id: AgentId, rights: Rights) -> None:
    """What the agent may cause from now on."""
    tx.execute(SET_RIGHTS, {"agent_id": agent_id, "rights": rights.value})


def set_process(tx: Transaction, agent_id: AgentId, process_ref: str, *, is_legacy: bool) -> None:
    """What its runner needs to find it after a crash of ours."""
    tx.execute(SET_PROCESS, {"agent_id": agent_id, "process_ref": process_ref, "is_legacy": int(is_legacy)})


def forget_processes(tx: Transaction) -> None:
    """No record names a process any more: those that they named are another home's."""
    tx.execute(FORGET_PROCESSES, {})


def move(tx: Transaction, agent_id: AgentId, *, was: AgentStatus, now: AgentStatus) -> bool:
    """Change the status if it still is `was`."""
    changed = tx.execute(MOVE, {"agent_id": agent_id, "was": was.value, "now": now.value})
    return changed.rowcount == 1


def end(
    tx: Transaction,
    agent_id: AgentId,
    *,
    was: AgentStatus,
    now: AgentStatus,
    at: datetime,
    exit_code: int | None,
    reason: EndReason,
) -> bool:
    """Write down how it ended, if its status still is `was`."""
    changed = tx.execute(
        END,
        {
            "agent_id": agent_id,
            "was": was.value,
            "now": now.value,
            "at_ms": to_ms(at),
            "exit_code": exit_code,
            "end_reason": reason.value,
        },
    )
    return changed.rowcount == 1


def get(tx: Transaction, agent_id: AgentId) -> Agent | None:
    """The agent's record."""
    row = tx.one(GET, {"agent_id": agent_id})
    return None if row is None else agent_of(row)


def live(tx: Transaction) -> list[Agent]:
    """All that are believed to run, oldest first."""
    return [agent_of(row) for row in tx.all(LIVE, {})]


def pending(tx: Transaction) -> list[Agent]:
    """All that are reserved and not started yet, oldest first."""
    return [agent_of(row) for row in tx.all(PENDING, {})]


def is_chat_at_work(tx: Transaction, chat: Jid) -> bool | None:
    """Whether an agent of that chat is in a turn; None if none lives."""
    row = tx.one(CHAT_AT_WORK, {"chat": chat})
    return None if row is None or row["is_busy"] is None else bool(row["is_busy"])


async def list_live(reader: Reader) -> list[Agent]:
    """As `live`, outside a transaction."""
    return [agent_of(row) for row in await reader.all(LIVE, {})]


def rights(tx: Transaction, agent_id: AgentId) -> Rights | None:
    """The least rights of all whose words the agent was given; None of an unknown agent."""
    return rights_of(tx, [agent_id]).get(agent_id)


def rights_of(tx: Transaction, agent_ids: Iterable[AgentId]) -> dict[AgentId, Rights]:
    """Of each of these agents that is known, the least rights of all whose words it was given."""
    rows = tx.all(RIGHTS, {"agent_ids": json.dumps(list(agent_ids))})
    return {AgentId(row["agent_id"]): Rights(row["rights"]) for row in rows}


def without_chat(tx: Transaction, agent_ids: Iterable[AgentId]) -> frozenset[AgentId]:
    """Those of these agents that may not speak in their group's chat."""
    rows = tx.all(PERMISSIONS, {"agent_ids": json.dumps(list(agent_ids))})
    return frozenset(AgentId(row["agent_id"]) for row in rows if not _permissions(row["permissions"]).chat)


def last_of_box(tx: Transaction, box: BoxName) -> Agent | None:
    """Whose rights hold for what still lies in a left box."""
    row = tx.one(LAST_OF_BOX, {"box": box})
    return None if row is None else agent_of(row)


def start_turn(
    tx: Transaction,
    agent_id: AgentId,
    turn_id: TurnId,
    chat_jid: Jid,
    *,
    at: datetime,
    set_off_by: SenderRole | None = None,
) -> None:
    """Note that the agent was given a turn; saying it again changes nothing.

    set_off_by: the highest role of those who triggered it; None: no message did.
    """
    tx.execute(
        START_TURN,
        {
            "turn_id": turn_id,
            "agent_id": agent_id,
            "chat_jid": chat_jid,
            "at_ms": to_ms(at),
            "set_off_by": None if set_off_by is None else set_off_by.value,
        },
    )


def end_turn(
    tx: Transaction,
    agent_id: AgentId,
    turn_id: TurnId,
    *,
    outcome: TurnOutcome,
    at: datetime,
    error: TurnError | None = None,
    usage: Usage | None = None,
) -> Turn | None:
    """Write down how a turn ended; None if it is unknown or has ended before."""
    row = tx.one(
        END_TURN,
        {
            "turn_id": turn_id,
            "agent_id": agent_id,
            "status": outcome.value,
            "at_ms": to_ms(at),
            "error": None if error is None else to_json(error),
            "usage": None if usage is None else to_json(usage),
        },
    )
    return None if row is None else _turn(row)


def end_open_turns(tx: Transaction, agent_id: AgentId, *, outcome: TurnOutcome, at: datetime) -> None:
    """Write down for every turn that the agent has not ended how it ended."""
    parameters = {"agent_id": agent_id, "status": outcome.value, "at_ms": to_ms(at)}
    tx.execute(END_OPEN_TURNS, parameters)


def turn(tx: Transaction, agent_id: AgentId, turn_id: TurnId) -> Turn | None:
    """One turn of an agent."""
    row = tx.one(TURN, {"agent_id": agent_id, "turn_id": turn_id})
    return None if row is None else _turn(row)


def last_turn_end(tx: Transaction, agent_id: AgentId) -> tuple[TurnOutcome | None, TurnError | None]:
    """How the agent's last turn ended; None, None while it has not, or if there was none."""
    row = tx.one(LAST_TURN, {"agent_id": agent_id})
    if row is None or row["status"] is None:
        return None, None
    error = None if row["error"] is None else from_json(TurnError, row["error"])
    return TurnOutcome(row["status"]), error


def has_effects(tx: Transaction, agent_id: AgentId) -> bool:
    """Whether any turn of the agent committed a text or a command."""
    return tx.one(ANY_EFFECT, {"agent_id": agent_id}) is not None


def count_pair(tx: Transaction, agent_id: AgentId, ordinal: int) -> bool:
    """The pair with this place in the agent's output is taken, from 1; False if it was before."""
    return tx.execute(COUNT_PAIR, {"agent_id": agent_id, "ordinal": ordinal}).rowcount == 1


def count_output(tx: Transaction, agent_id: AgentId, turn_id: TurnId) -> None:
    """A pair of this turn was committed: from now on it can't run again unseen."""
    tx.execute(COUNT_OUTPUT, {"agent_id": agent_id, "turn_id": turn_id})


def count_effect(tx: Transaction, agent_id: AgentId, count: int = 1) -> None:
    """Commands were committed that may belong to any turn the agent was given and has not ended."""
    # A request can overtake the event that names its turn: rather told as half done than done twice.
    count_effects(tx, {agent_id: count})


def count_effects(tx: Transaction, counts: Mapping[AgentId, int]) -> None:
    """As `count_effect`, of many agents."""
    tx.execute_many(COUNT_EFFECT, ({"agent_id": agent_id, "count": n} for agent_id, n in counts.items()))


def end_joined_turns(tx: Transaction, agent_id: AgentId, *, at: datetime) -> None:
    """Turns whose messages all went into others are over."""
    tx.execute(END_JOINED, {"agent_id": agent_id, "at_ms": to_ms(at)})


def agent_of(row: sqlite3.Row) -> Agent:
    """The agent that a row of its table stands for."""
    return Agent(
        agent_id=AgentId(row["agent_id"]),
        tree_id=TreeId(row["tree_id"]),
        group=GroupFolder(row["folder"]),
        chat_jid=Jid(row["chat_jid"]),
        box=BoxName(row["box"]),
        runner=row["runner"],
        provider=row["provider"],
        status=AgentStatus(row["status"]),
        is_main=bool(row["is_main"]),
        kind=AgentKind(row["kind"]),
        parent_agent_id=None if row["parent_agent_id"] is None else AgentId(row["parent_agent_id"]),
        depth=row["depth"],
        deadline_at=maybe_from_ms(row["deadline_ms"]),
        permissions=_permissions(row["permissions"]),
        rights=Rights(row["rights"]),
        task_run_id=None if row["task_run_id"] is None else RunId(row["task_run_id"]),
        is_legacy=bool(row["is_legacy"]),
        process_ref=row["process_ref"],
        pairs=row["pairs"],
        lines=row["lines"],
        error_lines=row["error_lines"],
        started_at=from_ms(row["started_ms"]),
        ended_at=maybe_from_ms(row["ended_ms"]),
        exit_code=row["exit_code"],
        end_reason=None if row["end_reason"] is None else EndReason(row["end_reason"]),
    )


def _stored_permissions(permissions: SpawnPermissions) -> str | None:
    return None if permissions == ALL_PERMISSIONS else json.dumps(asdict(permissions))


@lru_cache(maxsize=64)
def _permissions(stored: str | None) -> SpawnPermissions:
    return ALL_PERMISSIONS if stored is None else SpawnPermissions(**json.loads(stored))


def _turn(row: sqlite3.Row) -> Turn:
    return Turn(
        turn_id=TurnId(row["turn_id"]),
        agent_id=AgentId(row["agent_id"]),
        chat_jid=Jid(row["chat_jid"]),
        started_at=from_ms(row["started_ms"]),
        ended_at=maybe_from_ms(row["ended_ms"]),
        outcome=None if row["status"] is None else TurnOutcome(row["status"]),
        outputs=row["outputs"],
        effects=row["effects"],
    )
