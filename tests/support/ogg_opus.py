"""A sound of Opus in Ogg, as RFC 7845 lays it out; what is spoken in it is nothing."""

import struct

_PER_SECOND = 48_000


def ogg_opus(*, seconds: float, skipped: int = 312) -> bytes:
    """Three pages: the head, the tags, and one of sound that ends after so many seconds."""
    head = struct.pack("<8sBBHIhB", b"OpusHead", 1, 1, skipped, 16_000, 0, 0)
    tags = struct.pack("<8sI4sI", b"OpusTags", 4, b"test", 0)
    end = round(seconds * _PER_SECOND) + skipped
    return _page(head, 0, number=0) + _page(tags, 0, number=1) + _page(b"\x00" * 40, end, number=2)


def _page(body: bytes, granule: int, *, number: int) -> bytes:
    head = struct.pack("<4sBBqIIIB", b"OggS", 0, 0, granule, 7, number, 0, 1)
    return head + bytes([len(body)]) + body
