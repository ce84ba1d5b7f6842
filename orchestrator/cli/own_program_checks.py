"""The doctor's checks of the operators' own commands."""

import shutil
from typing import Final

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well

_WHAT: Final = "alerts"
_VOICE: Final = "voice"


def check_alerts(patient: Patient) -> Finding:
    """What nobody would read in the main chat reaches somebody: the program of `alerts.command` is there."""
    alerts = patient.settings.alerts
    if not alerts.command:
        if alerts.main_is_watched:
            return well(_WHAT, "Operators read the main chat; there is no alerts.command.")
        why = "Nobody watches the main chat (alerts.main_is_watched), and there is no alerts.command."
        return doubtful(_WHAT, why, "Set alerts.command to a program that tells you.")
    program = alerts.command[0]
    if shutil.which(program) is None:
        why = f"The program {program!r} of alerts.command is not there or may not be run."
        return broken(_WHAT, why, "Mend alerts.command in dovecote.toml; a full path is surest.")
    return well(_WHAT, f"{program} is told what nobody would read in the main chat.")


def check_voice(patient: Patient) -> Finding:
    """Voice messages become text, if that is wanted: the program of `voice.command` is there."""
    command = patient.settings.voice.command
    if not command:
        return well(_VOICE, "Voice messages are files for the agents; there is no voice.command.")
    if shutil.which(command[0]) is None:
        why = f"The program {command[0]!r} of voice.command is not there or may not be run."
        return broken(_VOICE, why, "Mend voice.command in dovecote.toml; a full path is surest.")
    return well(_VOICE, f"{command[0]} writes down what is said in voice messages.")
