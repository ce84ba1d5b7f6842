"""Where the agent programs lie that some tests drive, and what happens where one is missing.

`make test` tries one of them, `make test-agents` all.
"""

import os
from pathlib import Path
from typing import Final

import pytest

AGENTS_VARIABLE: Final = "DOVECOTE_AGENTS"
"""The directory with one directory a program, as an agent sees it; without it, that of this checkout."""
REQUIRED_VARIABLE: Final = "DOVECOTE_TEST_AGENTS"
"""Names of programs that are tried and have to be there, with commas between; `all`: every one."""
ALWAYS_TRIED: Final = "claude"
"""The one that `make test` tries where it is installed; `CI` means that it has to be."""
_OF_THIS_CHECKOUT: Final = Path(__file__).resolve().parents[2] / "data" / "programs" / "agents"


def agents_directory(program: str, *, holds: str = "") -> Path:
    """The directory of all programs, if this one is in it; else the test is skipped, or fails if it must not.

    holds: a path below the program's own directory that is there when it is installed.
    """
    named = os.environ.get(AGENTS_VARIABLE)
    required = os.environ.get(REQUIRED_VARIABLE, "").split(",")
    is_required = program in required or "all" in required
    if not is_required and named is None and program != ALWAYS_TRIED:
        pytest.skip(f"{program!r} is tried by `make test-agents`")
    directory = _OF_THIS_CHECKOUT if named is None else Path(named)
    if (directory / program / holds).exists():
        return directory
    missing = f"{program!r} is not installed in {directory}: dovecote image build --with {program}"
    if is_required or (program == ALWAYS_TRIED and os.environ.get("CI") == "true"):
        pytest.fail(missing)
    pytest.skip(missing)
