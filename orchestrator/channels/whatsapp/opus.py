"""Spoken sound, as phones record it: Opus in an Ogg file. Source: RFC 7845."""

from typing import Final

_HEAD: Final = b"OpusHead"
_PAGE: Final = b"OggS"
_LOOK_BYTES: Final = 64
_PER_SECOND: Final = 48_000
_LONGEST_S: Final = 86_400


def is_opus(sound: bytes) -> bool:
    """Whether it is what phones play as a voice message."""
    return sound.startswith(_PAGE) and _HEAD in sound[:_LOOK_BYTES]


def seconds_of(sound: bytes) -> int:
    """How long an Opus file plays, in whole seconds, at least 1; 0 if it does not say."""
    last, head = sound.rfind(_PAGE), sound.find(_HEAD)
    if last < 0 or head < 0:
        return 0
    granule = int.from_bytes(sound[last + 6 : last + 14], "little", signed=True)
    skipped = int.from_bytes(sound[head + 10 : head + 12], "little")
    seconds = -(-(granule - skipped) // _PER_SECOND)
    return min(seconds, _LONGEST_S) if seconds > 0 else 0
