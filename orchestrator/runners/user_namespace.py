"""A user namespace made ahead, for sandboxes on a host where the orchestrator is root.

bwrap then starts as root, so it reaches directories that only root may enter, and the agent inside is
a user of its own on the host. No further user namespace can be made inside.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import ErrorCode, Unavailable

# Runs in a fresh interpreter: a process with threads can neither unshare nor safely fork. It steps into
# the namespace, waits for its maps to be written, forbids more of the kind there, waits to be let go.
_STEP_IN: Final = """
import ctypes, os, sys
CLONE_NEWUSER = 0x10000000
if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER):
    sys.exit(os.strerror(ctypes.get_errno()))
print("entered", flush=True)
sys.stdin.readline()
with open("/proc/sys/user/max_user_namespaces", "w") as limit:
    limit.write("0")
print("closed", flush=True)
sys.stdin.readline()
"""


def make_user_namespace(*, uid: int, gid: int, inner_id: int) -> int:
    """A descriptor of a namespace in which root is root and `inner_id` is `uid` and `gid`. Blocks 20 ms.

    It lives as long as the descriptor. Needs root. Raises Unavailable.
    """
    helper = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _STEP_IN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with helper:
        try:
            return _prepare(helper, uid=uid, gid=gid, inner_id=inner_id)
        except OSError as error:
            helper.kill()
            raise Unavailable(
                f"No user namespace for the uid {uid} could be made: {error}.",
                code=ErrorCode.RUNNER_UNAVAILABLE,
                suggestion="See that the kernel allows user namespaces: sysctl user.max_user_namespaces",
            ) from error


def _prepare(helper: "subprocess.Popen[str]", *, uid: int, gid: int, inner_id: int) -> int:
    assert helper.stdin is not None
    place = Path(f"/proc/{helper.pid}")
    _expect(helper, "entered")
    (place / "uid_map").write_text(f"0 0 1\n{inner_id} {uid} 1\n")
    (place / "gid_map").write_text(f"0 0 1\n{inner_id} {gid} 1\n")
    helper.stdin.write("\n")
    helper.stdin.flush()
    _expect(helper, "closed")
    return os.open(place / "ns/user", os.O_RDONLY | os.O_CLOEXEC)


def _expect(helper: "subprocess.Popen[str]", word: str) -> None:
    assert helper.stdout is not None
    assert helper.stderr is not None
    if helper.stdout.readline().strip() != word:
        raise OSError(helper.stderr.read().strip() or "the helper ended early")
