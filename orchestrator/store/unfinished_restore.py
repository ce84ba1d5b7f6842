"""The note that stands in the store's folder while a restore moves files, so that no kill can hide it."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.contracts.os_errors import unusable
from orchestrator.store.private_files import replace_private, sync_directory

MARKER: Final = ".restore-unfinished"
ASIDE: Final = "before-restore-"
"""Begins the name of the folder in the home that keeps what a restore replaced."""
_MAX_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedRestore:
    """What a later one has to know. source: the backup. aside: the folder that keeps what was there before.

    absent: the pieces that were not there before, so that one in their place is of the backup.
    """

    source: str
    aside: str
    absent: Sequence[str]


_FORM: Final = TypeAdapter(UnfinishedRestore)


def note_unfinished(store: Path, unfinished: UnfinishedRestore) -> None:
    """Durable when it returns. Raises OSError."""
    replace_private(store / MARKER, json.dumps(asdict(unfinished)).encode("ascii"))


def note_finished(store: Path) -> None:
    """Durable when it returns. Raises OSError."""
    (store / MARKER).unlink()
    sync_directory(store)


def unfinished_restore(store: Path) -> UnfinishedRestore | None:
    """The one that did not end; None if there is none. Raises DovecoteError if its note cannot be read."""
    try:
        with (store / MARKER).open("rb") as file:
            found = _FORM.validate_json(file.read(_MAX_BYTES))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unusable(store / MARKER, error) from error
    except ValidationError as error:
        raise _unreadable(store) from error
    if not found.aside.startswith(ASIDE) or "/" in found.aside:
        raise _unreadable(store)
    return found


def check_restored(store: Path) -> None:
    """Raises DovecoteError where a restore did not end: what is in place is neither the old nor the new."""
    found = unfinished_restore(store)
    if found is not None:
        again = shlex.join(["dovecote", "restore", found.source, "--to", str(store.parent.parent)])
        raise DovecoteError(
            f"A restore of this home did not end; what was there before lies in its {found.aside}.",
            code=ErrorCode.STORE_UNAVAILABLE,
            suggestion=f"Run it again, with this or another backup: {again}",
        )


def _unreadable(store: Path) -> DovecoteError:
    return DovecoteError(
        f"A restore of this home did not end, and {store / MARKER} does not say where it set things aside.",
        code=ErrorCode.STORE_UNAVAILABLE,
        suggestion=f"Put back by hand what lies in {ASIDE}… of the home, then remove that file.",
    )
