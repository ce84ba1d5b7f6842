"""Standard output that may break: a reader that goes away, a full disk, signs its encoding lacks."""

import io
import os
import sys
from typing import Final

from orchestrator.contracts.errors import DovecoteError

READER_GONE: Final = 141
"""The exit code of who writes where nobody reads any longer, as shells show it: 128 and SIGPIPE."""


class ReaderGone(DovecoteError):
    """Who read the output has what he wanted, as `head` does: the command ends, in silence."""


def allow_any_text() -> None:
    """A sign that the terminal's encoding lacks is shown as a question mark rather than being an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def put(text: str) -> None:
    """Print it now. Raises DovecoteError when that fails."""
    try:
        print(text, flush=True)
    except OSError as error:
        raise unwritable(error) from None


def unwritable(error: OSError) -> DovecoteError:
    """The error for an output that failed. What is still waiting for it is given up."""
    # The interpreter flushes standard output once more at its end, and would complain there.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    if isinstance(error, BrokenPipeError):
        return ReaderGone("Nobody reads the output any longer.")
    return DovecoteError(f"The output cannot be written: {error.strerror}.")


def say_error(error: DovecoteError) -> None:
    """On standard error: one sentence and what to do about it."""
    print(f"Error: {error.message}", file=sys.stderr)
    if error.suggestion:
        print(error.suggestion, file=sys.stderr)
