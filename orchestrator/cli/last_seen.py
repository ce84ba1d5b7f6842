"""Up to which text the people at the terminal have seen a chat, kept from one `dovecote chat` to the next."""

import json
import os
from pathlib import Path

from orchestrator.contracts.ids import Jid


class LastSeen:
    """Of one chat. What can't be read counts as nothing seen, what can't be written is seen again."""

    def __init__(self, path: Path, chat: Jid) -> None:
        self._path = path
        self._chat = chat

    def read(self) -> int:
        """The id of the last text; 0 if none was ever seen."""
        return self._all().get(self._chat, 0)

    def note(self, last_id: int) -> None:
        """It was shown, and all before it."""
        found = self._all()
        unfinished = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        try:
            unfinished.write_text(json.dumps(found | {self._chat: last_id}))
            unfinished.replace(self._path)
        except OSError:
            unfinished.unlink(missing_ok=True)

    def _all(self) -> dict[str, int]:
        try:
            found = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {chat: last for chat, last in found.items() if isinstance(last, int)}
