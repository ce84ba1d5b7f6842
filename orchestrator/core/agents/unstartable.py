"""What operators are told of an agent that can't be started inside as it is defined.

Source: agents.md section 4. What an agent says itself of the reason stays in its log: those may be anybody's
words.
"""

import shlex
from typing import Final

from orchestrator.contracts.records.definitions import Definition

PROGRAM_MISSING: Final = "PROGRAM_MISSING"
START_FAILED: Final = "START_FAILED"
UNSTARTABLE: Final = frozenset({PROGRAM_MISSING, START_FAILED})
"""What an agent says of a turn that could not begin, and won't before somebody mends it."""
_PLACES: Final = {
    "docker": "put it into an image of your own and name that by agent.image",
    "bubblewrap": "install it below /usr, which is all of this machine that agents see",
    "process": "install it for the user who runs Dovecote",
}


def how_to_mend_start(runner: str, *, log: str) -> str:
    """What an operator can do about agents that end before they are ready. log: of their last words."""
    if runner == "docker":
        return "Build its image again: dovecote image build"
    return f"See what it said in data/logs/agents/{log}, and: dovecote doctor"


def program_of(command: str) -> str | None:
    """The program that a command starts; None of an empty one."""
    words = shlex.split(command)
    return words[0] if words else None


def how_to_have(provider: str, *, group: str, runner: str) -> str:
    """What an operator can do about a program of his own that agents don't find. provider: its name.

    group: the folder. runner: the name of what builds the walls.
    """
    place = _PLACES.get(runner, "install it where agents find it")
    return f"Mend the command in groups/{group}/AGENT.md or of the provider {provider}, or {place}."


def missing_program(definition: Definition, *, group: str, runner: str) -> str | None:
    """The program that it needs, said to be missing, and what mends that; None if it starts none by a
    command. group, runner: as of `how_to_have`."""
    program, provider = program_of(definition.command), definition.provider
    if program is None:
        return None
    if provider.program is not None and definition.command == provider.command:
        return (
            f"Its program {program} is not there inside. Run: dovecote image build --with {provider.program}"
        )
    mend = how_to_have(provider.name, group=group, runner=runner)
    return f"Its program {program!r} is not there inside, or can't be run. {mend}"


def why_unstartable(code: str, missing: str | None, *, group: str) -> str:
    """Why it can't be started and what mends it. code: one of `UNSTARTABLE`. missing: as of
    `missing_program`."""
    if code == PROGRAM_MISSING and missing is not None:
        return missing
    what = "Its program" if code == PROGRAM_MISSING else "What it starts with"
    return f"{what} is not there inside. See what dovecote doctor says, and data/logs/agents/{group}.log."
