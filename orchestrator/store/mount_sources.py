"""Directories of the host that operators name, looked at as they are now. Everything here blocks."""

import os
import stat
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.os_errors import advice_for

_MAX_BYTES: Final = 256 * 1024


def resolved_directory(path: str) -> tuple[str | None, bool]:
    """Where `path` leads without links, and whether a directory is there; None if nothing is."""
    try:
        resolved = os.path.realpath(os.path.expanduser(path), strict=True)
        return resolved, stat.S_ISDIR(os.stat(resolved).st_mode)
    # ValueError: a NUL in the path.
    except (OSError, ValueError):
        return None, False


def read_operator_text(path: Path) -> str | None:
    """The text of a file that the operator keeps; None if it is not there.

    Raises InvalidSettings for what is no plain UTF-8 file of bounded size.
    """
    try:
        if not path.exists():
            if path.is_symlink():
                raise InvalidSettings(
                    f"{path} is a link to what is not there.",
                    suggestion="Point it at the file, or remove it.",
                )
            return None
        if not path.is_file():
            raise InvalidSettings(f"{path} is not a file.", suggestion="Put a text file there, or nothing.")
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
        if len(raw) > _MAX_BYTES:
            raise InvalidSettings(f"{path} has more than {_MAX_BYTES:,} bytes.", suggestion="Shorten it.")
        return raw.decode("utf-8")
    except OSError as error:
        raise InvalidSettings(
            f"{path} cannot be read: {error.strerror}.", suggestion=advice_for(error)
        ) from None
    except UnicodeDecodeError as error:
        raise InvalidSettings(
            f"{path} is not UTF-8 at byte {error.start}.", suggestion="Save it as UTF-8."
        ) from None
