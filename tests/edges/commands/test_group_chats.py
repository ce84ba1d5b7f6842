"""Group chats that we come into and go out of."""

from collections.abc import Sequence

import pytest

from orchestrator.commands.decisions import confirm_proposal, list_proposals
from orchestrator.commands.groups.group_chats import note_group_change, take_chats
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.groups import Chat, GroupChange
from orchestrator.contracts.seams import Topic
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.settings.tree import AssistantSettings, Settings
from orchestrator.store import chats, groups, members
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import ANN, BOB, CHAT, add_group

MAIN = Jid("console:main")
CHOIR = Jid("77@g.us")


def chat(jid: Jid = CHOIR, name: str = "The Choir", people: Sequence[Jid] | None = None) -> Chat:
    """A group chat as a channel names it."""
    known = None if people is None else tuple(people)
    return Chat(jid=jid, channel="test", name=name, is_group=True, members=known)


@pytest.fixture
async def met(desk: Desk) -> Desk:
    """With a main chat, the family, and a channel that has named its groups before."""
    await desk.run(lambda tx: add_group(tx, "main", MAIN, is_main=True))
    await take_chats(desk.services, "test", [chat(CHAT, "Family")])
    return desk


async def people(desk: Desk, jid: Jid = CHOIR) -> list[Jid]:
    """Who is known to be in a chat."""
    return await desk.run(lambda tx: members.of_chat(tx, jid))


async def known(desk: Desk) -> dict[Jid, str]:
    """The chats that could be registered, or are."""
    found = await desk.run(lambda tx: chats.known(tx, count=100))
    return {each.jid: each.name for each in found}


def set_policy(desk: Desk, policy: str) -> None:
    """What is done with new chats."""
    desk.set_settings(Settings(assistant=AssistantSettings(auto_register=policy)))


async def test_j5_operators_are_asked_once_about_a_group_that_it_was_added_to(met: Desk) -> None:
    """Case J5: the bot was added to a group, and nothing happened."""
    change = GroupChange(chat_jid=CHOIR, name="The Choir", joined=(ANN,), has_us=True)

    await note_group_change(met.services, "test", change)
    await note_group_change(met.services, "test", change)
    await take_chats(met.services, "test", [chat(CHAT, "Family"), chat()])

    (asked,) = await list_proposals(met.services, count=10)
    number, effect = asked["number"], asked["effect"]
    facts = {"number": number, "name": "The Choir", "trigger": "@Assistant", "effect": effect}
    assert await met.texts(MAIN) == [say(Say.CHAT_ASKED, "en", **facts)]
    assert "> folder: the-choir" in str(effect)


async def test_j5_a_yes_makes_it_a_group_with_its_folder(met: Desk) -> None:
    await take_chats(met.services, "test", [chat(CHAT, "Family"), chat()])
    (asked,) = await list_proposals(met.services, count=10)

    ended = await confirm_proposal(met.services, OperatorCaller(), int(str(asked["number"])))

    group = await met.run(lambda tx: groups.by_jid(tx, CHOIR))
    assert ended["status"] == "confirmed"
    assert group is not None
    assert (group.folder, group.name, group.requires_trigger, group.is_main) == (
        "the-choir",
        "The Choir",
        True,
        False,
    )
    assert (met.services.paths.groups / "the-choir" / "AGENT.md").exists()


@pytest.mark.parametrize(("policy", "registered"), [("off", False), ("on", True)])
async def test_j5_off_does_nothing_and_on_answers_at_once(policy: str, registered: bool, met: Desk) -> None:
    set_policy(met, policy)

    await take_chats(met.services, "test", [chat(CHAT, "Family"), chat()])

    facts = {"name": "The Choir", "trigger": "@Assistant", "folder": "the-choir"}
    told = [say(Say.CHAT_MET, "en", **facts)] if registered else []
    assert await met.run(lambda tx: groups.is_registered(tx, CHOIR)) is registered
    assert await met.texts(MAIN) == told
    assert await list_proposals(met.services, count=10) == []
    assert (met.services.paths.groups / "the-choir").exists() is registered


async def test_the_groups_of_an_account_that_is_new_here_are_not_asked_about(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "main", MAIN, is_main=True))

    await take_chats(desk.services, "test", [chat(), chat(CHAT, "Family")])

    assert await list_proposals(desk.services, count=10) == []
    assert set(await known(desk)) == {MAIN, CHOIR, CHAT}


async def test_strangers_cannot_flood_the_main_chat_with_groups(met: Desk) -> None:
    for number in range(20):
        added = GroupChange(chat_jid=Jid(f"{number}@g.us"), name=f"Group {number}", has_us=True)
        await note_group_change(met.services, "test", added)

    assert len(await list_proposals(met.services, count=100)) == 3
    assert len(await met.texts(MAIN)) == 4
    assert (await met.texts(MAIN))[-1] == say(Say.CHATS_MANY, "en")


async def test_a_registered_group_that_threw_us_out_is_told_once_and_forgets_its_people(met: Desk) -> None:
    await met.run(lambda tx: add_group(tx, "choir", CHOIR))
    await take_chats(met.services, "test", [chat(CHAT, "Family"), chat(people=[ANN, BOB])])
    gone = GroupChange(chat_jid=CHOIR, left=(ANN,), has_us=False)

    await note_group_change(met.services, "test", gone)
    await note_group_change(met.services, "test", gone)
    await take_chats(met.services, "test", [chat(CHAT, "Family")])

    assert await met.texts(MAIN) == [say(Say.CHAT_LEFT, "en", name="Choir")]
    assert await people(met) == []


async def test_an_exit_that_no_event_told_of_is_found_when_the_groups_are_asked_for(met: Desk) -> None:
    await take_chats(met.services, "test", [chat(CHAT, "Family"), chat()])

    await take_chats(met.services, "test", [chat(CHAT, "Family")])

    assert CHOIR not in await known(met)


async def test_a_network_that_names_no_group_at_all_has_not_thrown_us_out_of_all(met: Desk) -> None:
    await take_chats(met.services, "test", [])

    assert CHAT in await known(met)


async def test_back_in_a_group_it_is_asked_about_again(met: Desk) -> None:
    for has_us in (True, False, True):
        change = GroupChange(chat_jid=CHOIR, name="The Choir", has_us=has_us)
        await note_group_change(met.services, "test", change)

    assert len(await list_proposals(met.services, count=10)) == 2


async def test_who_comes_and_goes_and_what_the_group_is_called_are_known(met: Desk) -> None:
    await take_chats(met.services, "test", [chat(people=[ANN])])

    await note_group_change(met.services, "test", GroupChange(chat_jid=CHOIR, joined=(BOB,), left=(ANN,)))
    await note_group_change(met.services, "test", GroupChange(chat_jid=CHOIR, name="Chamber\u202e choir"))

    assert await people(met) == [BOB]
    assert (await known(met))[CHOIR] == "Chamber choir"


async def test_the_network_is_asked_again_when_we_come_into_a_group(met: Desk) -> None:
    listener = met.wakeups.listen(Topic.CHATS)

    await note_group_change(met.services, "test", GroupChange(chat_jid=CHOIR, has_us=True))

    assert await listener.wait(at_most_s=30)
