"""Questions of agents to people; the row is the truth, the agent's input file its shadow."""

import json
import sqlite3
from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import AgentId, Jid, TurnId
from orchestrator.contracts.records.questions import Question, QuestionStatus
from orchestrator.store.times import to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO questions (agent_id, question_id, turn_id, chat_jid, question, options, status, asked_ms)
VALUES (:agent_id, :question_id, :turn_id, :chat_jid, :question, :options, :status, :asked_ms)
ON CONFLICT (agent_id, question_id) DO NOTHING
RETURNING *
"""
OPEN_IN: Final = "SELECT * FROM questions WHERE chat_jid = :chat AND status = 'open' ORDER BY number"
OF_AGENT: Final = "SELECT * FROM questions WHERE agent_id = :agent_id ORDER BY number"
NEWEST_IN: Final = "SELECT * FROM questions WHERE chat_jid = :chat ORDER BY number DESC LIMIT 1"
MOVE: Final = """
UPDATE questions SET status = :now, answer = :answer, chosen = :chosen
 WHERE number = :number AND status = :was
"""
PRUNE: Final = """
DELETE FROM questions
 WHERE number IN (SELECT number FROM questions WHERE status <> 'open' AND asked_ms < :before_ms LIMIT :count)
"""


def add(
    tx: Transaction,
    *,
    agent_id: AgentId,
    question_id: str,
    turn_id: TurnId,
    chat: Jid,
    question: str,
    options: tuple[str, ...],
    status: QuestionStatus,
    at: datetime,
) -> Question | None:
    """Store a question; None when the agent asked it before."""
    row = tx.one(
        ADD,
        {
            "agent_id": agent_id,
            "question_id": question_id,
            "turn_id": turn_id,
            "chat_jid": chat,
            "question": question,
            "options": json.dumps(list(options)),
            "status": status.value,
            "asked_ms": to_ms(at),
        },
    )
    return None if row is None else _question(row)


def open_in(tx: Transaction, chat: Jid) -> list[Question]:
    """The open questions of a chat, oldest first."""
    return [_question(row) for row in tx.all(OPEN_IN, {"chat": chat})]


def of_agent(tx: Transaction, agent_id: AgentId) -> list[Question]:
    """All that an agent asked, oldest first."""
    return [_question(row) for row in tx.all(OF_AGENT, {"agent_id": agent_id})]


def newest_in(tx: Transaction, chat: Jid) -> Question | None:
    """The question that was asked last in a chat, whatever became of it."""
    row = tx.one(NEWEST_IN, {"chat": chat})
    return None if row is None else _question(row)


def move(
    tx: Transaction,
    question: Question,
    *,
    now: QuestionStatus,
    answer: str | None = None,
    chosen: int | None = None,
) -> bool:
    """Change its status if it still is where we think it is."""
    changed = tx.execute(
        MOVE,
        {
            "number": question.number,
            "was": question.status.value,
            "now": now.value,
            "answer": answer,
            "chosen": chosen,
        },
    )
    return changed.rowcount == 1


def prune(tx: Transaction, *, before: datetime, count: int) -> int:
    """Forget at most `count` questions that were asked before and are open no more; how many."""
    return tx.execute(PRUNE, {"before_ms": to_ms(before), "count": count}).rowcount


def _question(row: sqlite3.Row) -> Question:
    return Question(
        number=row["number"],
        agent_id=AgentId(row["agent_id"]),
        question_id=row["question_id"],
        turn_id=TurnId(row["turn_id"]),
        chat_jid=Jid(row["chat_jid"]),
        question=row["question"],
        options=tuple(json.loads(row["options"])),
        status=QuestionStatus(row["status"]),
        answer=row["answer"],
        chosen=row["chosen"],
    )
