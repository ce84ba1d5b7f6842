"""The paths that a spawn names, looked up in a workspace: what lies there was put there by agents.

Nothing is opened here; what is found may be exchanged later, so whoever mounts it opens it
without links. Everything here blocks.
"""

import contextlib
import os
import stat

from orchestrator.contracts.errors import ErrorCode, InvalidRequest, Unavailable


def make_workspace(place: str) -> None:
    """Have an agent's own workspace there before its start, which gives it to the agent.

    What lies there is left as it is. Raises Unavailable.
    """
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(place, mode=0o700)
    except OSError as error:
        raise Unavailable(
            f"The workspace {place} could not be made: {error.strerror}.",
            suggestion="Check the free space and who may write there.",
        ) from error


def find_below(workspace: str, words: str) -> str:
    """Where `words` leads in `workspace`, relative to it and without links; a directory ends in `/`.

    workspace: without links. words: relative, without dots; what is missing of it stays as it is. Raises
    InvalidRequest for what leaves the workspace by a link, or is neither file nor directory.
    """
    here = workspace
    parts = words.rstrip("/").split("/")
    for number, part in enumerate(parts):
        there = _without_link(workspace, os.path.join(here, part), words)
        found = _look(there, words)
        is_last = number == len(parts) - 1
        if found is None:
            rest = os.path.relpath(os.path.join(there, *parts[number + 1 :]), workspace)
            return rest + "/" if words.endswith("/") else rest
        if not is_last and not stat.S_ISDIR(found.st_mode):
            raise _refused(words, "leads through what is no directory")
        here = there
        if is_last:
            return _relative(workspace, here, found, words)
    raise AssertionError  # there is a last part


def _relative(workspace: str, place: str, found: os.stat_result, words: str) -> str:
    if place == workspace:
        raise _refused(words, "leads to the whole workspace")
    relative = os.path.relpath(place, workspace)
    if stat.S_ISDIR(found.st_mode):
        return relative + "/"
    if not stat.S_ISREG(found.st_mode):
        raise _refused(words, "is neither a file nor a directory")
    if words.endswith("/"):
        raise _refused(words, "is a file, not a directory")
    return relative


def _without_link(workspace: str, place: str, words: str) -> str:
    """Where it really is, if it is a link; a broken one leads nowhere that could be checked."""
    try:
        if not os.path.islink(place):
            return place
        resolved = os.path.realpath(place, strict=True)
    except (OSError, ValueError):
        raise _refused(words, "leads by a link to nothing") from None
    if resolved != workspace and not resolved.startswith(workspace.rstrip("/") + "/"):
        raise _refused(words, "leaves the workspace by a link")
    return resolved


def _look(place: str, words: str) -> os.stat_result | None:
    try:
        return os.lstat(place)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _refused(words, f"can't be looked at: {error}") from None


def _refused(words: str, why: str) -> InvalidRequest:
    return InvalidRequest(
        f"The path {words!r} {why}.",
        code=ErrorCode.INVALID_WORKSPACE,
        suggestion="Name files and directories that lie in the workspace itself.",
    )
