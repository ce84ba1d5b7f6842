"""What an agent has acknowledged in `acks/`: read file by file, and never more than fits. Blocking.

The agent may write anything there, so each file becomes its event at once and nothing else of it is kept.
"""

from typing import Any, Final

from orchestrator.contracts.ids import TurnId, is_file_name
from orchestrator.contracts.wire.boxes import TurnAck
from orchestrator.contracts.wire.codec import WireError, from_plain, parse_json, to_plain
from orchestrator.contracts.wire.container_io import TurnEnded
from orchestrator.ipc.box_files import REQUEST_SUFFIX
from orchestrator.store.entry import Entry
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import UnsafeEntry

MAX_ACK_BYTES: Final = 64 * 1024
MAX_ACKS: Final = 1_000
MAX_ACKS_BYTES: Final = 2 * 1024 * 1024
"""Of all that are looked at: what is read of it may take ten times as much memory."""
_MAX_NAMES: Final = 10_000
_STARTED: Final = "started"


def read_acks(acks: SafeDir) -> dict[TurnId, object]:
    """The `TurnAck` or `TurnEnded` of each turn, as JSON types, oldest first.

    Left out are files of another form, of more than 64 KiB, and beyond the newest 1,000 or 2 MiB.
    Raises UnsafeEntry or OSError when the directory cannot be read.
    """
    found: dict[TurnId, object] = {}
    room = MAX_ACKS_BYTES
    for entry in _newest(acks):
        if entry.size > min(room, MAX_ACK_BYTES):
            continue
        room -= entry.size
        plain = _read(acks, entry.name)
        if plain is not None:
            found[TurnId(entry.name.removesuffix(REQUEST_SUFFIX))] = plain
    return dict(reversed(found.items()))


def prune_acks(acks: SafeDir, *, before_ns: int, max_entries: int) -> None:
    """Remove those that are never read, beyond the newest 1,000, if they were written before that time.

    An agent writes one a turn and lives as long as people write to it. Raises UnsafeEntry or OSError.
    """
    entries = [each for each in acks.entries(max_entries) if _may_be_an_ack(each.name)]
    for entry in sorted(entries, key=_written, reverse=True)[MAX_ACKS:]:
        if entry.mtime_ns < before_ns and not entry.is_dir:
            acks.remove(entry.name)


def _newest(acks: SafeDir) -> list[Entry]:
    """The files that may be acks, the newest first."""
    entries = (acks.entry(name) for name in acks.names(_MAX_NAMES)[0] if _may_be_an_ack(name))
    known = [entry for entry in entries if entry is not None]
    return sorted(known, key=_written, reverse=True)[:MAX_ACKS]


def _may_be_an_ack(name: str) -> bool:
    return name.endswith(REQUEST_SUFFIX) and is_file_name(name.removesuffix(REQUEST_SUFFIX))


def _written(entry: Entry) -> tuple[int, str]:
    return entry.mtime_ns, entry.name


def _read(acks: SafeDir, name: str) -> dict[str, Any] | None:
    try:
        plain = parse_json(acks.read(name, MAX_ACK_BYTES).raw)
        is_started = isinstance(plain, dict) and plain.get("status") == _STARTED
        event = from_plain(TurnAck, plain) if is_started else from_plain(TurnEnded, plain)
    except (UnsafeEntry, WireError):
        return None
    known: dict[str, Any] = to_plain(event)
    return known if event.turn_id == name.removesuffix(REQUEST_SUFFIX) else None
