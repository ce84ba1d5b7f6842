"""What agents used of their providers, and what they may use."""

from dataclasses import dataclass
from datetime import datetime

from orchestrator.contracts.ids import AgentId, GroupFolder, TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedCall:
    """One call as it is kept. None: the provider's answer does not say, or nobody knows the price."""

    at: datetime
    group: GroupFolder
    agent_id: AgentId
    turn_id: TurnId | None
    provider: str
    model: str | None
    status: int
    failure: str | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: float | None

    @property
    def tokens(self) -> int | None:
        """All that the model read and wrote, cached or not."""
        counts = (self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens)
        known = [count for count in counts if count is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a group used since the beginning of its day and of its month.

    day, month: the first instants of both, in UTC. is_cost_known: every call of the month that used tokens
    has a price.
    """

    day: datetime
    month: datetime
    tokens_today: int = 0
    usd_this_month: float = 0.0
    is_cost_known: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageLine:
    """What one group used of one model on one of its days. day: its first instant, in UTC.

    cost_usd: of the calls whose price is known; None if it is of none. unpriced_calls: those of the others
    that used tokens.
    """

    group: GroupFolder
    day: datetime
    provider: str
    model: str | None
    turns: int
    calls: int
    failed_calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float | None
    unpriced_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnUse:
    """What one turn used at its provider. turn_id: None of calls outside of any turn."""

    group: GroupFolder
    agent_id: AgentId
    turn_id: TurnId | None
    began_at: datetime
    provider: str
    calls: int
    tokens: int
    cost_usd: float | None
