"""The agent runner's own files, laid out for a sandbox or an image: small, readable by all, compiled."""

import contextlib
import hashlib
import importlib.util
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.contracts.records.launch import HOME_TARGET

OLDEST_PYTHON: Final = (3, 11)
PYTHON_TARGET: Final = "/opt/python"
INNER_ID: Final = 1000
"""The uid and gid of the agent as it sees itself."""
_SYSTEM_PYTHON: Final = "/usr/bin/python3"
_PASSWD: Final = (
    "root:x:0:0:root:/root:/usr/sbin/nologin\n"
    f"agent:x:{INNER_ID}:{INNER_ID}:agent:{HOME_TARGET}:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
)
_GROUP: Final = f"root:x:0:\nagent:x:{INNER_ID}:\nnogroup:x:65534:\n"
# Pure Python that a driver needs, by the name under which it is imported.
_THIRD_PARTY: Final = ("yaml",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """The Python inside a sandbox. prefix: bound at /opt/python; None: it lies below /usr anyway."""

    inside: str
    outside: str
    prefix: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """A filled directory. library: what is put on the path of modules. accounts: a made passwd and group.

    tools: the packages of the tool server, for an agent that has a model; None: it has none. agents: the
    agent programs, likewise; None: none were ever installed.
    """

    library: Path
    accounts: Path
    stamp: str
    tools: Path | None = None
    agents: Path | None = None


def program_files() -> dict[str, bytes]:
    """What runs inside, by relative path: the wire and its words, the agent runner, the drivers' packages.

    Reads the disk. The container's package lies beside ours, in a clone as in an installation.
    """
    home = Path(__file__).resolve().parent.parent
    contracts = home / "contracts"
    found = {
        path.relative_to(home.parent).as_posix(): path.read_bytes()
        for path in (
            home / "__init__.py",
            *(contracts / f"{name}.py" for name in ("__init__", "ids", "errors")),
            *sorted((contracts / "wire").glob("*.py")),
        )
    }
    container = home.parent / "container"
    found |= _files_below(container, base=home.parent, left_out=container / "image")
    for name in _THIRD_PARTY:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            package = Path(spec.origin).parent
            found |= {f"{name}/{path.name}": path.read_bytes() for path in sorted(package.glob("*.py"))}
    return found


def stamp_of(files: Mapping[str, bytes]) -> str:
    """A name for exactly these files with exactly this content."""
    digest = hashlib.sha256()
    for path, content in sorted(files.items()):
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def choose_interpreter() -> Interpreter:
    """The system's Python if it is new enough, else the one that runs us, seen from inside. Blocks."""
    if _is_new_enough(_SYSTEM_PYTHON):
        return Interpreter(inside=_SYSTEM_PYTHON, outside=_SYSTEM_PYTHON)
    name = f"bin/python{sys.version_info.major}.{sys.version_info.minor}"
    prefix = Path(sys.base_prefix).resolve()
    outside = str(prefix / name)
    if prefix.is_relative_to("/usr"):
        return Interpreter(inside=outside, outside=outside)
    return Interpreter(inside=f"{PYTHON_TARGET}/{name}", outside=outside, prefix=prefix)


def ensure_programs(root: Path, interpreter: Interpreter) -> Programs:
    """The programs below `root` (`data/programs`), made there unless they are already. Blocks.

    Nothing is fetched. A half-made one is never seen: the directory is renamed into its place.
    Raises Unavailable when the disk or the interpreter will not have it.
    """
    files = program_files()
    target = _place(root, files, interpreter)
    if not target.exists():
        try:
            _fill(target, files, interpreter)
        except (OSError, subprocess.SubprocessError) as error:
            raise Unavailable(
                f"The agents' programs could not be put into {target}: {error}.",
                code=ErrorCode.RUNNER_UNAVAILABLE,
                suggestion="See that there is room on the disk and that the directory may be written.",
            ) from error
    return Programs(library=target / "library", accounts=target / "accounts", stamp=target.name)


def programs_place(root: Path, interpreter: Interpreter) -> Path:
    """Where the programs of this version lie below `root`, once they are made. Blocks."""
    return _place(root, program_files(), interpreter)


def _place(root: Path, files: Mapping[str, bytes], interpreter: Interpreter) -> Path:
    return root / stamp_of({**files, "interpreter": interpreter.outside.encode()})


def write_tree(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write `files` below `directory`, readable by all whatever the umask."""
    for path, content in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    open_to_all(directory)


def _fill(target: Path, files: Mapping[str, bytes], interpreter: Interpreter) -> None:
    with made_whole(target) as unfinished:
        write_tree(unfinished / "library", files)
        write_tree(unfinished / "accounts", {"passwd": _PASSWD.encode(), "group": _GROUP.encode()})
        compile_library(unfinished / "library", interpreter)


@contextlib.contextmanager
def made_whole(target: Path) -> Iterator[Path]:
    """Where to make the directory `target`, which then has its name at once: a half-made one is never seen.

    It is opened to all. If another process was quicker, its one stays: the name says the content.
    """
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        yield unfinished
        open_to_all(unfinished)
        try:
            unfinished.rename(target)
        except OSError:
            if not target.exists():
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def compile_library(library: Path, interpreter: Interpreter) -> None:
    """Compile for the Python inside. Nothing changes these files, so their times need no look."""
    mode = ("--invalidation-mode", "unchecked-hash")
    subprocess.run(
        [interpreter.outside, "-I", "-m", "compileall", "-q", *mode, "-s", str(library), str(library)],
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )


def open_to_all(directory: Path) -> None:
    """Let everybody read and nobody write, whatever the umask; what was a program stays one."""
    for here, _, names in os.walk(directory):
        os.chmod(here, 0o755)
        for name in names:
            path = os.path.join(here, name)
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)


def _files_below(directory: Path, *, base: Path, left_out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(base).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
        and not path.is_relative_to(left_out)
        and path.suffix not in (".pyc", ".tmp")
        and not path.name.startswith(".")
    }


def _is_new_enough(python: str) -> bool:
    check = f"import sys; raise SystemExit(sys.version_info < {OLDEST_PYTHON})"
    try:
        done = subprocess.run(
            [python, "-I", "-S", "-c", check], check=False, stdin=subprocess.DEVNULL, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
