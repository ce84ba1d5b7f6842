"""What a secret may be called, and what it may be."""

import re
from typing import Final

from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.records.providers import ENV_REFERENCE, SECRET_REFERENCE

_PREFIX: Final = "providers"
_PART: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_MAX_CHARS: Final = 8 * 1024


def secret_name(text: str) -> str:
    """`providers/<provider>/<slot>`, also where `secret:` stands before it. Raises InvalidRequest."""
    name = text.removeprefix(SECRET_REFERENCE)
    parts = name.split("/")
    if len(parts) == 3 and parts[0] == _PREFIX and all(_PART.fullmatch(part) for part in parts[1:]):
        return name
    raise InvalidRequest(
        f"{text[:200]!r} is no name of a secret.",
        suggestion="Names are providers/PROVIDER/SLOT, such as providers/claude/api_key; "
        "dovecote provider check PROVIDER shows the slots.",
    )


def variable_of(reference: str) -> str | None:
    """The variable that `env:NAME` names; None of another reference."""
    return reference.removeprefix(ENV_REFERENCE) if reference.startswith(ENV_REFERENCE) else None


def secret_text(text: str) -> str:
    """The credential in what somebody typed or piped. Raises InvalidRequest, which never shows it."""
    value = text.strip()
    if not value:
        raise InvalidRequest("The secret is empty.", suggestion="Type it, or pipe it to standard input.")
    if len(value) > _MAX_CHARS:
        raise InvalidRequest(f"The secret is longer than {_MAX_CHARS:,} characters.")
    if not value.isascii() or not value.isprintable():
        raise InvalidRequest(
            "The secret holds a line break or another sign that no header of a request can hold.",
            suggestion="Give the credential alone, on one line.",
        )
    return value
