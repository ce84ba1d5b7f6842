"""Files of a chat: which path of a workspace may be meant, what a file is called, how it goes out.

Source: contracts.md sections 3 and 4.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.contracts.errors import ErrorCode, InvalidRequest
from orchestrator.contracts.records.launch import WORKSPACE_TARGET
from orchestrator.contracts.records.messages import SpooledFile
from orchestrator.contracts.wire.codec import without_lone_surrogates

MAX_PATH_CHARS: Final = 4_096
MAX_DEPTH: Final = 64
MAX_CAPTION_CHARS: Final = 1_000
"""What networks show beneath a file; a longer text goes before it, as a message of its own."""
NO_NAME: Final = "file"
_MAX_NAME_BYTES: Final = 200
_MAX_SUFFIX_CHARS: Final = 16
_SHOWN_CHARS: Final = 120
_UPLOAD_START_S: Final = 30.0
_SLOWEST_BYTES_PER_S: Final = 32 * 1024
_NOT_IN_NAMES: Final = re.compile(r'[/\\:*?"<>|\u200b\u200e\u200f\u2028\u2029]')
"""What some system or shell takes for more than a letter of a name, and what nobody sees."""


class AttachmentRefused(InvalidRequest):
    """A file that is not sent; the message says why."""

    code = ErrorCode.ATTACHMENT_REFUSED


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxPart:
    """One message of the network: a text, or a file with its caption."""

    text: str
    file: SpooledFile | None = None


def workspace_parts(path: str) -> tuple[str, ...]:
    """The names that lead from the workspace to the file that `path` means.

    path: relative to the workspace, or absolute below `/workspace/group`. Raises AttachmentRefused for
    what leads elsewhere; whether a file is there is the disk's to say.
    """
    relative = path
    if path.startswith("/"):
        below = f"{WORKSPACE_TARGET}/"
        if not path.startswith(below):
            raise _refused(path, "is not in your workspace")
        relative = path.removeprefix(below)
    parts = tuple(part for part in relative.split("/") if part not in ("", "."))
    if not parts or relative.endswith("/"):
        raise _refused(path, "names no file")
    if ".." in parts:
        raise _refused(path, "has '..' in it")
    if not _is_utf8(path):
        raise _refused(path, "is not UTF-8")
    if "\0" in path:
        raise _refused(path, "has a NUL in it")
    if len(path) > MAX_PATH_CHARS:
        raise _refused(path, f"has {len(path)} characters; {MAX_PATH_CHARS} is the limit")
    if len(parts) > MAX_DEPTH:
        raise _refused(path, f"is {len(parts)} names deep; {MAX_DEPTH} is the limit")
    return parts


def clean_file_name(name: str) -> str:
    """`name` as people may see and keep it: one component, no invisible characters, not hidden.

    At most 200 bytes; its ending is kept. What has nothing left in it is called `file`.
    """
    cleaned = _NOT_IN_NAMES.sub("_", clean_file_text(name)).strip(". ")
    stem, dot, suffix = cleaned.rpartition(".")
    if not dot or len(suffix) > _MAX_SUFFIX_CHARS:
        stem, dot, suffix = cleaned, "", ""
    room = _MAX_NAME_BYTES - len((dot + suffix).encode())
    stem = stem.encode()[:room].decode("utf-8", "ignore").rstrip(" " if dot else ". ")
    return f"{stem}{dot}{suffix}" if stem else NO_NAME


def clean_file_text(name: str) -> str:
    """`name` on one line without control characters; bytes that are not UTF-8 are replaced."""
    words = " ".join(name.encode("utf-8", "replace").decode().split())
    # Between two spaces a sign may have stood that nobody sees.
    return " ".join("".join(sign for sign in words if sign.isprintable()).split())


def numbered_name(name: str, number: int) -> str:
    """Another name for a file where `name` is taken: `a.txt` becomes `a-2.txt`."""
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}-{number}.{suffix}" if dot and stem else f"{name}-{number}"


def outbox_parts(texts: Sequence[str], files: Sequence[SpooledFile]) -> tuple[OutboxPart, ...]:
    """A text, cut already, and its files as messages of a network, in their order.

    A text that is one short part is the first file's caption.
    """
    if not files:
        return tuple(OutboxPart(text=text) for text in texts)
    is_caption = len(texts) == 1 and len(texts[0]) <= MAX_CAPTION_CHARS
    before = () if is_caption else tuple(OutboxPart(text=text) for text in texts)
    captions = (texts[0] if is_caption else "", *[""] * (len(files) - 1))
    return before + tuple(
        OutboxPart(text=caption, file=file) for caption, file in zip(captions, files, strict=True)
    )


def upload_limit_s(size_bytes: int) -> float:
    """How long a file may take on its way to a network, over a slow line."""
    return _UPLOAD_START_S + size_bytes / _SLOWEST_BYTES_PER_S


def shown_path(path: str) -> str:
    """A path for a sentence: cleaned, and cut in the middle of nowhere if it is long."""
    shown = clean_file_text(path)
    return shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"


def _is_utf8(text: str) -> bool:
    return without_lone_surrogates(text) == text


def _refused(path: str, why: str) -> AttachmentRefused:
    return AttachmentRefused(
        f"The attachment '{shown_path(path)}' {why}.",
        suggestion="Name a file in your workspace, such as 'report.pdf' or '/workspace/group/report.pdf'.",
    )
