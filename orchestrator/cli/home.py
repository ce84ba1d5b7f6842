"""The home that a command works in: its settings and paths, loaded once."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.core.wording import CATALOGUES, knows_language
from orchestrator.paths import Paths
from orchestrator.settings.loading import LoadedSettings, home_here, load_settings_here
from orchestrator.settings.tree import Settings
from orchestrator.store.instance_lock import holder_pid


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Where a command works."""

    paths: Paths
    loaded: LoadedSettings

    @property
    def settings(self) -> Settings:
        """The effective settings."""
        return self.loaded.settings

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd in the settings but harmless."""
        return (*self.loaded.warnings, *unknown_language(self.settings))


def open_home(option: Path | None) -> Home:
    """The home that was asked for; nothing is made. What is odd in its settings is said on standard error."""
    loaded = load_settings_here(home_here(option))
    home = Home(paths=Paths(home=loaded.home), loaded=loaded)
    for warning in home.warnings:
        print(f"Warning: {warning}", file=sys.stderr)
    return home


def open_home_to_ask(option: Path | None) -> Home:
    """As `open_home`, to ask whoever runs there: settings that can't be used are for the next start."""
    try:
        return open_home(option)
    except InvalidSettings:
        paths = Paths(home=home_here(option))
        if holder_pid(paths.lock) is None:
            raise
        print("Warning: the next start would fail: see dovecote config", file=sys.stderr)
        return Home(paths=paths, loaded=LoadedSettings(home=paths.home, settings=Settings()))


def make_home(home: Home) -> None:
    """Make the directories that are missing; all that this process writes is private from now on."""
    os.umask(0o077)
    home.paths.ensure()


def unknown_language(settings: Settings) -> list[str]:
    """A sentence, if Dovecote has none in the language that is set."""
    locale = settings.assistant.locale
    if knows_language(locale):
        return []
    return [
        f"assistant.locale is {locale!r}; there are sentences in {', '.join(CATALOGUES)}. English is used."
    ]
