"""The doctor's look at the service of systemd, if there is one for this home. Source: case J12."""

import os
from collections.abc import Sequence
from typing import Final

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.commands.keeping.service_units import (
    ServiceState,
    Systemd,
    machine_systemd,
    service_state,
    unit_for,
    user_systemd,
)
from orchestrator.core.service_unit import UNIT_NAME, home_of

_WHAT: Final = "service"
_COMMAND: Final = "ExecStart="


def check_service(patient: Patient) -> Finding:
    """It starts this installation, runs, and goes on when its user logs out."""
    return judge_service(patient, (user_systemd(os.environ), machine_systemd()))


def judge_service(patient: Patient, instances: Sequence[Systemd]) -> Finding:
    """The same, of these of systemd."""
    for systemd in instances:
        try:
            text = systemd.unit.read_text("utf-8", "replace")
        except OSError:
            continue
        if home_of(text) == str(patient.paths.home):
            return _judge(patient, systemd, text)
    if not any(systemd.is_here for systemd in instances):
        why = "None, since systemd does not run this machine; what keeps programs running here can start"
        return well(_WHAT, f"{why} `dovecote serve`.")
    return well(_WHAT, "None of systemd serves this home; `dovecote service install` would make one.")


def _judge(patient: Patient, systemd: Systemd, text: str) -> Finding:
    grace_s = patient.settings.shutdown_grace_s
    wanted = unit_for(patient.paths.home, systemd, grace_s=grace_s, environment=os.environ)
    if _command(text) != _command(wanted):
        why = f"{systemd.unit} starts another installation than this one: {_command(text)[:200]}"
        return broken(_WHAT, why, _install(systemd))
    return judge_state(service_state(systemd), systemd)


def judge_state(state: ServiceState, systemd: Systemd) -> Finding:
    """What systemd says of a unit that is ours. `unknown` is what it could not be asked."""
    if state.active not in ("active", "unknown"):
        words = " ".join(systemd.systemctl)
        mend = f"{words} restart {UNIT_NAME}; `dovecote service status` says more."
        return doubtful(_WHAT, f"{state.unit} is {state.active}.", mend)
    if state.enabled == "disabled":
        return doubtful(_WHAT, f"{state.unit} does not start at boot.", _install(systemd))
    if state.is_lingering is False:
        return doubtful(_WHAT, f"{state.unit} ends when this user logs out.", "loginctl enable-linger")
    return well(_WHAT, f"{state.unit} serves this home.")


def _install(systemd: Systemd) -> str:
    return f"dovecote service install{' --system' if systemd.is_system else ''}"


def _command(text: str) -> str:
    """What a unit starts."""
    found = [line for line in text.splitlines() if line.startswith(_COMMAND)]
    return found[0].removeprefix(_COMMAND) if found else ""
