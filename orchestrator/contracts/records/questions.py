"""What agents ask of people. Source: contracts.md section 6."""

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.contracts.ids import AgentId, Jid, TurnId


class QuestionStatus(StrEnum):
    """The life of a question."""

    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question, as a row. number: what people call it; question_id: what its agent calls it.

    answer, chosen: once it is answered; chosen is the place of an option, from 0.
    """

    number: int
    agent_id: AgentId
    question_id: str
    turn_id: TurnId
    chat_jid: Jid
    question: str
    options: tuple[str, ...]
    status: QuestionStatus
    answer: str | None = None
    chosen: int | None = None
