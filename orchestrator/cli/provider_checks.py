"""The doctor's look at the files of providers; whether an upstream answers is `dovecote provider check`'s."""

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.commands.setup.definitions import load_providers
from orchestrator.contracts.errors import InvalidSettings
from orchestrator.core.text_cleaning import clean_text

_WHAT = "providers"


def check_providers(patient: Patient) -> Finding:
    """All of them can be read, and the one that agents have unless they say otherwise is among them."""
    try:
        providers = load_providers(patient.paths, patient.settings)
    except InvalidSettings as error:
        return broken(_WHAT, error.message, error.suggestion)
    usual = patient.settings.agent.provider
    for name, trouble in sorted(providers.troubles.items()):
        say = broken if name == usual else doubtful
        mend = trouble.suggestion or "Mend it in providers.toml of the home, or in dovecote.toml."
        return say(_WHAT, f"The provider {name} can't be used: {clean_text(trouble.message)[:300]}", mend)
    if usual not in providers.known:
        why = f"There is no provider {usual!r}, which agent.provider names."
        return broken(_WHAT, why, "See their names: dovecote provider list")
    return well(_WHAT, f"{len(providers.known)} can be read; agents have {usual} unless they say otherwise.")
