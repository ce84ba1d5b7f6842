"""`dovecote secret …`: credentials go in, and never come out again."""

import asyncio
import getpass
import json
import sys
from pathlib import Path
from typing import Final

from orchestrator.cli.definition_lists import secrets_of
from orchestrator.cli.home import make_home, open_home
from orchestrator.cli.table import columns
from orchestrator.commands.setup.secrets import list_secrets, remove_secret, set_secret, wanted_secrets
from orchestrator.contracts.errors import DovecoteError, InvalidRequest
from orchestrator.contracts.secret_names import secret_name

_MAX_TYPED: Final = 64 * 1024


def set_one(home_option: Path | None, name: str, *, in_file: bool) -> None:
    """Keep what is typed or piped. Raises DovecoteError."""
    home = open_home(home_option)
    known = secret_name(name)
    if known not in wanted_secrets(home.paths, home.settings):
        print(f"Warning: nothing in this home asks for {known}.", file=sys.stderr)
    typed = _typed(known)
    make_home(home)
    keeping = asyncio.run(set_secret(secrets_of(home), known, typed, in_file=in_file))
    place = "the system's keyring" if keeping == "keyring" else str(home.paths.secrets)
    print(f"{known} is set, in {place}.")


def list_all(home_option: Path | None, *, as_json: bool) -> None:
    """One line a secret, without its value."""
    found = asyncio.run(list_secrets(secrets_of(open_home(home_option))))
    if as_json:
        print(json.dumps(found, indent=2))
    elif not found:
        print("No secrets are set.")
    else:
        rows = [(str(each["name"]), str(each["setAt"]), str(each["keptIn"])) for each in found]
        for line in columns(("NAME", "SET AT", "KEPT IN"), rows):
            print(line)


def remove_one(home_option: Path | None, name: str) -> None:
    """Forget it. Raises DovecoteError."""
    asyncio.run(remove_secret(secrets_of(open_home(home_option)), name))
    print(f"{secret_name(name)} is removed.")


def _typed(name: str) -> str:
    """What the operator types, without an echo, or pipes. Raises DovecoteError."""
    if sys.stdin is None:
        raise InvalidRequest("There is no standard input.", suggestion="Pipe the secret to it.")
    if not sys.stdin.isatty():
        raw = sys.stdin.buffer.read(_MAX_TYPED)
        return raw.decode("utf-8", errors="replace")
    try:
        return getpass.getpass(f"{name}: ")
    except (EOFError, KeyboardInterrupt):
        raise DovecoteError("Nothing was set.") from None
