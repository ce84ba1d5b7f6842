"""WhatsApp's ids as text: `number@server`, without the device that wrote.

A person has two: the phone's (`…@s.whatsapp.net`) and a hidden one (`…@lid`). Nothing here makes one of
the other; what goes back to the library is what came from it.
"""

import re
from typing import Any, Final

from orchestrator.contracts.ids import Jid

PHONE_SERVER: Final = "s.whatsapp.net"
LID_SERVER: Final = "lid"
GROUP_SERVER: Final = "g.us"
BROADCAST_SERVER: Final = "broadcast"
NEWSLETTER_SERVER: Final = "newsletter"
BOT_SERVER: Final = "bot"
STATUS: Final = Jid(f"status@{BROADCAST_SERVER}")

_AGENT_AND_DEVICE: Final = re.compile(r"(?:[._]\d+)?(?::\d+)?$")


def jid_of(jid: Any) -> Jid | None:
    """The id that a `JID` of the library stands for; None if it is empty."""
    return Jid(f"{jid.User}@{jid.Server}") if jid.User and jid.Server else None


def jid_from_text(text: str) -> Jid | None:
    """The id that a text within a message stands for, its device left out; None if it is none."""
    user, _, server = text.partition("@")
    if not user or not server:
        return None
    is_person = server in (PHONE_SERVER, LID_SERVER)
    return Jid(f"{_AGENT_AND_DEVICE.sub('', user) if is_person else user}@{server}")


def server_of(jid: Jid) -> str:
    """What stands behind the `@`."""
    return jid.partition("@")[2]


def user_of(jid: Jid) -> str:
    """What stands before the `@`: a number, for people."""
    return jid.partition("@")[0]


def lid_and_phone(first: Jid | None, second: Jid | None) -> tuple[Jid, Jid] | None:
    """The hidden id and the phone's, if these two are one of each."""
    if first is None or second is None:
        return None
    servers = (server_of(first), server_of(second))
    if servers == (LID_SERVER, PHONE_SERVER):
        return first, second
    return (second, first) if servers == (PHONE_SERVER, LID_SERVER) else None
