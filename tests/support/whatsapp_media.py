"""Files of messages at the far end of the WhatsApp double: a test lays them there, its child fetches them.

They lie in `media/`, named by the message. While `media/held` exists none of them comes.
"""

import asyncio
from pathlib import Path
from typing import Final

_LOOK_S: Final = 0.02


class FarMedia:
    """The files of one far end."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "media"
        self._directory.mkdir(parents=True, exist_ok=True)

    def put(self, message_id: str, content: bytes) -> None:
        """Lay the file of a message there."""
        (self._directory / message_id).write_bytes(content)

    def hold(self) -> None:
        """Let no file come."""
        (self._directory / "held").touch()

    def release(self) -> None:
        """Let them come."""
        (self._directory / "held").unlink()

    async def fetched(self, message_id: str) -> bytes | None:
        """The file, once it may come; None if it is not there."""
        path = self._directory / message_id
        while True:
            if not (self._directory / "held").exists():
                return path.read_bytes() if path.exists() else None
            await asyncio.sleep(_LOOK_S)
