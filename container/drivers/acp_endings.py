"""How a prompt to a program ends: in its own words, or because the program can't go on."""

from dataclasses import dataclass

from container.drivers.driver import AGENT_ERROR, PROGRAM_ENDED
from orchestrator.contracts.wire.container_io import TurnError


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of a prompt. stop_reason: the protocol's word. Tokens: None where the program does not tell."""

    stop_reason: str
    input_tokens: int | None = None
    output_tokens: int | None = None


class ProgramFailed(Exception):
    """The program can't go on, or refused. error: for the turn. is_session_gone: a fresh one may help."""

    def __init__(self, error: TurnError, *, is_session_gone: bool = False) -> None:
        super().__init__(error.message)
        self.error = error
        self.is_session_gone = is_session_gone


def program_failure(message: str) -> ProgramFailed:
    """A failure that is the program's own, no provider's."""
    return ProgramFailed(TurnError(code=AGENT_ERROR, message=message))


def ended_early(last_words: str) -> ProgramFailed:
    """A failure of a program that ended before it could be asked anything. last_words: empty: it said
    nothing."""
    return ProgramFailed(TurnError(code=PROGRAM_ENDED, message=last_words))
