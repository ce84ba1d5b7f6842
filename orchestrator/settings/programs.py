"""Settings of what an agent's program may take and leave behind."""

from typing import Final

from pydantic import Field

from orchestrator.settings.section import Number, Section, Whole

_MIB: Final = 1024**2


class ProgramSettings(Section):
    """Programs of a model, such as the one of the provider `claude`, and their conversations."""

    answer_s: Number = Field(
        60,
        ge=1,
        le=600,
        description="a program that does not answer when it is started is given up after this",
    )
    session_bytes: Whole = Field(
        24 * _MIB,
        ge=64 * 1024,
        le=1024**3,
        description="size of a conversation on the disk from which on a fresh one with its summary goes on; "
        "driver `claude`",
    )
    kept_sessions: Whole = Field(
        20, ge=0, le=10_000, description="earlier conversations of a group that are kept; likewise"
    )
    kept_session_bytes: Whole = Field(
        256 * _MIB, ge=0, le=1024**4, description="bytes of those; the oldest go first"
    )
