"""What operators hear of a chat network that is away. Cases G2, G3. Source: agents.md section 6."""

from orchestrator.commands.saying.channel_health import note_channel_state
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.channels import ChannelHealth, ChannelState
from orchestrator.contracts.seams import Topic
from orchestrator.settings.tree import AlertSettings, Settings
from orchestrator.store import alerts
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import add_group

MAIN = Jid("console:main")
WELL = "WhatsApp is connected again."
UNLINKED = "WhatsApp needs you: it was unlinked. `dovecote whatsapp link` links it again."
DOWN = "WhatsApp can't be reached again and again; I keep trying. The reason: no route."


async def note(desk: Desk, health: ChannelHealth, why: str = "") -> None:
    """The channel says how it stands."""
    state = ChannelState(name="whatsapp", title="WhatsApp", health=health, why=why)
    await note_channel_state(desk.services, state, owns=lambda jid: "@" in jid)


async def test_a_link_that_opens_wakes_who_sends_and_who_asks_for_groups(desk: Desk) -> None:
    for topic in (Topic.OUTBOX, Topic.CHATS):
        listener = desk.wakeups.listen(topic)
        await note(desk, ChannelHealth.OPEN)

        assert await listener.wait(at_most_s=30)


async def test_an_account_that_is_unlinked_is_told_once_until_it_is_linked_again(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "main", MAIN, is_main=1))

    for _ in range(3):
        await note(desk, ChannelHealth.UNLINKED, "it was unlinked")
    await note(desk, ChannelHealth.OPEN)
    await note(desk, ChannelHealth.OPEN)
    desk.clock.advance(60)
    await note(desk, ChannelHealth.UNLINKED, "it was unlinked")

    assert await desk.texts(MAIN) == [UNLINKED, WELL, UNLINKED]


async def test_a_link_that_breaks_now_and_then_is_nobodys_business(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "main", MAIN, is_main=1))

    for _ in range(3):
        await note(desk, ChannelHealth.TRYING, "the connection was lost")
        await note(desk, ChannelHealth.OPEN)

    assert await desk.texts(MAIN) == []


async def test_a_link_that_fails_again_and_again_is_told_once_with_its_reason(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "main", MAIN, is_main=1))

    await note(desk, ChannelHealth.TRYING, "no route")
    for _ in range(3):
        await note(desk, ChannelHealth.DOWN, "no route")
    await note(desk, ChannelHealth.OPEN)

    assert await desk.texts(MAIN) == [DOWN, WELL]


async def test_what_the_channel_itself_cannot_carry_goes_to_the_operators_command(desk: Desk) -> None:
    """The main chat is on the network that is away."""
    desk.set_settings(Settings(alerts=AlertSettings(command=("/bin/true",))))
    main = Jid("49170@s.whatsapp.net")
    await desk.run(lambda tx: add_group(tx, "main", main, is_main=1))

    await note(desk, ChannelHealth.UNLINKED, "it was unlinked")

    found = await desk.run(alerts.oldest)
    assert found is not None
    assert found[1] == UNLINKED
    assert await desk.texts(main) == []


async def test_the_status_names_the_trouble_until_it_is_over(desk: Desk) -> None:
    await note(desk, ChannelHealth.TRYING, "no route")
    during = dict(desk.services.troubles)
    await note(desk, ChannelHealth.OPEN)

    assert during == {"whatsapp": "no route"}
    assert dict(desk.services.troubles) == {}
