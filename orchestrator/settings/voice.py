"""Settings of voice messages."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from orchestrator.settings.section import ListOf, Number, Section, program_first

_ARGV: Final = ListOf(what="words of a command", example='["/usr/local/bin/transcribe", "{file}"]')


class VoiceSettings(Section):
    """How voice messages become text."""

    command: Annotated[tuple[str, ...], AfterValidator(program_first), _ARGV] = Field(
        (),
        description="program and arguments, run without a shell, that prints what is said in a voice "
        "message; the sound is on its standard input, and `{file}` in an argument is its path",
    )
    within_s: Number = Field(
        60, ge=1, le=3600, description="a message waits so long for its words; then it goes on without them"
    )
