"""What a command line needs to be there: its program, and the script that an interpreter is to run."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

_INTERPRETER: Final = re.compile(r"(node|nodejs|python[0-9.]*|ruby|perl|php|bash|sh|dash)")
# Behind them comes no script, but the words of one, or the name of a module.
_NO_SCRIPT: Final = frozenset({"-c", "-e", "-m", "-p", "-r", "--eval", "--print"})


def script_of(command: Sequence[str]) -> str | None:
    """The script that it has an interpreter run, by its path from the root or from where it is started; None
    where that is not certain."""
    if not command or _INTERPRETER.fullmatch(PurePosixPath(command[0]).name) is None:
        return None
    for word in command[1:]:
        if word in _NO_SCRIPT:
            return None
        if not word.startswith("-"):
            # `node` finds a module also without the end of its file's name.
            return word if PurePosixPath(word).suffix else None
    return None
