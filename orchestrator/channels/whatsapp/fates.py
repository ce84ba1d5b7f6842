"""What the library's words about a failure mean: it surely was not, it never will be, or nobody knows."""

import re
from typing import Final

from orchestrator.channels.whatsapp.lines import Fate

# Said before anything was put on the wire.
_NOT_YET: Final = (
    "websocket not connected",
    "not logged in",
    "doesn't contain a device jid",
    "failed to get group",
    "failed to get device",
    "failed to fetch",
    "failed to upload",
    "failed to dial",
    "failed to encrypt",
    "failed to refresh media connections",
)
_NEVER: Final = (
    "can't send message to unknown server",
    "unknown server",
    "recipient doesn't exist",
    "you're not participating",
    "not a participant",
    "not-authorized",
    "item-not-found",
    "message is too long",
)
# Files: what lies there is gone, is not what was sent, or was never described.
_NEVER_FETCHED: Final = (
    "download failed with status code 403",
    "download failed with status code 404",
    "download failed with status code 410",
    "hash of media",
    "invalid media hmac",
    "media download path does not start with slash",
    "no url present",
    "find any attachments",
    "unknown media type",
    "file length",
    "too short",
)
_SERVER_ERROR: Final = re.compile(r"server returned error (\d{3})")
# Slow down, and the server's own faults; any other number is about the message.
_TRY_AGAIN: Final = frozenset({429, 463, *range(500, 600)})


def fate_of(why: str) -> Fate:
    """The fate of a text whose send failed with these words; unknown where they tell nothing."""
    said = why.lower()
    if (found := _SERVER_ERROR.search(said)) is not None:
        return Fate.UNAVAILABLE if int(found[1]) in _TRY_AGAIN else Fate.REFUSED
    if any(words in said for words in _NEVER):
        return Fate.REFUSED
    if any(words in said for words in _NOT_YET):
        return Fate.UNAVAILABLE
    return Fate.UNKNOWN


def fate_of_upload(why: str) -> Fate:
    """The same of a file that could not be uploaded: then nothing was sent, whatever the words are."""
    fate = fate_of(why)
    return Fate.UNAVAILABLE if fate is Fate.UNKNOWN else fate


def is_never_fetched(why: str) -> bool:
    """Whether a file whose download failed with these words will not be there later either."""
    said = why.lower()
    return any(words in said for words in _NEVER_FETCHED)
