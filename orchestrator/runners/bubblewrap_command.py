"""A launch plan as arguments of `bwrap`. Pure: what was found and opened is passed in."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from orchestrator.contracts.records.launch import AGENTS_TARGET, PROGRAMS_TARGET, TOOLS_TARGET, LaunchPlan
from orchestrator.runners.runner_files import INNER_ID, PYTHON_TARGET, Interpreter, Programs

# The first program of the agent's user has to give up root's last three capabilities itself.
_STEP_DOWN: Final = (
    *("setpriv", "--reuid", str(INNER_ID), "--regid", str(INNER_ID), "--clear-groups"),
    *("--bounding-set", "-all", "--inh-caps", "-all", "--no-new-privs", "--"),
)
_CAPABILITIES_TO_STEP_DOWN: Final = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSystem:
    """What a program needs of the host. directories: bound as they are. links: target by path.

    files: bound if they are there when the sandbox starts.
    """

    directories: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    files: tuple[str, ...] = (
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/etc/ssl/certs",
        "/etc/alternatives",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundMount:
    """A mount as it is handed to bwrap. descriptor: its opened source; None: an old bwrap takes the path."""

    source: str
    target: str
    is_writable: bool
    descriptor: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptors:
    """Numbers of the descriptors bwrap is given.

    user_namespace: one made ahead; None: it makes its own. syscalls: a filter for the kernel to read;
    None: there is none for this kind of machine.
    """

    status: int
    gate: int
    user_namespace: int | None
    syscalls: int | None


def bubblewrap_arguments(
    plan: LaunchPlan,
    *,
    system: HostSystem,
    programs: Programs,
    interpreter: Interpreter,
    mounts: Sequence[BoundMount],
    descriptors: Descriptors,
) -> list[str]:
    """The arguments, without the program's own name. Later mounts lie over earlier ones: order matters."""
    return [
        *_namespaces(descriptors),
        *("--die-with-parent", "--new-session", "--hostname", "dovecote"),
        *("--json-status-fd", str(descriptors.status), "--block-fd", str(descriptors.gate)),
        *(("--seccomp", str(descriptors.syscalls)) if descriptors.syscalls is not None else ()),
        "--clearenv",
        *(word for name, value in plan.environment.items() for word in ("--setenv", name, value)),
        *_system(plan, system, programs),
        *_own_programs(programs, interpreter),
        *_mounts(mounts),
        *("--remount-ro", "/"),
        *_entering(plan, descriptors),
        *_command(plan, interpreter),
    ]


def _entering(plan: LaunchPlan, descriptors: Descriptors) -> list[str]:
    """Into the working directory, as the agent's user: it may be closed to everybody else, bwrap too."""
    if descriptors.user_namespace is None:
        return ["--chdir", plan.working_directory, "--"]
    return ["--chdir", "/", "--", *_STEP_DOWN, "/usr/bin/env", f"--chdir={plan.working_directory}"]


def _namespaces(descriptors: Descriptors) -> list[str]:
    if descriptors.user_namespace is None:
        identity = ("--uid", str(INNER_ID), "--gid", str(INNER_ID), "--cap-drop", "ALL")
        return ["--unshare-user", "--unshare-all", "--disable-userns", *identity]
    kept = [word for name in _CAPABILITIES_TO_STEP_DOWN for word in ("--cap-add", name)]
    return [
        *("--userns", str(descriptors.user_namespace)),
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *("--cap-drop", "ALL", *kept),
    ]


def _system(plan: LaunchPlan, system: HostSystem, programs: Programs) -> list[str]:
    limits = plan.limits
    return [
        *(word for path in system.directories for word in ("--ro-bind", path, path)),
        *(word for target, path in system.links for word in ("--symlink", target, path)),
        *("--proc", "/proc", "--dev", "/dev"),
        # It lists the kernel's keys, the host's among them: no namespace keeps them apart.
        *("--ro-bind-try", "/dev/null", "/proc/keys"),
        # bwrap's own /dev is a writable tmpfs without a bound.
        *("--perms", "1777", "--size", str(limits.shm_bytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
        *("--perms", "1777", "--size", str(limits.tmp_bytes), "--tmpfs", "/tmp"),
        *(word for path in _parents_of(system.files) for word in _directory(path)),
        *(word for path in system.files for word in ("--ro-bind-try", path, path)),
        *("--ro-bind", str(programs.accounts / "passwd"), "/etc/passwd"),
        *("--ro-bind", str(programs.accounts / "group"), "/etc/group"),
    ]


def _parents_of(files: Sequence[str]) -> list[str]:
    """The directories that hold these, and the one that always is, from the outermost in."""
    found = {str(parent) for path in files for parent in PurePosixPath(path).parents} | {"/etc"}
    return sorted(found - {"/"})


def _own_programs(programs: Programs, interpreter: Interpreter) -> list[str]:
    bound = [*_directory("/opt"), "--ro-bind", str(programs.library), PROGRAMS_TARGET]
    if programs.tools is not None:
        bound += ["--ro-bind", str(programs.tools), TOOLS_TARGET]
    if programs.agents is not None:
        bound += ["--ro-bind", str(programs.agents), AGENTS_TARGET]
    if interpreter.prefix is not None:
        bound += ["--ro-bind", str(interpreter.prefix), PYTHON_TARGET]
    return bound


def _mounts(mounts: Sequence[BoundMount]) -> list[str]:
    words: list[str] = []
    made = {"/"}
    targets = {mount.target for mount in mounts}
    for mount in mounts:
        parents = [str(parent) for parent in reversed(PurePosixPath(mount.target).parents)]
        for parent in parents:
            # Below another mount the directory is the host's and is there already.
            if parent not in made and not _is_covered(parent, targets):
                words += _directory(parent)
            made.add(parent)
        kind = "--bind" if mount.is_writable else "--ro-bind"
        if mount.descriptor is None:
            words += [kind, mount.source, mount.target]
        else:
            words += [f"{kind}-fd", str(mount.descriptor), mount.target]
    return words


def _is_covered(path: str, targets: set[str]) -> bool:
    return any(str(each) in targets for each in (PurePosixPath(path), *PurePosixPath(path).parents))


def _directory(path: str) -> list[str]:
    # Without this bwrap makes it for its own eyes only: mode 0700.
    return ["--perms", "0755", "--dir", path]


def _command(plan: LaunchPlan, interpreter: Interpreter) -> list[str]:
    first, *rest = plan.command
    return [interpreter.inside if first == "python3" else first, *rest]
