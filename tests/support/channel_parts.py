"""What a network's channel is made with, in tests: what it tells is kept."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from orchestrator.app.parts import SystemClock
from orchestrator.channels.base import ChannelParts
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.channels import ChannelHealth, ChannelState
from orchestrator.contracts.records.groups import GroupChange
from orchestrator.contracts.records.messages import InboundMessage
from orchestrator.core.reconnects import RetryRule

SHORT: RetryRule = RetryRule(first_s=0.02, most_s=0.1)


@dataclass(slots=True, kw_only=True)
class Told:
    """What a channel said besides messages. unread: chats of which it is told that nobody reads them.

    refusals: raised at the next changes, the last first.
    """

    states: list[ChannelState] = field(default_factory=list)
    same: list[tuple[Jid, Jid]] = field(default_factory=list)
    changes: list[GroupChange] = field(default_factory=list)
    unread: set[Jid] = field(default_factory=set)
    refusals: list[Exception] = field(default_factory=list)

    @property
    def whys(self) -> list[str]:
        """The reasons that operators were given."""
        return [each.why for each in self.states if each.why]

    @property
    def healths(self) -> list[ChannelHealth]:
        """Each state once in a row."""
        found: list[ChannelHealth] = []
        for each in self.states:
            if found[-1:] != [each.health]:
                found.append(each.health)
        return found

    def parts(self, tasks: asyncio.TaskGroup) -> ChannelParts:
        """The parts that tell it."""

        async def on_state(state: ChannelState, owns: Callable[[Jid], bool]) -> None:
            self.states.append(state)

        async def on_same(pairs: Sequence[tuple[Jid, Jid]]) -> None:
            self.same.extend(pairs)

        async def on_group(channel: str, change: GroupChange) -> None:
            if self.refusals:
                raise self.refusals.pop()
            self.changes.append(change)

        async def is_read(message: InboundMessage) -> bool:
            return message.chat_jid not in self.unread

        return ChannelParts(
            tasks=tasks,
            clock=SystemClock(),
            on_state=on_state,
            on_same=on_same,
            on_group=on_group,
            is_read=is_read,
            retry=SHORT,
        )
