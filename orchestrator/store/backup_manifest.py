"""What a backup holds and how it says so: its members, and the list of them that stands behind them.

A backup is a gzipped tar of paths below the home, with `manifest.json` as its last member.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any, Final

from orchestrator.contracts.errors import InvalidRequest

MANIFEST: Final = "manifest.json"
FORMAT: Final = 1
DATABASE: Final = "data/store/dovecote.db"
WHATSAPP: Final = "data/store/whatsapp.db"
DATABASES: Final = (DATABASE, WHATSAPP)
"""Copied by SQLite itself, since somebody may be writing them."""
PIECES: Final = (
    "dovecote.toml",
    "providers.toml",
    "groups",
    "data/spool",
    "data/console_files",
    "data/sessions",
    "data/workspaces",
    DATABASE,
)
"""What every backup holds, as far as it is there: the settings, and all that people and agents made."""
SECRET_PIECES: Final = ("data/store/secrets", "data/store/keys", "data/store/operator.token", WHATSAPP)
"""Whoever has these is the operator, his providers' customer and his WhatsApp account."""
MAX_MANIFEST_BYTES: Final = 256 * 1024**2
NAMED_LEFT_OUT: Final = 1_000
_PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file of a backup."""

    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What a backup does not hold: the first of its paths, and how many there are."""

    paths: tuple[str, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup says of itself. made_at: ISO 8601. schema: of the store in it; None if it has none.

    home: of what, so that it hears where copies lie; empty in those of earlier versions.
    """

    product: str
    schema: int | None
    made_at: str
    has_secrets: bool
    members: Mapping[str, Member]
    left_out: LeftOut = LeftOut()
    home: str = ""

    @property
    def size_bytes(self) -> int:
        """Of all files together, unpacked."""
        return sum(each.size_bytes for each in self.members.values())


def copy_member(read: IO[bytes], target: IO[bytes]) -> Member:
    """Copy one to its end; what the manifest says of it. Blocks. Raises OSError."""
    digest, size = hashlib.sha256(), 0
    while piece := read.read(_PIECE_BYTES):
        digest.update(piece)
        size += target.write(piece)
    return Member(sha256=digest.hexdigest(), size_bytes=size)


def to_bytes(manifest: Manifest) -> bytes:
    """As it stands in the backup."""
    plain = {
        "format": FORMAT,
        "product": manifest.product,
        "schema": manifest.schema,
        "madeAt": manifest.made_at,
        "home": manifest.home,
        "hasSecrets": manifest.has_secrets,
        "leftOut": list(manifest.left_out.paths),
        "leftOutCount": manifest.left_out.count,
        "members": {name: [each.sha256, each.size_bytes] for name, each in manifest.members.items()},
    }
    return json.dumps(plain, indent=1).encode("ascii")


def parse_manifest(raw: bytes) -> Manifest:
    """Raises InvalidRequest for what is no manifest, or one of a later kind than this version reads."""
    try:
        plain = json.loads(raw)
        if plain["format"] != FORMAT:
            raise damaged(f"it is of kind {plain['format']!r}, this Dovecote reads kind {FORMAT}")
        return _parsed(plain)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(f"its {MANIFEST} cannot be read") from error


def _parsed(plain: Mapping[str, Any]) -> Manifest:
    schema = plain["schema"]
    return Manifest(
        product=str(plain["product"]),
        schema=None if schema is None else int(schema),
        made_at=str(plain["madeAt"]),
        home=str(plain.get("home", "")),
        has_secrets=bool(plain["hasSecrets"]),
        members={
            str(name): Member(sha256=str(sha256), size_bytes=int(size))
            for name, (sha256, size) in dict(plain["members"]).items()
        },
        left_out=LeftOut(
            paths=tuple(str(each) for each in plain["leftOut"]), count=int(plain["leftOutCount"])
        ),
    )


def check_name(name: str) -> tuple[str, ...]:
    """The components of a member's name. Raises InvalidRequest unless it is a path below a piece."""
    parts = tuple(name.split("/"))
    is_plain = all(part not in ("", ".", "..") and "\0" not in part for part in parts)
    pieces = (*PIECES, *SECRET_PIECES)
    if not is_plain or not any(name == piece or name.startswith(f"{piece}/") for piece in pieces):
        raise damaged(f"it holds {name[:200]!r}, which is no place in a home")
    return parts


def damaged(why: str) -> InvalidRequest:
    """The error for a file that is no whole backup."""
    return InvalidRequest(
        f"This is no backup that can be used: {why}.",
        suggestion="Nothing was changed. Take another backup: `dovecote backup` writes them to data/backups.",
    )
