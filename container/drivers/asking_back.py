"""A question that the built-in driver asked back: the next message of the same person may answer it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from container.drivers.builtin_words import Wish, WishKind

_NEVER_MIND: Final = frozenset({"never mind", "nevermind", "nothing", "no", "cancel", "forget it", "stop"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedBack:
    """What is asked, and how it goes on.

    go_on: what follows from an answer; None: these words are none. takes_commands: what would be a command
    may be the answer, too.
    """

    text: str
    go_on: Callable[[str], Awaitable["Told | None"]]
    takes_commands: bool = False


Told: TypeAlias = str | AskedBack
"""What is said to a message: a sentence, or a question of ours."""


class OpenQuestion:
    """The one question that is open in a conversation, at most; any next message closes it."""

    def __init__(self) -> None:
        self._asked: AskedBack | None = None
        self._who = ""

    def put(self, asked: AskedBack, who: str) -> None:
        """Somebody has been asked this."""
        self._asked, self._who = asked, who

    async def answer(self, who: str, words: str, wish: Wish) -> Told | None:
        """What follows from a message as an answer; None: it is none. wish: what it would be then."""
        asked, self._asked = self._asked, None
        if asked is None or who != self._who:
            return None
        words = words.strip()
        if words.casefold().rstrip(".! ") in _NEVER_MIND:
            return "Okay, never mind."
        if not words or (wish.kind is not WishKind.UNKNOWN and not asked.takes_commands):
            return None
        return await asked.go_on(words)
