"""What the built-in driver answers about what it is to remember."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from container.drivers.asking_back import AskedBack, Told
from container.drivers.notes_file import NotesFile, one_line
from container.drivers.shown_text import plain

_MOST_LISTED: Final = 50


class NotesAnswers:
    """Keeps the notes of one workspace."""

    def __init__(self, workspace: Path) -> None:
        self._notes = NotesFile(workspace)

    async def remember(self, note: str) -> Told:
        """Keep a note."""
        note = one_line(note)
        if not note:
            return AskedBack(
                text="What shall I remember? For example: `remember buy milk`", go_on=self.remember
            )
        await asyncio.to_thread(self._notes.add, note)
        return f"Got it, I'll remember: **{plain(note)}**"

    async def recall(self, word: str) -> Told:
        """Say what was kept, all or what holds the word."""
        notes = await asyncio.to_thread(self._notes.all)
        found = [note for note in notes if word.casefold() in note.casefold()]
        if not notes:
            return "I don't remember anything yet. Tell me with `remember …`."
        if not found:
            return f"I remember nothing about **{plain(one_line(word))}**."
        about = f" about **{plain(one_line(word))}**" if word else ""
        return f"This is what I remember{about}:\n{_bullets(found)}"

    async def forget(self, word: str) -> Told:
        """Drop the one note that is meant."""
        if not word:
            return AskedBack(
                text="What shall I forget? For example: `forget milk`, or `forget everything`",
                go_on=self.forget,
            )
        notes = await asyncio.to_thread(self._notes.all)
        exact = [note for note in notes if note.casefold() == one_line(word).casefold()]
        found = exact or [note for note in notes if one_line(word).casefold() in note.casefold()]
        if not found:
            return f"I remember nothing about **{plain(one_line(word))}**, so there is nothing to forget."
        if len(found) > 1:
            return AskedBack(text=f"Which one? Say it in full:\n{_bullets(found)}", go_on=self.forget)
        await asyncio.to_thread(self._notes.remove, found)
        return f"Done, I forgot: **{plain(found[0])}**"

    async def forget_all(self, _: str) -> Told:
        """Drop them all."""
        notes = await asyncio.to_thread(self._notes.all)
        if not notes:
            return "There was nothing to forget."
        await asyncio.to_thread(self._notes.remove, notes)
        return f"Done, I forgot everything ({len(notes)} note{'' if len(notes) == 1 else 's'})."


def _bullets(notes: Sequence[str]) -> str:
    lines = [f"- {plain(note)}" for note in notes[:_MOST_LISTED]]
    if len(notes) > _MOST_LISTED:
        lines.append(f"- … and {len(notes) - _MOST_LISTED} more")
    return "\n".join(lines)
