"""How much a row of runs was, in the words of the promise: messages, requests, kills."""

from dataclasses import dataclass

from tests.torture.plan import CHATS, DeedKind, FaultKind
from tests.torture.play import Rig
from tests.torture.script import ASKED


@dataclass(kw_only=True)
class Totals:
    """Over several runs. requests: of boxes, as the agents' own ledgers have them; helpers are not in them.

    kills: ends of an orchestrator by kill -9, at a named point or at any instant, and of processes of agents.
    """

    messages: int = 0
    requests: int = 0
    kills: int = 0

    def add(self, rig: Rig) -> None:
        """A run more, however far it came."""
        ledger, home = rig.ledger, rig.home
        self.messages += sum(deed.kind in (DeedKind.ASK, DeedKind.CHATTER) for deed in ledger.deeds)
        self.kills += ledger.kills + sum(fault.kind is FaultKind.AGENT_KILLED for fault in ledger.faults)
        for chat in CHATS:
            self.requests += sum(each.stat().st_size for each in home.workspace(chat).glob(f"*{ASKED}"))

    def __str__(self) -> str:
        return f"{self.messages} messages, {self.requests} box requests, {self.kills} kills"
