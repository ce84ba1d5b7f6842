"""What the library's events say of the link, in words for operators."""

from dataclasses import dataclass
from typing import Any, Final

from orchestrator.channels.whatsapp.lines import LinkState

_LOGGED_OUT: Final = "WhatsApp has unlinked this device: link it again with `dovecote whatsapp link`"
_REPLACED: Final = "another program has connected with this session"
_OUTDATED: Final = "WhatsApp no longer takes this version of neonize: install a newer one"
_HOUR_S: Final = 3600.0
# Source: ConnectFailureReason of neonize: logged out, main device gone, logged out for an unknown reason.
_NO_LONGER_LINKED: Final = frozenset({2, 4, 5})
_CLIENT_OUTDATED: Final = 6
_TEMPORARILY_BARRED: Final = 3
_BARRED_FOR: Final = {
    1: "it wrote to too many people",
    2: "people blocked it",
    3: "it made too many groups",
    4: "it sent the same text too often",
    5: "it used broadcast lists",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The link's state, and why; retry_after_s: no use in trying earlier."""

    state: LinkState
    why: str = ""
    retry_after_s: float = 0.0


def verdict_of(kind: str, event: Any) -> Verdict | None:
    """What the event of this kind says of the link; None if nothing."""
    match kind:
        case "Connected":
            return Verdict(state=LinkState.OPEN)
        case "Disconnected":
            return Verdict(state=LinkState.CONNECTING, why="the connection was lost")
        case "LoggedOut":
            return Verdict(state=LinkState.AUTH_REQUIRED, why=_LOGGED_OUT)
        case "StreamReplaced":
            return Verdict(state=LinkState.FAILED, why=_REPLACED)
        case "ClientOutdated":
            return Verdict(state=LinkState.FAILED, why=_OUTDATED, retry_after_s=_HOUR_S)
        case "TemporaryBan":
            return _barred(event)
        case "ConnectFailure":
            return _not_connected(event)
        case "PairStatus" if event.Error:
            return Verdict(state=LinkState.FAILED, why=f"the phone could not be paired: {event.Error}")
        case _:
            return None


def no_connection(said: str) -> Verdict:
    """The link could not be made, or was ended: the end of the library's words is what tells something."""
    return Verdict(state=LinkState.FAILED, why=f"no connection to WhatsApp: {said.rpartition(': ')[2][:200]}")


def _barred(event: Any) -> Verdict:
    reason = _BARRED_FOR.get(event.Code, f"reason {event.Code}")
    why = f"WhatsApp has barred this account for a while: {reason}"
    return Verdict(state=LinkState.FAILED, why=why, retry_after_s=_HOUR_S)


def _not_connected(event: Any) -> Verdict:
    if event.Reason in _NO_LONGER_LINKED:
        return Verdict(state=LinkState.AUTH_REQUIRED, why=_LOGGED_OUT)
    if event.Reason == _CLIENT_OUTDATED:
        return Verdict(state=LinkState.FAILED, why=_OUTDATED, retry_after_s=_HOUR_S)
    said = event.Message or f"reason {event.Reason}"
    wait_s = _HOUR_S if event.Reason == _TEMPORARILY_BARRED else 0.0
    return Verdict(
        state=LinkState.FAILED, why=f"WhatsApp refuses the connection: {said}", retry_after_s=wait_s
    )
