"""A group on WhatsApp, with the double of its child at the far end of the descriptor."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

from orchestrator.app import App, Replacements, SystemClock, running
from orchestrator.channels.whatsapp.bridge import BridgeRule, BridgeState
from orchestrator.channels.whatsapp.channel import ChannelPlan, WhatsAppChannel
from orchestrator.channels.whatsapp.formatting import to_whatsapp
from orchestrator.channels.whatsapp.pace import PaceRule
from orchestrator.cli.home import make_home
from orchestrator.cli.store_services import open_store_services
from orchestrator.commands.groups import NewGroup, add_group
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.ids import Jid
from orchestrator.core.reconnects import RetryRule
from orchestrator.core.wording import Say, say
from tests.support.eventually import eventually
from tests.support.home_on_disk import ECHO, HomeOnDisk
from tests.support.whatsapp_double import FarEnd, Fault

CHOIR = Jid("120363000000000001@g.us")


@contextlib.asynccontextmanager
async def choir(home: HomeOnDisk, far: FarEnd) -> AsyncIterator[App]:
    """An orchestrator with WhatsApp; the choir is its group."""
    opened = home.opened()
    make_home(opened)
    async with open_store_services(opened) as services:
        new = NewGroup(jid=CHOIR, folder="choir", name="Choir", adopt=True)
        await add_group(services, HostCaller(), new)

    async def on_state(state: BridgeState) -> None:
        """Nobody is told here."""

    async def on_same(pairs: object) -> None:
        """Nobody keeps it here."""

    plan = ChannelPlan(
        session=far.session,
        command=far.command,
        rule=BridgeRule(retry=RetryRule(first_s=0.05, most_s=0.2), look_s=0.05),
        pace=PaceRule(chat_per_minute=1e6, all_per_minute=1e6, jitter_s=0),
        format_text=to_whatsapp,
    )
    async with asyncio.TaskGroup() as tasks:
        channel = WhatsAppChannel(
            plan, tasks=tasks, clock=SystemClock(), on_state=on_state, on_same=on_same, random=Random(1)
        )
        parts = Replacements(channels=[channel], serves_api=False)
        async with running(opened.settings, opened.paths, replacements=parts) as app:
            yield app


async def test_a_message_in_a_group_is_answered_in_the_group(home: HomeOnDisk, open_path: Path) -> None:
    far = FarEnd(open_path / "far")
    far.link()
    home.play(ECHO, "choir")

    async with choir(home, far):
        far.write("@Assistant **hello**")
        await eventually(lambda: far.sent, what=home.story)
        await home.quiet()

    assert far.sent == ["re: @Assistant *hello*"]
    assert far.rows == []


async def test_a_text_whose_answer_was_lost_is_sent_again_once_and_says_so(
    home: HomeOnDisk, open_path: Path
) -> None:
    far = FarEnd(open_path / "far")
    far.link()
    far.set_faults(("send:", Fault.ABORT))
    home.play(ECHO, "choir")

    async with choir(home, far):
        far.write("@Assistant hello")
        await eventually(lambda: len(far.sent) == 2, what=home.story)
        await home.quiet()

    first, again = far.sent
    assert again == to_whatsapp(f"{first}\n\n{say(Say.RESENT_NOTE, 'en')}")


async def test_g3_an_account_that_is_not_linked_is_told_once_and_other_chats_go_on(home: HomeOnDisk) -> None:
    """Case G3: the whole process ended, and every other channel with it."""
    await home.add_group()
    home.set(whatsapp__enabled=True)
    home.play(ECHO)

    async with home.running() as app:
        home.ask("hello")
        await home.said("re: @Assistant hello")
        trouble = app.services.troubles["whatsapp"]
        told = "SELECT text FROM outbox WHERE chat_jid = 'console:main'"
        await eventually(lambda: home.rows(told), what=home.story)

    assert trouble == "no WhatsApp account is linked"
    assert [row["text"] for row in home.rows(told)] == [
        say(
            Say.CHANNEL_UNLINKED,
            "en",
            channel="WhatsApp",
            why="no WhatsApp account is linked",
            command="dovecote whatsapp link",
        )
    ]
