"""How fast texts leave: WhatsApp bars accounts that write like machines."""

import asyncio
from dataclasses import dataclass
from random import Random
from typing import Final

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.seams import Clock, SendUnavailable
from orchestrator.core.rate_limit import Bucket, take

_MOST_CHATS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PaceRule:
    """Texts a minute and at once, to one chat and to all. jitter_s: up to so much is waited besides.

    longest_wait_s: below the outbox's limit of a send; who would wait longer is told to come again.
    """

    chat_per_minute: float = 20.0
    chat_burst: float = 5.0
    all_per_minute: float = 60.0
    all_burst: float = 10.0
    jitter_s: float = 0.8
    longest_wait_s: float = 15.0


class Pace:
    """Lets sends through at a human pace, each chat and all together."""

    def __init__(self, rule: PaceRule, clock: Clock, random: Random) -> None:
        self._rule = rule
        self._clock = clock
        self._random = random
        self._all = Bucket(tokens=rule.all_burst, at=clock.monotonic())
        self._chats: dict[Jid, Bucket] = {}

    def wait_s(self, chat: Jid) -> float:
        """0: a text to `chat` may leave now, and is counted. Else the seconds before asking again."""
        now, rule = self._clock.monotonic(), self._rule
        of_chat = self._chats.get(chat, Bucket(tokens=rule.chat_burst, at=now))
        of_chat, chat_wait_s = take(of_chat, now, per_minute=rule.chat_per_minute, burst=rule.chat_burst)
        of_all, all_wait_s = take(self._all, now, per_minute=rule.all_per_minute, burst=rule.all_burst)
        if chat_wait_s or all_wait_s:
            return max(chat_wait_s, all_wait_s)
        self._all, self._chats[chat] = of_all, of_chat
        if len(self._chats) > _MOST_CHATS:
            self._forget_full(now)
        return 0.0

    async def turn(self, chat: Jid) -> None:
        """Return when a text to `chat` may leave. Raises SendUnavailable if that is too far away."""
        waited_s = 0.0
        while (wait_s := self.wait_s(chat)) > 0:
            waited_s += wait_s
            if waited_s > self._rule.longest_wait_s:
                raise SendUnavailable("too many texts for now; WhatsApp bars accounts that write faster")
            await asyncio.sleep(wait_s)
        await asyncio.sleep(self._random.uniform(0, self._rule.jitter_s))

    def _forget_full(self, now: float) -> None:
        """A chat that nobody wrote to for a while has its whole burst again, known or not."""
        full_after_s = 60 * self._rule.chat_burst / self._rule.chat_per_minute
        self._chats = {chat: each for chat, each in self._chats.items() if now - each.at < full_after_s}
