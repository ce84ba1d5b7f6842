"""What operators are told of an agent that can't be started inside as it is defined.

Source: agents.md section 4. What an agent says itself of the reason stays in its log, since those may be
anybody's words; but the last ones of a program that ended are quoted, for they are all there is to go by.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.wire.argv import script_of
from orchestrator.core.agents.definition import DRIVERS_WITHOUT_A_MODEL
from orchestrator.core.text_cleaning import clean_name

PROGRAM_MISSING: Final = "PROGRAM_MISSING"
START_FAILED: Final = "START_FAILED"
PROGRAM_ENDED: Final = "PROGRAM_ENDED"
UNSTARTABLE: Final = frozenset({PROGRAM_MISSING, START_FAILED})
"""What an agent says of a turn that could not begin, and won't before somebody mends it."""
NEVER_BEGUN: Final = UNSTARTABLE | {PROGRAM_ENDED}
"""And of one that could not begin this time."""
NeedKey = tuple[str, bool]
_ANYWHERE: Final = "install it where agents find it"
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


def how_to_have(provider: str, *, group: str, runner: str) -> str:
    """What an operator can do about a program of his own that agents don't find. provider: its name.

    group: the folder. runner: the name of what builds the walls.
    """
    place = _PLACES.get(runner, _ANYWHERE)
    return f"Mend the command in groups/{group}/AGENT.md or of the provider {provider}, or {place}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What an agent can't start without. name: of the program, or the path of the script.

    server: the tool server that it is for; None: it is the agent's own. is_script: a file that is read.
    what: that it is not there, for operators. mend: what mends that. is_used: its driver starts it; one that
    uses no tool servers starts without.
    """

    name: str
    server: str | None = None
    is_script: bool = False
    what: str
    mend: str
    is_used: bool = True

    @property
    def key(self) -> NeedKey:
        """What is looked for: which file, and whether it is one to be read."""
        return self.name, self.is_script


def needs(definition: Definition, *, group: str, runner: str) -> tuple[Need, ...]:
    """The programs and scripts that its command and its tool servers name. group, runner: as of
    `how_to_have`."""
    provider, found = definition.provider, list[Need]()
    mend = how_to_have(provider.name, group=group, runner=runner)
    if provider.program is not None and definition.command == provider.command:
        mend = f"Run: dovecote image build --with {provider.program}"
    found += _of_command(shlex.split(definition.command), mend=mend)
    is_used = provider.driver not in DRIVERS_WITHOUT_A_MODEL
    for server in definition.mcp_servers:
        place = _PLACES.get(runner, _ANYWHERE)
        mend = f"Mend or remove it in mcp_servers of groups/{group}/AGENT.md, or {place}."
        of_server = _of_command(server.command, mend=mend, server=server.name)
        found += [replace(each, is_used=is_used) for each in of_server]
    return tuple(found)


def _of_command(command: Sequence[str], *, mend: str, server: str | None = None) -> list[Need]:
    whose = "Its" if server is None else "The"
    of = "" if server is None else f" of its tool server {server!r}"
    found = []
    if command:
        what = f"{whose} program {command[0]!r}{of} is not where agents run, or can't be run."
        found.append(Need(name=command[0], server=server, what=what, mend=mend))
    if (script := script_of(command)) is not None:
        what = f"The script {script!r}{of} is not where agents run."
        found.append(Need(name=script, server=server, is_script=True, what=what, mend=mend))
    return found


def why_unstartable(code: str, needed: Sequence[Need], *, said: str | None, group: str) -> str:
    """Why it can't be started and what mends it. code: one of `NEVER_BEGUN`. needed: as of `needs`.

    said: by the agent. Of what is missing only the names in the definition are told; of a program that ended
    its complaint, as a quotation.
    """
    log = f"data/logs/agents/{group}.log"
    if code == PROGRAM_ENDED:
        quoted = clean_name(said or "")
        what = f"and said: “{quoted}”." if quoted else "and said nothing."
        return f"Its program ended before it was ready, {what} All it said is in {log}."
    if code == PROGRAM_MISSING:
        named = [each for each in needed if repr(each.name) in (said or "")]
        of_server = [each for each in named if each.server is not None and repr(each.server) in (said or "")]
        own = [each for each in needed if each.server is None]
        for each in (*of_server, *named, *own):
            return f"{each.what} {each.mend}"
    what = "Its program" if code == PROGRAM_MISSING else "What it starts with"
    return f"{what} is not there inside. See what dovecote doctor says, and {log}."
