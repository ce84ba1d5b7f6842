"""The agent programs that can be installed, each by a pinned and hashed list in `container/image/`.

What is offered is made of parts: some programs share one, such as Node. A part is a directory below
`/opt/dovecote-agents`, and the commands of all parts lie in its `bin`.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import InvalidRequest

_LISTS: Final = Path(__file__).resolve().parents[2] / "container" / "image"
_EVERY_PROGRAM: Final = "all"


@dataclass(frozen=True, kw_only=True)
class Part:
    """Something that is installed as a whole. package: whose version is shown.

    commands: by name in `bin`, where they lie below the part's directory, perhaps with a `*`.
    """

    name: str
    package: str
    commands: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_python(self) -> bool:
        """Whether it is Python packages, which fit one version of Python only; else it comes by npm."""
        return not self.commands

    @property
    def lists(self) -> tuple[Path, ...]:
        """The files that say what is installed, and with which hashes."""
        if self.is_python:
            return (_LISTS / f"requirements-{self.name}.lock",)
        return tuple(_LISTS / "npm" / self.name / name for name in ("package.json", "package-lock.json"))

    @cached_property
    def stamp(self) -> str:
        """A name for exactly what the lists say."""
        return hashlib.sha256(b"\0".join(each.read_bytes() for each in self.lists)).hexdigest()[:16]

    @cached_property
    def version(self) -> str:
        """Of the package, as the list pins it."""
        text = self.lists[-1].read_text(encoding="utf-8")
        if self.is_python:
            found = re.search(rf"^{re.escape(self.package)}==(\S+)", text, re.MULTILINE)
            return "" if found is None else found[1]
        return next(
            (
                str(entry["version"])
                for path, entry in json.loads(text)["packages"].items()
                if path.removeprefix("node_modules/").startswith(self.package)
            ),
            "",
        )


PARTS: Final[Mapping[str, Part]] = {
    part.name: part
    for part in (
        Part(name="claude", package="claude-agent-sdk"),
        Part(name="node", package="node-linux-", commands={"node": "node_modules/node-linux-*/bin/node"}),
        Part(
            name="claude-code",
            package="@agentclientprotocol/claude-agent-acp",
            commands={"claude-agent-acp": "node_modules/.bin/claude-agent-acp"},
        ),
        Part(
            name="codex",
            package="@zed-industries/codex-acp-linux-",
            commands={"codex-acp": "node_modules/@zed-industries/codex-acp-linux-*/bin/codex-acp"},
        ),
        Part(
            name="gemini",
            package="@google/gemini-cli",
            commands={"gemini": "node_modules/.bin/gemini"},
        ),
        Part(
            name="opencode",
            package="opencode-linux-",
            commands={"opencode": "node_modules/opencode-linux-*/bin/opencode"},
        ),
        Part(
            name="pi",
            package="@earendil-works/pi-coding-agent",
            commands={"pi-acp": "node_modules/.bin/pi-acp", "pi": "node_modules/.bin/pi"},
        ),
    )
}
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "claude": ("claude",),
    "claude-code": ("node", "claude-code"),
    "codex": ("codex",),
    "gemini": ("node", "gemini"),
    "opencode": ("opencode",),
    "pi": ("node", "pi"),
}
OFFERED: Final = tuple(_NEEDS)
"""What `dovecote image build --with` takes."""


def named_programs(words: str) -> tuple[str, ...]:
    """The programs that a comma-separated list names; `all` are all.

    Raises InvalidRequest, naming what is offered.
    """
    names = [word for word in (each.strip() for each in words.split(",")) if word]
    if names == [_EVERY_PROGRAM]:
        return OFFERED
    for name in names:
        if name not in _NEEDS:
            raise InvalidRequest(
                f"There is no agent program {name!r}.",
                suggestion=f"Use some of: {', '.join(OFFERED)}, or {_EVERY_PROGRAM}.",
            )
    return tuple(name for name in OFFERED if name in names)


def parts_of(programs: Iterable[str]) -> tuple[Part, ...]:
    """All that these programs need, in one order whatever theirs."""
    needed = {name for program in programs for name in _NEEDS[program]}
    return tuple(part for name, part in PARTS.items() if name in needed)


def is_complete(program: str, parts: Iterable[str]) -> bool:
    """Whether all that `program` needs is among `parts`. A program that we know nothing of never is."""
    needed = _NEEDS.get(program)
    return needed is not None and set(needed) <= set(parts)


def programs_in(parts: Iterable[str]) -> tuple[str, ...]:
    """The programs that these parts make up."""
    present = set(parts)
    return tuple(program for program in OFFERED if is_complete(program, present))


def how_to_install(program: str) -> str:
    """The command that an operator runs."""
    return f"Run: dovecote image build --with {program}"
