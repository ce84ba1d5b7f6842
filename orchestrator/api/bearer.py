"""What stands in an `Authorization` header."""

from typing import Final

from orchestrator.api.operator_token import Unauthorized

_SCHEME: Final = "bearer "


def bearer_of(authorization: str | None) -> str:
    """What stands behind `Bearer`. Raises Unauthorized."""
    if authorization is None or not authorization.lower().startswith(_SCHEME):
        raise Unauthorized(
            "This call needs a credential.",
            suggestion="Send the header `Authorization: Bearer TOKEN`.",
        )
    return authorization[len(_SCHEME) :].strip()
