"""Where the values come from: each source over the one before.

Defaults; `dovecote.toml` in the home; names of the source documents in the environment
(`CONTAINER_TIMEOUT`); `DOVECOTE_*` in the environment (`DOVECOTE_AGENT__RUNNER`).
"""

import difflib
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.os_errors import advice_for
from orchestrator.contracts.toml_text import load_toml
from orchestrator.contracts.wire.field_names import in_our_words
from orchestrator.settings.tree import Settings, is_list, is_timezone, setting_fields, what_it_must_be

FILE_NAME: Final = "dovecote.toml"
PREFIX: Final = "DOVECOTE_"
HOME_VARIABLE: Final = "DOVECOTE_HOME"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One value that was set, with where it stands."""

    value: object
    origin: str
    unit_note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSettings:
    """The settings, where each came from (`default` when absent), and what is odd but harmless."""

    home: Path
    settings: Settings
    origins: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def _from_ms(value: str) -> object:
    return float(value) / 1000 if re.fullmatch(r"\d{1,15}", value) else value


def _as_is(value: str) -> object:
    return value


ALIASES: Final[Mapping[str, tuple[str, Callable[[str], object], str]]] = {
    "ABSOLUTE_MAX_TIMEOUT": (
        "spawn.absolute_max_timeout_s",
        _from_ms,
        "ABSOLUTE_MAX_TIMEOUT is in milliseconds.",
    ),
    "ASSISTANT_NAME": ("assistant.name", _as_is, ""),
    "CONTAINER_IMAGE": ("agent.image", _as_is, ""),
    "CONTAINER_TIMEOUT": ("agent.container_timeout_s", _from_ms, "CONTAINER_TIMEOUT is in milliseconds."),
    "DOCKER_HOST": ("agent.engine_url", _as_is, ""),
    "ENABLE_RECURSIVE_SPAWN": ("spawn.enabled", _as_is, ""),
    "IDLE_TIMEOUT": ("agent.idle_timeout_s", _from_ms, "IDLE_TIMEOUT is in milliseconds."),
    "MAX_AGENTS_PER_TREE": ("spawn.max_agents_per_tree", _as_is, ""),
    "MAX_CONCURRENT_CONTAINERS": ("queue.max_running", _as_is, ""),
    "MAX_NESTING_DEPTH": ("spawn.max_depth", _as_is, ""),
}
"""Names of the source documents in the environment: the setting, how it is read, its unit."""
RENAMED: Final[Mapping[str, str]] = {"agent.driver": "agent.provider"}
"""Settings that had another name before."""
_PROVIDERS: Final = "providers."


def home_directory(option: Path | None, environment: Mapping[str, str]) -> Path:
    """The home: what was asked for, else DOVECOTE_HOME, else the working directory. Absolute."""
    named = environment.get(HOME_VARIABLE)
    return (option or Path(named or ".")).expanduser().absolute()


def home_here(option: Path | None) -> Path:
    """The home that this process is asked to work in."""
    return home_directory(option, os.environ)


def load_settings_here(home: Path) -> LoadedSettings:
    """The settings of a home with this process's own environment."""
    return load_settings(home, os.environ)


def load_settings(home: Path, environment: Mapping[str, str]) -> LoadedSettings:
    """The settings of a home. Raises InvalidSettings naming field, value, range and origin."""
    given: dict[str, Given] = {}
    timezone, warnings = _default_timezone(environment)
    given["assistant.timezone"] = timezone
    given |= _renamed(_from_file(home / FILE_NAME))
    given |= _from_aliases(environment)
    _lay_over(given, _renamed(_from_environment(environment)))
    try:
        settings = Settings(**_nested(given))
    except ValidationError as error:
        raise _refusal(error, given) from None
    origins = {key: each.origin for key, each in given.items()}
    return LoadedSettings(home=home, settings=settings, origins=origins, warnings=tuple(warnings))


def _default_timezone(environment: Mapping[str, str]) -> tuple[Given, list[str]]:
    """`TZ`, else the system's zone, else UTC; a bad `TZ` is a warning, since it is not ours alone."""
    if name := environment.get("TZ", "").removeprefix(":"):
        if is_timezone(name):
            return Given(value=name, origin="environment TZ"), []
        warning = f"TZ is {name!r}, which is not an IANA timezone; UTC is used. Set assistant.timezone."
        return Given(value="UTC", origin="default, since TZ is not a timezone"), [warning]
    name = str(Path("/etc/localtime").resolve()).partition("zoneinfo/")[2]
    if name and is_timezone(name):
        return Given(value=name, origin="system"), []
    return Given(value="UTC", origin="default"), []


def _from_file(path: Path) -> dict[str, Given]:
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            # Reading a pipe would wait for a writer, and a device may never end.
            raise InvalidSettings(
                f"{path} is a pipe, a socket or a device.", suggestion="Put a text file there, or nothing."
            )
        text = path.read_text(encoding="utf-8")
        tree = load_toml(text)
    except FileNotFoundError:
        if path.is_symlink():
            raise InvalidSettings(
                f"{path} is a link to {path.readlink()}, which is not there.",
                suggestion="Point it at the file, or remove it for the defaults.",
            ) from None
        return {}
    except OSError as error:
        raise InvalidSettings(
            f"{path} cannot be read: {error.strerror}.", suggestion=advice_for(error)
        ) from None
    except UnicodeDecodeError as error:
        raise InvalidSettings(
            f"{path} is not UTF-8: {error.reason} at byte {error.start}.", suggestion="Save it as UTF-8."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(f"{path} is not TOML: {error}.", suggestion="Mend that line.") from None
    lines = _lines_of_keys(text)
    return {
        key: Given(value=value, origin=f"{FILE_NAME} line {lines[key]}" if key in lines else FILE_NAME)
        for key, value in _leaves(tree)
    }


def _lay_over(given: dict[str, Given], later: Mapping[str, Given]) -> None:
    """A later table adds to an earlier one, name by name; everything else takes its place."""
    for key, each in later.items():
        before = given.get(key)
        if before is not None and isinstance(before.value, dict) and isinstance(each.value, dict):
            each = replace(each, value={**before.value, **each.value})
        given[key] = each


def _renamed(given: dict[str, Given]) -> dict[str, Given]:
    """What one source says, by today's names; of an old and a new one for the same thing the new counts."""
    old = {RENAMED[key]: each for key, each in given.items() if key in RENAMED}
    return old | {key: each for key, each in given.items() if key not in RENAMED}


def _leaves(tree: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            yield from ((f"{name}.{inner}", each) for inner, each in value.items())
        else:
            yield name, value


def _lines_of_keys(text: str) -> dict[str, int]:
    """Where each plainly written key stands. A key in an exotic spelling is just not found."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line):
            table = header[1] + "."
        elif key := re.match(r"\s*([\w.-]+)\s*=", line):
            lines.setdefault(table + key[1], number)
    return lines


def _from_aliases(environment: Mapping[str, str]) -> dict[str, Given]:
    return {
        key: Given(value=read(environment[name]), origin=f"environment {name}", unit_note=note)
        for name, (key, read, note) in ALIASES.items()
        if environment.get(name)
    }


def _from_environment(environment: Mapping[str, str]) -> dict[str, Given]:
    """`DOVECOTE_SECTION__NAME` and `DOVECOTE_NAME`.

    A name without a section that is not near one of ours may be anybody's, such as DOVECOTE_HOME.
    """
    fields = dict(setting_fields())
    given: dict[str, Given] = {}
    for name, value in sorted(environment.items()):
        key = name.removeprefix(PREFIX).lower().replace("__", ".", 1)
        if not name.startswith(PREFIX) or not value:
            continue
        if key.startswith(_PROVIDERS) and "__" in key:
            table, field_name = key.split("__", 1)
            one = Given(value={field_name: value}, origin=f"environment {name}")
            _lay_over(given, {table.replace("_", "-"): one})
            continue
        if "." in key or difflib.get_close_matches(key, fields, n=1, cutoff=0.85):
            read = _list_of(value) if key in fields and is_list(fields[key]) else value
            given[key] = Given(value=read, origin=f"environment {name}")
    return given


def _list_of(value: str) -> object:
    """`a, b` or `["a", "b"]`; what is no list is left for the tree to refuse."""
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return [each.strip() for each in value.split(",") if each.strip()]


def _nested(given: Mapping[str, Given]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, each in given.items():
        section, dot, name = key.partition(".")
        if not dot:
            tree[section] = each.value
        elif isinstance(tree.setdefault(section, {}), dict):
            tree[section][name] = each.value
    return tree


def _refusal(error: ValidationError, given: Mapping[str, Given]) -> InvalidSettings:
    """All faults, each setting once: a sentence, or one a line."""
    told: dict[str, InvalidSettings] = {}
    for fault in error.errors(include_url=False):
        one = _one_refusal(fault, given)
        told.setdefault(str(one.details["setting"]), one)
    first, *others = told.values()
    if not others:
        return first
    faults = [{"message": each.message, "suggestion": each.suggestion} for each in told.values()]
    return InvalidSettings(
        "\n".join([f"{len(faults)} settings are wrong:", *(f"  {each}" for each in told.values())]),
        details={**first.details, "faults": faults},
    )


def _one_refusal(first: ErrorDetails, given: Mapping[str, Given]) -> InvalidSettings:
    key = ".".join(str(part) for part in first["loc"][:2])
    if key not in given:
        key = next((longer for longer in given if longer.startswith(f"{key}.")), key)
    each = given.get(key)
    where = f" ({each.origin})" if each else ""
    message, suggestion = _sentence(key, first, where)
    note = f" {each.unit_note}" if each and each.unit_note else ""
    return InvalidSettings(
        message + note,
        suggestion=suggestion,
        details={"setting": key, "origin": each.origin if each else None},
    )


def _sentence(key: str, fault: ErrorDetails, where: str) -> tuple[str, str]:
    fields = dict(setting_fields())
    info = fields.get(key) or fields.get(key.partition(".")[0])
    if any(name.startswith(f"{key}.") for name in fields):
        return f"{key} is a section of settings, not a value{where}.", f"Write it as a table: [{key}]."
    if info is None:
        near = difflib.get_close_matches(key, fields, n=1)
        hint = f"Did you mean {near[0]}?" if near else "`dovecote config` lists the settings."
        return f"There is no setting {key}{where}.", hint
    shown = str(fault["input"])[:80]
    allowed = what_it_must_be(info)
    must = f"must be {allowed}" if allowed else _reason(fault)
    default = info.get_default(call_default_factory=True)
    default = "none" if default in (None, (), {}) else default
    suggestion = f"Change it, or remove it for the default: {default}."
    return f"The setting {key} is {shown!r}{where}, but {must}.", suggestion


def _reason(fault: ErrorDetails) -> str:
    said = in_our_words(fault["msg"])
    if said.startswith("Input should "):
        return f"must {said.removeprefix('Input should ')}"
    return f"it {said}" if said.startswith("is ") else f"is refused: {said[:1].lower()}{said[1:]}"
