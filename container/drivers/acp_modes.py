"""Which of the modes that a program reports fits what the operator allows. Source: agents.md section 4."""

from collections.abc import Mapping, Sequence
from typing import Final

from container.drivers.leave import APPROVE_ALL, APPROVE_READS, DENY_ALL

_MEDIATED: Final = ("default", "ask")
"""In these a program asks us before each tool, so that our policy decides."""
_READING: Final = ("read-only", "read_only", "readOnly", "plan", "ask")
_SHARED: Final[Mapping[str, Sequence[str]]] = {
    APPROVE_ALL: (
        "full-access",
        "full_access",
        "bypassPermissions",
        "bypass_permissions",
        "auto",
        "acceptEdits",
    ),
    APPROVE_READS: _READING,
    DENY_ALL: _READING,
}


def choose_mode(permissions: str, *, candidates: Sequence[str], reported: Sequence[str]) -> str | None:
    """The mode to set, spelled as the program reports it; None if none of them fits.

    candidates: of the provider, best first; they come before those that all programs share. Capitals do
    not count. The mode in which the program starts is as good as any other, and no better.
    """
    by_folded = {mode.casefold(): mode for mode in reversed(reported)}
    for wanted in (*candidates, *_MEDIATED, *_SHARED.get(permissions, _READING)):
        if wanted.casefold() in by_folded:
            return by_folded[wanted.casefold()]
    return None
