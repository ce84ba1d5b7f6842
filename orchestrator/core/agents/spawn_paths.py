"""The paths that a spawn names, as words: what they mean is looked up on the disk later.

Source: agents.md section 2.
"""

from collections.abc import Sequence
from typing import Final

from orchestrator.contracts.errors import ErrorCode, InvalidRequest
from orchestrator.contracts.records.launch import WORKSPACE_TARGET

MAX_PATHS: Final = 100
MAX_PATH_BYTES: Final = 1_024


def workspace_words(path: str) -> str | None:
    """A workspace as its caller names it: the part below its own workspace; None: a path of the host.

    `.` is the caller's own workspace. Raises InvalidRequest for what is not absolute.
    """
    _check(path, "workspacePath")
    if not path.startswith("/"):
        raise _invalid(f"workspacePath {path!r} is not absolute", "Write the whole path, from / on.")
    below = _below_target(path)
    return None if below is None else _plain(below, "workspacePath", path) or "."


def is_host_path(path: str) -> bool:
    """Whether a workspace is named by its place on the host, not by where its caller has it."""
    return path.startswith("/") and _below_target(path) is None


def writable_words(paths: Sequence[str]) -> tuple[str, ...]:
    """Writable paths relative to the workspace, each once; a directory keeps the `/` at its end.

    Raises InvalidRequest for what leaves the workspace, or is all of it.
    """
    if len(paths) > MAX_PATHS:
        raise _invalid(f"writablePaths has {len(paths)} paths", f"Name {MAX_PATHS} at most.")
    found: dict[str, None] = {}
    for path in paths:
        _check(path, "writablePaths")
        below = _below_target(path) if path.startswith("/") else path
        if below is None:
            raise _invalid(
                f"The writable path {path!r} is not in the workspace",
                f"Name it relative to the workspace, or below {WORKSPACE_TARGET}.",
            )
        plain = _plain(below, "writablePaths", path)
        if not plain:
            raise _invalid(
                f"The writable path {path!r} is the whole workspace",
                "Name the files and directories in it that are to be written.",
            )
        found[plain + "/" if below.endswith("/") else plain] = None
    return tuple(found)


def without_inner(paths: Sequence[str]) -> tuple[str, ...]:
    """The same without those that lie in a directory which is among them; directories end in `/`."""
    directories = [path for path in paths if path.endswith("/")]
    kept = [
        path for path in paths if not any(path != other and path.startswith(other) for other in directories)
    ]
    return tuple(dict.fromkeys(kept))


def is_within(path: str, place: str) -> bool:
    """Whether an absolute path is `place` or lies below it; both without links and dots."""
    return path == place or path.startswith(place.rstrip("/") + "/")


def _below_target(path: str) -> str | None:
    if path == WORKSPACE_TARGET:
        return ""
    return path.removeprefix(f"{WORKSPACE_TARGET}/") if path.startswith(f"{WORKSPACE_TARGET}/") else None


def _plain(path: str, field: str, written: str) -> str:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise _invalid(f"{field} {written!r} has .. in it", "Write the path without ..")
    return "/".join(parts)


def _check(path: str, field: str) -> None:
    if not path or len(path.encode(errors="replace")) > MAX_PATH_BYTES:
        raise _invalid(f"{field} has a path of {len(path)} characters", f"Use 1 to {MAX_PATH_BYTES} bytes.")
    if not path.isprintable() or ":" in path:
        raise _invalid(f"{field} {path!r} has a colon or a control character", "Rename it.")


def _invalid(what: str, mend: str) -> InvalidRequest:
    return InvalidRequest(f"{what}.", code=ErrorCode.INVALID_WORKSPACE, suggestion=mend)
