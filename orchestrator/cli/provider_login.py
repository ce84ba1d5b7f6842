"""`dovecote provider login`: for the one credential of a provider that an agent sees, where that is set."""

import os
import sys
from pathlib import Path

from orchestrator.cli.groups import at_desk
from orchestrator.cli.home import make_home, open_home
from orchestrator.commands.setup.definitions import load_providers
from orchestrator.commands.setup.provider_login import log_in, login_command, session_home


def login(home_option: Path | None, name: str, folder: str) -> int:
    """Say what a container can see then, and run the program's login. Raises DovecoteError."""
    home = open_home(home_option)
    provider = load_providers(home.paths, home.settings).named(name)
    words = login_command(provider)
    group = at_desk(home, lambda desk: desk.show(folder))
    make_home(home)
    place = session_home(home.paths, group, provider)
    print(
        f"What {words[0]} stores in {place} can be read by whatever runs in the containers of {folder}.",
        file=sys.stderr,
    )
    return log_in(home.paths, home.settings, group, provider, os.environ)
