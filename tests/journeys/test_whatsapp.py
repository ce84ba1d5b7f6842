"""A group on WhatsApp, with the double of its child at the far end of the descriptor."""

from pathlib import Path

from orchestrator.channels.whatsapp.formatting import to_whatsapp
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.home_on_disk import ECHO, HomeOnDisk
from tests.support.whatsapp_choir import choir
from tests.support.whatsapp_double import Fault
from tests.support.whatsapp_far_end import FarEnd


async def test_a_message_in_a_group_is_answered_in_the_group(home: HomeOnDisk, open_path: Path) -> None:
    far = FarEnd(open_path / "far")
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
