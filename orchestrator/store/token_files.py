"""The session token of an agent as a file: in a directory of its own, which its container sees read-only.

Replaced in one step while the agent runs, so that a reader finds the old one or the new one, whole. Blocks.
"""

import os
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Final

from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.launch import TOKEN_FILE
from orchestrator.store.private_files import replace_fleeting

_OURS: Final = 0o700
# The agent has a uid of its own then: it passes through and reads its own file, and changes nothing.
_PASSED_THROUGH: Final = 0o711
_READ_BY_ITS_OWNER: Final = 0o400


def token_directory(tokens: Path, agent_id: AgentId) -> Path:
    """What is mounted into the container of an agent."""
    return tokens / agent_id


def write_token(directory: Path, text: str, *, uid: int | None, name: str = TOKEN_FILE) -> None:
    """Put a token where its agent finds it. uid: who that is; None: our own user. Raises OSError.

    name: of the file; besides the session token there may be one for another place.
    """
    is_other = uid is not None and uid != os.geteuid()
    directory.parent.mkdir(mode=_OURS, exist_ok=True)
    directory.mkdir(mode=_OURS, exist_ok=True)
    directory.chmod(_PASSED_THROUGH if is_other else _OURS)
    replace_fleeting(directory / name, text.encode(), mode=_READ_BY_ITS_OWNER, uid=uid)


def renew_token(directory: Path, text: str) -> bool:
    """Put the next token in the place of the one that is there; False if none is. Raises OSError."""
    try:
        held = os.stat(directory / TOKEN_FILE, follow_symlinks=False)
    except FileNotFoundError:
        return False
    replace_fleeting(directory / TOKEN_FILE, text.encode(), mode=_READ_BY_ITS_OWNER, uid=held.st_uid)
    return True


def remove_token(directory: Path) -> None:
    """Remove an agent's token with its directory. No error if it is gone."""
    shutil.rmtree(directory, ignore_errors=True)


def remove_other_tokens(tokens: Path, living: Collection[AgentId]) -> None:
    """Remove what agents of an earlier process left that are not among the living."""
    if not tokens.is_dir():
        return
    for entry in tokens.iterdir():
        if entry.name not in living:
            shutil.rmtree(entry, ignore_errors=True)
