"""A directory of agent programs, laid out as `/opt/dovecote-agents`: one directory a part, and `bin`.

A directory is made once and never changed; a link says which one counts, so that agents that run keep
theirs. Parts that an earlier one has are taken from there and fetched only once.
"""

import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.runners.agent_programs import PARTS, Part, parts_of, programs_in
from orchestrator.runners.program_fetch import fetch_part
from orchestrator.runners.runner_files import Interpreter, compile_library, made_whole, open_to_all, stamp_of
from orchestrator.runners.tool_packages import MinorVersion, version_of

CURRENT: Final = "agents"
"""The link below `data/programs` to the directory that counts."""
_MANIFEST: Final = "manifest.json"
Progress = Callable[[str], None]
"""Is told each part that is fetched, for a person who waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledPart:
    """A part as it was installed. stamp: of the lists at that time."""

    version: str
    stamp: str

    @classmethod
    def of(cls, part: Part) -> "InstalledPart":
        """What is installed from the lists of today."""
        return cls(version=part.version, stamp=part.stamp)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDirectory:
    """A filled directory. python: what its Python packages fit."""

    path: Path
    python: MinorVersion
    parts: Mapping[str, InstalledPart]

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs that it holds whole."""
        return programs_in(self.parts)


def current_agents(root: Path) -> AgentDirectory | None:
    """The directory that counts below `root` (`data/programs`); None: nothing was ever installed. Blocks."""
    try:
        place = (root / CURRENT).resolve(strict=True)
        found: Any = json.loads((place / _MANIFEST).read_bytes())
        major, minor = found["python"]
        parts = {str(name): InstalledPart(**entry) for name, entry in found["parts"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # a directory that says nothing of itself is as none: the same command makes it anew
    return AgentDirectory(path=place, python=(int(major), int(minor)), parts=parts)


def outdated_parts(parts: Mapping[str, InstalledPart]) -> tuple[str, ...]:
    """Those that were installed from other lists than today's."""
    return tuple(
        name for name, found in parts.items() if name not in PARTS or PARTS[name].stamp != found.stamp
    )


def install_agents(
    root: Path, programs: Iterable[str], interpreter: Interpreter, progress: Progress
) -> AgentDirectory:
    """Lay out exactly these programs below `root`, and have new agents use them. Blocks.

    Raises Unavailable when they can't be had.
    """
    wanted = parts_of(programs)
    try:
        python = version_of(interpreter.outside)
        words = {part.name: part.stamp.encode() for part in wanted} | {"python": f"{python}".encode()}
        target = root / f"agents-{stamp_of(words)}"
        if not target.exists():
            root.mkdir(parents=True, exist_ok=True)
            _make(target, wanted, python, interpreter, progress, earlier=current_agents(root))
        link = root / f".{CURRENT}.{secrets.token_hex(4)}"
        link.symlink_to(target.name)
        link.replace(root / CURRENT)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise _unavailable(root, error) from error
    made = current_agents(root)
    if made is None:
        raise _unavailable(root, OSError("what was laid out is gone again"))
    return made


def lay_out_agents(
    target: Path,
    parts: Iterable[Part],
    python: MinorVersion,
    progress: Progress,
    *,
    earlier: AgentDirectory | None = None,
) -> None:
    """Fill the new directory `target`, readable by all, not compiled. Blocks. Raises Unavailable, OSError."""
    wanted = tuple(parts)
    (target / "bin").mkdir(parents=True)
    for part in wanted:
        old = None if earlier is None else _same(part, python, earlier)
        if old is not None:
            shutil.copytree(old, target / part.name, symlinks=True, copy_function=_link_or_copy)
        else:
            progress(f"Fetching {part.name} {part.version}…")
            fetch_part(part, target / part.name, python)
        _link_commands(target, part)
    manifest = {
        "python": python,
        "parts": {part.name: {"version": part.version, "stamp": part.stamp} for part in wanted},
    }
    (target / _MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    open_to_all(target)


def _link_or_copy(source: str, target: str) -> None:
    """These files never change, so they may share a place; not across disks."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _same(part: Part, python: MinorVersion, earlier: AgentDirectory) -> Path | None:
    found = earlier.parts.get(part.name)
    if found is None or found.stamp != part.stamp or (part.is_python and earlier.python != python):
        return None
    return earlier.path / part.name


def _link_commands(target: Path, part: Part) -> None:
    for name, pattern in part.commands.items():
        found = next(iter(sorted((target / part.name).glob(pattern))), None)
        if found is None:
            raise Unavailable(
                f"There is no {part.name} {part.version} for this kind of machine.",
                code=ErrorCode.RUNNER_UNAVAILABLE,
                suggestion="Leave it out, or use another provider.",
            )
        (target / "bin" / name).symlink_to(Path("..", found.relative_to(target)))


def _make(
    target: Path,
    parts: tuple[Part, ...],
    python: MinorVersion,
    interpreter: Interpreter,
    progress: Progress,
    *,
    earlier: AgentDirectory | None,
) -> None:
    with made_whole(target) as unfinished:
        lay_out_agents(unfinished, parts, python, progress, earlier=earlier)
        for part in parts:
            if part.is_python:
                compile_library(unfinished / part.name, interpreter)


def _unavailable(root: Path, error: Exception) -> Unavailable:
    return Unavailable(
        f"The agent programs can't be laid out in {root}: {error}.",
        code=ErrorCode.RUNNER_UNAVAILABLE,
        suggestion="See that there is room on the disk and that the directory may be written.",
    )
