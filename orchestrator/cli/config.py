"""`dovecote config`: the effective settings, each with where it came from."""

import json
from collections.abc import Mapping
from pathlib import Path

from orchestrator.cli.home import Home, open_home
from orchestrator.cli.output import say_error
from orchestrator.contracts.errors import InvalidSettings
from orchestrator.paths import Paths
from orchestrator.settings.loading import LoadedSettings, home_here
from orchestrator.settings.tree import Settings, setting_fields


def print_settings(home_option: Path | None, *, as_json: bool) -> int:
    """One line a setting: name, value, origin. The exit code: 1 where some are wrong and all are at default.

    Raises InvalidSettings where that is not what was asked for, or would not help.
    """
    try:
        home, code = open_home(home_option), 0
    except InvalidSettings as error:
        if as_json or "setting" not in error.details:
            raise
        say_error(error)
        home, code = _home_of_defaults(home_option), 1
        print("# What settings there are, each with its default:", flush=True)
    _print_rows(home, as_json=as_json)
    return code


def _home_of_defaults(home_option: Path | None) -> Home:
    where = home_here(home_option)
    return Home(paths=Paths(home=where), loaded=LoadedSettings(home=where, settings=Settings()))


def _print_rows(home: Home, *, as_json: bool) -> None:
    rows = effective_settings(home)
    if as_json:
        print(json.dumps({name: {"value": v, "origin": origin} for name, v, origin in rows}, indent=2))
        return
    shown = [(name, json.dumps(value, ensure_ascii=False), origin) for name, value, origin in rows]
    name_width = max(len(name) for name, _, _ in shown)
    value_width = max(len(value) for _, value, _ in shown)
    print(f"# home: {home.paths.home}")
    for name, value, origin in shown:
        print(f"{name:<{name_width}}  {value:<{value_width}}  {origin}")


def effective_settings(home: Home) -> list[tuple[str, object, str]]:
    """Name, value as JSON and origin of every setting. A secret's value is never shown."""
    # Pydantic writes a secret as asterisks.
    tree = home.settings.model_dump(mode="json")
    rows: list[tuple[str, object, str]] = []
    for name, _ in setting_fields():
        section, _, inner = name.partition(".")
        value = tree[section][inner] if inner else tree[section]
        rows.append((name, value, _origin(name, home.loaded.origins)))
    return rows


def _origin(name: str, origins: Mapping[str, str]) -> str:
    """Where a setting came from; of a table, where the first of its entries did."""
    within = (origin for key, origin in origins.items() if key.startswith(f"{name}."))
    return origins.get(name) or next(within, "default")
