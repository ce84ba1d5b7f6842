"""The paths of a workspace that a spawned agent may write: looked up without links, made where missing.

Another agent may write the same workspace meanwhile, so everything goes through descriptors; blocks.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import ErrorCode, InvalidRequest
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import UnsafeEntry

_DIRECTORY_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_ANY_SIZE: Final = 1 << 62


def make_writable_paths(
    workspace: Path, paths: Sequence[str], *, uid: int | None, gid: int | None
) -> tuple[Path, ...]:
    """Each of these paths of a workspace, there: a missing one is made, a directory if it ends in `/`.

    paths: relative, without `.` or `..`. uid, gid: who is to own what is made; None: we.
    Raises InvalidRequest for what leaves the workspace or is neither file nor directory, OSError.
    """
    try:
        with SafeDir.open(workspace) as top:
            return tuple(workspace / _made(top, path, uid=uid, gid=gid) for path in paths)
    except UnsafeEntry as error:
        raise InvalidRequest(
            f"A writable path can't be used: {error.message}",
            code=ErrorCode.INVALID_WORKSPACE,
            suggestion="Name files and directories of the workspace itself, not by way of links.",
        ) from error


def _made(top: SafeDir, path: str, *, uid: int | None, gid: int | None) -> str:
    *above, name = [part for part in path.split("/") if part]
    with _descend(top, above, uid=uid, gid=gid) as parent:
        entry = parent.entry(name)
        if entry is None and path.endswith("/"):
            parent.make_child(name, mode=_DIRECTORY_MODE, uid=uid, gid=gid).close()
        elif entry is None:
            parent.write_new(name, b"", mode=_FILE_MODE, uid=uid, gid=gid)
        elif entry.is_dir:
            parent.child(name).close()
        else:
            # A file that has another name could be somebody else's.
            os.close(parent.open_regular(name, _ANY_SIZE))
    return "/".join((*above, name))


def _descend(top: SafeDir, names: Sequence[str], *, uid: int | None, gid: int | None) -> SafeDir:
    here = top.descend(())
    for name in names:
        try:
            if here.entry(name) is None:
                below = here.make_child(name, mode=_DIRECTORY_MODE, uid=uid, gid=gid)
            else:
                below = here.child(name)
        finally:
            here.close()
        here = below
    return here
