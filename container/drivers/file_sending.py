"""What the built-in driver does when somebody asks for a file: it sends it by the tool, and says so."""

import asyncio
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from container.drivers.asking_back import AskedBack, Told
from container.drivers.file_list import list_files
from container.drivers.shown_text import plain
from container.tool_answers import ToolAnswer
from container.tools import ToolBelt

_WHICH: Final = "Which file? For example: `send file report.pdf`; `files` shows what there is."
_QUOTES: Final = "`'\"\u201c\u201d\u2018\u2019"


class FileSending:
    """Sends files of one workspace."""

    def __init__(self, belt: ToolBelt, workspace: Path) -> None:
        self._belt = belt
        self._workspace = workspace

    async def send(self, name: str) -> Told:
        """Send the file of that name, and the sentence about it."""
        wanted = name.strip().strip(_QUOTES).strip()
        if not wanted:
            return AskedBack(text=_WHICH, go_on=self.send)
        path = await asyncio.to_thread(self._meant, wanted)
        answer = await self._belt.call("send_file", {"path": path})
        shown = "`" + plain(path).replace("`", "'") + "`"
        if answer.is_error:
            return f"Sorry, I could not send {shown}. {_why(answer)} Say `files` to see what there is."
        return f"There it is: {shown}"

    def _meant(self, wanted: str) -> str:
        """The one file that somebody may mean who is not exact about folders and capitals."""
        folded = wanted.casefold()
        paths = [file.path for file in list_files(self._workspace).files]
        if wanted in paths:
            return wanted
        alike = [path for path in paths if folded in (path.casefold(), PurePosixPath(path).name.casefold())]
        return alike[0] if len(alike) == 1 else wanted


def _why(answer: ToolAnswer) -> str:
    error = answer.content.get("error")
    return str(error.get("message", "")) if isinstance(error, Mapping) else answer.text
