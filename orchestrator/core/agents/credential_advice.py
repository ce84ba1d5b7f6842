"""Where the credentials of providers are kept, in words."""

from orchestrator.contracts.records.providers import ENV_REFERENCE, SECRET_REFERENCE, CredentialSlot


def how_to_set(slot: CredentialSlot) -> str:
    """What the operator does so that the slot has a value."""
    if slot.secret_ref.startswith(ENV_REFERENCE):
        name = slot.secret_ref.removeprefix(ENV_REFERENCE)
        return f"Start Dovecote with the variable {name} in its environment."
    return f"Set it: dovecote secret set {slot.secret_ref.removeprefix(SECRET_REFERENCE)}"
