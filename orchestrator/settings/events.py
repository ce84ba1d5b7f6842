"""What is kept of events, and who may listen to them."""

from pydantic import Field

from orchestrator.settings.section import Section, Whole


class EventSettings(Section):
    """What is kept of events, and who may listen to them."""

    keep_days: Whole = Field(7, ge=1, le=3_650, description="events of agents are kept so long")
    audit_days: Whole = Field(90, ge=1, le=36_500, description="events for the audit are kept so long")
    max_kept: Whole = Field(
        200_000, ge=1_000, le=100_000_000, description="events of agents that are kept, the newest ones"
    )
    log_lines_per_minute: Whole = Field(
        120, ge=0, le=100_000, description="log lines of an agent that become events; its log file has all"
    )
    max_readers: Whole = Field(2_000, ge=1, le=100_000, description="who may listen to events at once")
    reader_buffer: Whole = Field(
        1_000, ge=1, le=100_000, description="events that wait for a slow reader; he is told of those beyond"
    )
