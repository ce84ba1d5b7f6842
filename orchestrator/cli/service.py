"""`dovecote service …`: the orchestrator as a service of systemd."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Final

from orchestrator.cli.home import open_home
from orchestrator.commands.keeping.service_units import (
    WITHOUT_SYSTEMD,
    Systemd,
    install,
    machine_systemd,
    service_state,
    uninstall,
    unit_for,
    user_systemd,
)
from orchestrator.contracts.errors import NotFound
from orchestrator.core.service_unit import UNIT_NAME
from orchestrator.settings.loading import home_here

_OURS: Final = "DOVECOTE_"
_KNOWN: Final = frozenset({"DOVECOTE_HOME"})


def run_install(home_option: Path | None, *, of_system: bool, only_print: bool) -> None:
    """Install and start it, or only show what would be written. Raises DovecoteError."""
    home = open_home(home_option)
    systemd = _systemd(of_system=of_system)
    place = home.paths.home
    if not place.is_dir():
        raise NotFound(
            f"There is no folder {place}.", suggestion="Make it, or name another home with --home."
        )
    text = unit_for(place, systemd, grace_s=home.settings.shutdown_grace_s, environment=os.environ)
    if only_print:
        print(text, end="")
        return
    install(place, systemd, text)
    print(f"{systemd.unit} serves {place}, now and at each boot.")
    unseen = sorted(name for name in os.environ if name.startswith(_OURS) and name not in _KNOWN)
    if unseen:
        print(f"The service does not see {', '.join(unseen)} of this shell: use dovecote.toml.")
    flag = "" if systemd.is_system else " --user"
    print(f"Its log: journalctl{flag} -u {UNIT_NAME}, and the rotated files in {home.paths.logs}.")
    _tell_of_lingering(systemd)


def run_status(*, of_system: bool, as_json: bool) -> int:
    """The exit code: 0 if it runs."""
    systemd = _systemd(of_system=of_system)
    state = service_state(systemd)
    if as_json:
        print(json.dumps(asdict(state) | {"unit": str(state.unit)}, indent=2))
    elif state.home is None:
        print(without_service(systemd))
    else:
        print(f"{state.unit} serves {state.home}: {state.active}, {state.enabled}.")
        _tell_of_lingering(systemd)
    return 0 if state.active == "active" else 1


def run_uninstall(home_option: Path | None, *, of_system: bool) -> None:
    """Stop and remove that of this home, if there is one. Raises DovecoteError."""
    systemd = _systemd(of_system=of_system)
    if uninstall(home_here(home_option), systemd):
        print(f"{systemd.unit} is gone, and what it ran has stopped. The home stays.")
    else:
        print(f"There is no service, since {systemd.unit} is not there: nothing has to be done.")


def without_service(systemd: Systemd) -> str:
    """What is said where there is none: how one is made, or what stands in for it."""
    if not systemd.is_here:
        return f"There is no service: this machine is not run by systemd. {WITHOUT_SYSTEMD}"
    flag = " --system" if systemd.is_system else ""
    return f"There is no service. Make one: dovecote service install{flag}"


def _systemd(*, of_system: bool) -> Systemd:
    return machine_systemd() if of_system else user_systemd(os.environ)


def _tell_of_lingering(systemd: Systemd) -> None:
    if service_state(systemd).is_lingering is False:
        print("It ends when you log out. To let it go on: loginctl enable-linger")
