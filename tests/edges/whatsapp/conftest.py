"""The WhatsApp channel with the double at the far end of the descriptor."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from orchestrator.channels.whatsapp.bridge import BridgeRule
from orchestrator.channels.whatsapp.channel import ChannelPlan, WhatsAppChannel
from orchestrator.channels.whatsapp.pace import PaceRule
from orchestrator.channels.whatsapp.process import ChildCommand
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.channels import ChannelState
from orchestrator.contracts.records.messages import InboundMessage, OutboundMessage
from orchestrator.core.reconnects import RetryRule
from tests.support.channel_parts import Told
from tests.support.whatsapp_far_end import FarEnd

CHOIR = Jid("120363000000000001@g.us")
QUICK = BridgeRule(retry=RetryRule(first_s=0.02, most_s=0.1), look_s=0.02, silence_s=60, send_within_s=60)
FAST = PaceRule(chat_per_minute=1e6, chat_burst=1e3, all_per_minute=1e6, all_burst=1e3, jitter_s=0)


@dataclass(kw_only=True)
class Desk:
    """A channel, what it handed on, and what it said of its link."""

    far: FarEnd
    channel: WhatsAppChannel
    met: list[InboundMessage] = field(default_factory=list)
    told: Told = field(default_factory=Told)

    async def inbox(self, message: InboundMessage) -> None:
        """Keep it."""
        self.met.append(message)

    @property
    def texts(self) -> list[str]:
        """What was handed on, each message once: what is handed on again is the same message."""
        return list({each.message_id: each.text for each in self.met}.values())

    @property
    def states(self) -> list[ChannelState]:
        """How the link stood, one after another."""
        return self.told.states

    @property
    def whys(self) -> list[str]:
        """The reasons that operators were given."""
        return self.told.whys


MakeDesk = Callable[..., Desk]


def to_choir(text: str, number: int = 1) -> OutboundMessage:
    """A text to the choir."""
    return OutboundMessage(chat_jid=CHOIR, text=text, outbox_id=number)


def scripted(far: FarEnd, *options: str) -> ChildCommand:
    """The real child on a scripted client, with more options of its command line."""

    def words(descriptor: int, generation: int) -> Sequence[str]:
        found = [sys.executable, "-m", "tests.support.scripted_whatsapp"]
        found += ["--descriptor", str(descriptor), "--generation", str(generation)]
        found += ["--session", str(far.session), "--spool", str(far.spool), "--beat-s", "0.2"]
        return [*found, *options]

    return words


@pytest.fixture
async def make_desk(tmp_path: Path) -> AsyncIterator[MakeDesk]:
    """Makes the desk with a linked account; its channel is closed at the end."""
    made: list[Desk] = []

    def make(
        *,
        rule: BridgeRule = QUICK,
        pace: PaceRule = FAST,
        is_linked: bool = True,
        command: ChildCommand | None = None,
        read_receipts: bool = False,
    ) -> Desk:
        far = FarEnd(tmp_path / "far")
        if is_linked:
            far.link()
        told = Told()
        plan = ChannelPlan(
            session=far.session,
            command=command or far.command,
            rule=rule,
            pace=pace,
            read_receipts=read_receipts,
        )
        channel = WhatsAppChannel(plan, told.parts(tasks), random=Random(1))
        desk = Desk(far=far, channel=channel, told=told)
        made.append(desk)
        return desk

    async with asyncio.TaskGroup() as tasks:
        yield make
        for each in made:
            await each.channel.close()


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk()
