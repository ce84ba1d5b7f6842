"""The keys that sign session tokens: one file (0600), the newest key signs, older ones are still known.

Kept over restarts, so that running agents keep their tokens. Source: agents.md section 2.
"""

import contextlib
import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.ids import new_id
from orchestrator.contracts.os_errors import unusable
from orchestrator.store.private_files import PRIVATE, create_private, replace_private
from orchestrator.store.times import from_ms, to_ms

_SECRET_BYTES: Final = 32
_MAX_BYTES: Final = 64 * 1024
_OTHERS: Final = 0o077


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """One key of the ring."""

    key_id: str
    secret: bytes = field(repr=False)
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRing:
    """Keys, the newest last; never empty."""

    keys: tuple[SigningKey, ...]

    @property
    def newest(self) -> SigningKey:
        """The key that signs."""
        return self.keys[-1]

    @property
    def secrets(self) -> Mapping[str, bytes]:
        """Every key's secret by its id."""
        return {key.key_id: key.secret for key in self.keys}


def open_ring(path: Path, *, at: datetime) -> KeyRing:
    """The ring at `path`; a new one if there is none. Blocks. Raises DovecoteError.

    Who asks at the same time is given the same one: agents may be started while there is none yet.
    """
    while (found := _read(path)) is None:
        _write(path, KeyRing(keys=(_new_key(at),)), put=create_private)
    return found


def rotate(path: Path, *, at: datetime, every: timedelta, keep_for: timedelta) -> KeyRing:
    """The ring, with a new key once the newest is older than `every`. Blocks. Raises DovecoteError.

    keep_for: how long tokens of a key that signs no more are still good; then the key is dropped.
    """
    ring = open_ring(path, at=at)
    keys = ring.keys
    if at - ring.newest.made_at >= every:
        keys = (*keys, _new_key(at))
    successors = {key.key_id: later.made_at for key, later in pairwise(keys)}
    kept = tuple(key for key in keys if at - successors.get(key.key_id, at) < keep_for)
    if kept == ring.keys:
        return ring
    turned = KeyRing(keys=kept)
    _write(path, turned)
    return turned


def _new_key(at: datetime) -> SigningKey:
    return SigningKey(key_id=new_id("key"), secret=secrets.token_bytes(_SECRET_BYTES), made_at=at)


def _read(path: Path) -> KeyRing | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unusable(path, error) from None
    with open(descriptor, "rb") as file:
        if os.fstat(descriptor).st_mode & _OTHERS:
            with contextlib.suppress(OSError):  # not ours to mend; that others can't read it is `doctor`'s
                os.fchmod(descriptor, PRIVATE)
        raw = file.read(_MAX_BYTES)
    try:
        said = json.loads(raw)
        keys = tuple(
            SigningKey(
                key_id=str(each["id"]),
                secret=bytes.fromhex(each["secret"]),
                made_at=from_ms(int(each["made_ms"])),
            )
            for each in said["keys"]
        )
    except (ValueError, KeyError, TypeError):
        raise _damaged(path) from None
    if not keys or any(len(key.secret) != _SECRET_BYTES for key in keys):
        raise _damaged(path)
    return KeyRing(keys=keys)


def _write(path: Path, ring: KeyRing, *, put: Callable[[Path, bytes], None] = replace_private) -> None:
    keys = [
        {"id": key.key_id, "secret": key.secret.hex(), "made_ms": to_ms(key.made_at)} for key in ring.keys
    ]
    try:
        put(path, json.dumps({"keys": keys}, indent=1).encode())
    except OSError as error:
        raise unusable(path, error) from None


def _damaged(path: Path) -> Unavailable:
    return Unavailable(
        f"The key ring {path} is damaged.",
        suggestion="Remove it and start the orchestrator again: agents that run get new tokens.",
    )
