"""The doctor's checks of chat networks."""

import importlib
import importlib.util

from orchestrator.channels.whatsapp.session import linked_account
from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well

_WHAT = "whatsapp"


def check_whatsapp(patient: Patient) -> Finding:
    """If it is switched on: its library can be loaded, and an account is linked."""
    if not patient.settings.whatsapp.enabled:
        return well(_WHAT, "Switched off (whatsapp.enabled).")
    if importlib.util.find_spec("neonize") is None:
        return broken(_WHAT, "neonize is not installed.", "pip install 'dovecote[whatsapp]'")
    try:
        importlib.import_module("magic")
    except ImportError:
        return broken(_WHAT, "The system library libmagic is missing.", "apt install libmagic1")
    if linked_account(patient.paths.whatsapp_session) is None:
        return broken(_WHAT, "No account is linked.", "dovecote whatsapp link")
    waiting = sum(1 for _ in patient.paths.whatsapp_spool.glob("*.row"))
    if waiting and patient.pid is None:
        return well(_WHAT, f"Linked; {waiting} events wait for the next start.")
    bad = sum(1 for _ in (patient.paths.whatsapp_spool / "bad").glob("*.row"))
    if bad:
        mend = "Keep them for a newer Dovecote, or remove them from data/spool/whatsapp/bad."
        return doubtful(_WHAT, f"Linked; {bad} events could not be read.", mend)
    return well(_WHAT, "Linked; `dovecote whatsapp status` shows the link.")
