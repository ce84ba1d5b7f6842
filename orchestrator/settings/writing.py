"""Settings that a command writes into `dovecote.toml`, all else in it as it was."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from orchestrator.contracts.toml_text import load_toml

_HEADER: Final = re.compile(r"^[ \t]*\[[ \t]*(?P<name>[A-Za-z0-9_-]+)[ \t]*\][ \t]*(?:#.*)?$", re.MULTILINE)


def set_switches(path: Path, section: str, switches: Mapping[str, bool]) -> bool:
    """Give switches of a section these values; False, and nothing is written, where that can't be done well.

    It can't where the file is not TOML, or writes the section in a way of its own. Raises OSError.
    """
    try:
        before = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        before = ""
    except UnicodeDecodeError:
        return False
    after = with_switches(before, section, switches)
    if after is None:
        return False
    if after != before:
        unfinished = path.with_name(f".{path.name}.tmp")
        unfinished.write_text(after, encoding="utf-8")
        if path.exists():
            unfinished.chmod(path.stat().st_mode)
        unfinished.replace(path.resolve())
    return True


def with_switches(text: str, section: str, switches: Mapping[str, bool]) -> str | None:
    """The text of a TOML file in which the switches have these values; None if it can't be had that way."""
    try:
        plain = load_toml(text)
    except tomllib.TOMLDecodeError:
        return None
    wanted = {**plain, section: {**_table(plain, section), **switches}}
    if wanted == plain:
        return text
    changed = text
    for name, value in switches.items():
        changed = _with_switch(changed, section, name, value=value)
    try:
        # What was meant is what would be read: a key in a string of many lines looks like one.
        return changed if load_toml(changed) == wanted else None
    except tomllib.TOMLDecodeError:
        return None


def _table(plain: Mapping[str, object], section: str) -> Mapping[str, object]:
    found = plain.get(section, {})
    return found if isinstance(found, dict) else {}


def _with_switch(text: str, section: str, name: str, *, value: bool) -> str:
    line = f"{name} = {'true' if value else 'false'}"
    header = next((each for each in _HEADER.finditer(text) if each["name"] == section), None)
    if header is None:
        behind = "" if not text or text.endswith("\n") else "\n"
        gap = "\n" if text.strip() else ""
        return f"{text}{behind}{gap}[{section}]\n{line}\n"
    following = re.compile(r"^[ \t]*\[", re.MULTILINE).search(text, header.end())
    end = len(text) if following is None else following.start()
    body = text[header.end() : end]
    written = re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*=[ \t]*(?:true|false)", re.MULTILINE)
    body = written.sub(line, body, count=1) if written.search(body) else f"\n{line}{body}"
    return text[: header.end()] + body + text[end:]
