"""The Python packages that the tool server inside needs, laid out for the interpreter that runs it.

What we have installed ourselves is copied where it fits; for another Python the wheels are fetched, by the
hashes of `container/image/requirements-mcp.lock`. The agent runner imports none of it.
"""

import hashlib
import importlib.metadata
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias

from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.runners.runner_files import Interpreter, compile_library, made_whole, open_to_all

MinorVersion: TypeAlias = tuple[int, int]
"""A Python's major and minor number: compiled packages fit one of them."""
OUR_VERSION: Final[MinorVersion] = (sys.version_info.major, sys.version_info.minor)
LOCK: Final = Path(__file__).resolve().parents[2] / "container" / "image" / "requirements-mcp.lock"
VERSION_CODE: Final = "import sys; print(*sys.version_info[:2])"
_PINNED: Final = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)( *;)?", re.MULTILINE)
_FETCH_WITHIN_S: Final = 600.0


def ensure_tool_packages(root: Path, interpreter: Interpreter) -> Path:
    """The packages below `root` (`data/programs`), made there unless they are already. Blocks.

    A half-made directory is never seen. Raises Unavailable when they can't be had.
    """
    target = tools_place(root, interpreter)
    try:
        if not target.exists():
            _make(target, version_of(interpreter.outside), interpreter)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise _unavailable(str(error)) from error
    return target


def tools_place(root: Path, interpreter: Interpreter) -> Path:
    """Where the packages of this version lie below `root`, once they are made. Blocks. Raises Unavailable."""
    try:
        words = f"{interpreter.outside} {version_of(interpreter.outside)}"
        stamp = hashlib.sha256(LOCK.read_bytes() + words.encode()).hexdigest()
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise _unavailable(str(error)) from error
    return root / f"tools-{stamp[:16]}"


def lay_out_packages(target: Path, version: MinorVersion) -> None:
    """Put the packages into the new directory `target`, readable by all. Blocks. Raises Unavailable."""
    target.mkdir(parents=True)
    files = own_packages() if version == OUR_VERSION else None
    if files is None:
        _fetch(target, version)
    else:
        for inside, path in files.items():
            (target / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / inside)
    open_to_all(target)


def own_packages() -> Mapping[str, Path] | None:
    """Where our own copies lie, by the path inside; None if they are not those of the lock."""
    files: dict[str, Path] = {}
    for name, version, is_conditional in _PINNED.findall(LOCK.read_text(encoding="utf-8")):
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            if is_conditional:  # for another system or Python
                continue
            return None
        if found.version != version or not found.files:
            return None
        for each in found.files:
            if ".." not in each.parts and each.suffix != ".pyc":
                files[each.as_posix()] = Path(str(each.locate()))
    return files


def version_of(python: str) -> MinorVersion:
    """Of a Python on this machine. Blocks. Raises OSError, SubprocessError or ValueError."""
    done = subprocess.run(
        [python, "-I", "-S", "-c", VERSION_CODE],
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
    )
    return read_version(done.stdout)


def read_version(printed: str) -> MinorVersion:
    """What `VERSION_CODE` printed. Raises ValueError."""
    major, minor = map(int, printed.split())
    return major, minor


def _make(target: Path, version: MinorVersion, interpreter: Interpreter) -> None:
    with made_whole(target) as unfinished:
        lay_out_packages(unfinished, version)
        compile_library(unfinished, interpreter)


def _fetch(target: Path, version: MinorVersion) -> None:
    """Fetch the wheels by their hashes and unpack them: a wheel is an archive of what is imported."""
    with tempfile.TemporaryDirectory(prefix="dovecote-wheels-") as wheels:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download"),
                *("--quiet", "--retries", "1", "--no-deps", "--require-hashes", "--only-binary", ":all:"),
                *("--implementation", "cp", "--python-version", ".".join(map(str, version))),
                *("--dest", wheels, "--requirement", str(LOCK)),
            ],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_FETCH_WITHIN_S,
        )
        if done.returncode != 0:
            raise _unavailable(" ".join(done.stderr.split())[-300:])
        for wheel in sorted(Path(wheels).glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(target)


def _unavailable(reason: str) -> Unavailable:
    return Unavailable(
        f"The packages of the agents' tool server can't be laid out: {reason}",
        code=ErrorCode.RUNNER_UNAVAILABLE,
        suggestion=(
            "See that there is room on the disk. For agents under another Python version than "
            f"{'.'.join(map(str, OUR_VERSION))} they are fetched with pip, which needs its index."
        ),
    )
