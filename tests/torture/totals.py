"""How much a row of runs was, in the words of the promise: messages, requests, kills."""

from dataclasses import dataclass

from tests.torture.bursts import LIES, noted
from tests.torture.plan import CHATS, DeedKind
from tests.torture.play import Rig
from tests.torture.script import ASKED


@dataclass(kw_only=True)
class Totals:
    """Over several runs. requests: of boxes, as the agents' own ledgers have them; helpers are not in them.

    kills: by kill -9, of orchestrators at a named point or at any instant, of processes of agents, of clerks.
    """

    messages: int = 0
    requests: int = 0
    kills: int = 0

    def add(self, rig: Rig) -> None:
        """A run more, however far it came."""
        ledger, home = rig.ledger, rig.home
        self.messages += sum(deed.kind in (DeedKind.ASK, DeedKind.CHATTER) for deed in ledger.deeds)
        self.kills += ledger.kills
        for chat in CHATS:
            self.requests += len(set(noted(home, chat, LIES)))
            self.requests += sum(each.stat().st_size for each in home.workspace(chat).glob(f"*{ASKED}"))

    def __str__(self) -> str:
        return f"{self.messages} messages, {self.requests} box requests, {self.kills} kills"
