"""What an agent asked for that an operator has to confirm. Source: contracts.md section 4."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.records.rights import Rights


class ProposalStatus(StrEnum):
    """The life of a proposal."""

    OPEN = "open"
    CONFIRMED = "confirmed"
    DECLINED = "declined"
    EXPIRED = "expired"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One wish that waits for an operator, or waited. number: what people call it by.

    request: the JSON object of the request. rights: of those who spoke to the agent; what comes of the
    request keeps them. effect: what the operators were shown. error: why it could not be carried out.
    """

    number: int
    caller: AgentCaller
    command: str
    request: str
    rights: Rights
    effect: str
    status: ProposalStatus
    created_at: datetime
    expires_at: datetime
    ended_at: datetime | None = None
    error: str | None = None
