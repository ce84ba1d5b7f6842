"""What an agent asked for that an operator has to confirm. Source: contracts.md section 4."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid
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

    agent_id, box, group, chat_jid: who asked. request: its JSON object. rights: of those who spoke to the
    agent; what comes of the request keeps them. effect: what operators are shown. error: why it could not
    be carried out.
    """

    number: int
    agent_id: AgentId
    box: BoxName
    group: GroupFolder
    chat_jid: Jid
    command: str
    request: str
    rights: Rights
    effect: str
    status: ProposalStatus
    created_at: datetime
    expires_at: datetime
    ended_at: datetime | None = None
    error: str | None = None
