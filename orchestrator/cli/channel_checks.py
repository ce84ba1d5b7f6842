"""The doctor's checks of chat networks."""

import importlib
import importlib.util

from orchestrator.channels.whatsapp.install_hint import LIBMAGIC, install_command
from orchestrator.channels.whatsapp.session import linked_account
from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well

_WHAT = "whatsapp"


def check_whatsapp(patient: Patient) -> Finding:
    """If it is switched on: its library can be loaded, and an account is linked."""
    is_linked = linked_account(patient.paths.whatsapp_session) is not None
    if not patient.settings.whatsapp.enabled:
        if is_linked:
            return doubtful(_WHAT, "An account is linked, but the channel is off.", "Set whatsapp.enabled.")
        return well(_WHAT, "Switched off (whatsapp.enabled).")
    if importlib.util.find_spec("neonize") is None:
        return broken(_WHAT, "neonize is not installed.", install_command())
    try:
        importlib.import_module("magic")
    except ImportError:
        return broken(_WHAT, "The system library libmagic is missing.", LIBMAGIC)
    if not is_linked:
        return broken(_WHAT, "No account is linked.", "dovecote whatsapp link")
    return _spool_finding(patient)


def _spool_finding(patient: Patient) -> Finding:
    waiting = sum(1 for _ in patient.paths.whatsapp_spool.glob("*.row"))
    if waiting and patient.pid is None:
        return well(_WHAT, f"Linked; {waiting} events wait for the next start.")
    bad = sum(1 for _ in (patient.paths.whatsapp_spool / "bad").glob("*.row"))
    if bad:
        mend = "Keep them for a newer Dovecote, or remove them from data/spool/whatsapp/bad."
        return doubtful(_WHAT, f"Linked; {bad} events could not be read or taken.", mend)
    return well(_WHAT, "Linked; `dovecote whatsapp status` shows the link.")
