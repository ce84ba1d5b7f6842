"""The directory at the far end of the WhatsApp double, as a test sees it."""

import sqlite3
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.support.file_channel import read_lines, write_json
from tests.support.whatsapp_double import Fault
from tests.support.whatsapp_media import FarMedia


def link_by_hand(session: Path, number: str, device: int = 1) -> None:
    """As if this account had been linked."""
    with closing(sqlite3.connect(session)) as opened, opened:
        opened.execute("CREATE TABLE IF NOT EXISTS whatsmeow_device (jid TEXT PRIMARY KEY, lid TEXT)")
        opened.execute("DELETE FROM whatsmeow_device")
        account = f"{number}:{device}@s.whatsapp.net"
        opened.execute("INSERT INTO whatsmeow_device VALUES (?, '9000:1@lid')", (account,))


class FarEnd:
    """The directory as a test sees it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.spool = directory / "spool"
        self.session = directory / "whatsapp.db"
        (directory / "in").mkdir(parents=True, exist_ok=True)
        self.media = FarMedia(directory)
        self._written = 0

    def command(self, descriptor: int, generation: int) -> list[str]:
        """The double's words, as a `ChildCommand`."""
        words = [sys.executable, "-m", "tests.support.whatsapp_double", str(self.directory)]
        return [*words, "--descriptor", str(descriptor), "--generation", str(generation)]

    def link(self, device: int = 1) -> None:
        """An account is linked, as another device each time."""
        link_by_hand(self.session, "4915100000000", device)

    def write(self, text: str, **more: object) -> None:
        """A person writes."""
        self._written += 1
        message = {"message_id": f"M{self._written:04}", "text": text, **more}
        write_json(self.directory / "in" / f"{self._written:06}.json", message)

    def tell(self, chat_jid: str, **more: object) -> None:
        """Something happens to a group."""
        self._written += 1
        change = {"group": {"chat_jid": chat_jid, **more}}
        write_json(self.directory / "in" / f"{self._written:06}.json", change)

    def set_groups(self, *groups: Sequence[str]) -> None:
        """The groups that the account is in, each its id, its name and its members."""
        write_json(self.directory / "groups.json", list(groups))

    def write_file(
        self, text: str, content: bytes, *, described: Mapping[str, object] | None = None, **more: object
    ) -> None:
        """A person sends a file: a photo, unless `described` says otherwise."""
        photo = {"name": "photo.jpg", "media_type": "image/jpeg", "size_bytes": len(content), "source": None}
        self.media.put(f"M{self._written + 1:04}", content)
        self.write(text, files=[{**photo, **(described or {})}], **more)

    def set_faults(self, *faults: tuple[str, Fault] | tuple[str, Fault, int]) -> None:
        """What goes wrong from now on: where, what, and how often."""
        write_json(
            self.directory / "faults.json",
            [{"at": each[0], "do": each[1], "times": each[2] if len(each) == 3 else 1} for each in faults],
        )

    @property
    def lives(self) -> list[dict[str, Any]]:
        """Each start."""
        return read_lines(self.directory / "lives.jsonl")

    @property
    def sent(self) -> list[str]:
        """The texts that the network took."""
        return [each["text"] for each in read_lines(self.directory / "sends.jsonl")]

    @property
    def is_quiet(self) -> bool:
        """Whether all that people wrote was stored, or will never be."""
        return not list((self.directory / "in").glob("*.json")) and not self.rows

    @property
    def rows(self) -> list[str]:
        """What lies in the spool."""
        return sorted(each.name for each in self.spool.glob("*.row"))
