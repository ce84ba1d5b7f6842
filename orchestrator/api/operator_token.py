"""The operator's credential: made at the first start, a file that only this user reads."""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import DovecoteError, ErrorCode

_TOKEN_BYTES: Final = 32
_LONGEST_FILE: Final = 1024


class Unauthorized(DovecoteError):
    """No credential, or one that is not ours."""

    code = ErrorCode.UNAUTHORIZED


def ensure_operator_token(path: Path) -> str:
    """The operator's token; made now if there is none, readable by this user only (0600)."""
    if token := read_operator_token(path):
        return token
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    temporary = path.with_name(f".{path.name}.tmp")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(token + "\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    return token


def read_operator_token(path: Path) -> str | None:
    """The token that an orchestrator made here; None if none did. Raises Unauthorized if unreadable."""
    try:
        with path.open(encoding="ascii") as file:
            return file.read(_LONGEST_FILE).strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Unauthorized(
            f"The operator token {path} cannot be read: {error}.",
            suggestion="Run as the user who runs the orchestrator; if the file is damaged, remove it and "
            "start the orchestrator again.",
        ) from None
