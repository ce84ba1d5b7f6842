"""What happens to groups reaches the orchestrator, over the double and over the real child."""

import json
from pathlib import Path

import pytest

from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.groups import Chat, GroupChange
from tests.edges.whatsapp.conftest import CHOIR, Desk, MakeDesk, scripted
from tests.support.eventually import eventually
from tests.support.file_channel import write_json

ANN, BEN = Jid("98765@lid"), Jid("4917100000002@s.whatsapp.net")
OURS = Jid("4915100000000@s.whatsapp.net")


@pytest.fixture
def real_desk(make_desk: MakeDesk) -> Desk:
    """The whole channel over the real child."""
    pytest.importorskip("magic", exc_type=ImportError)
    return make_desk(command=scripted(make_desk().far))


def tell(directory: Path, number: int, plain: object) -> None:
    """An event of the network."""
    write_json(directory / "in" / f"{number:06}.json", plain)


async def test_who_comes_and_goes_is_told_and_is_a_message_that_wakes_nobody(real_desk: Desk) -> None:
    tell(real_desk.far.directory, 1, {"info": {"chat": CHOIR, "Join": [BEN], "Leave": [ANN]}})
    tell(real_desk.far.directory, 2, {"info": {"chat": CHOIR, "Leave": [OURS]}})

    await real_desk.channel.connect(real_desk.inbox)
    await eventually(lambda: len(real_desk.met) == 2 and not real_desk.far.rows)

    assert real_desk.told.changes == [
        GroupChange(chat_jid=CHOIR, joined=(BEN,), left=(ANN,)),
        GroupChange(chat_jid=CHOIR, left=(OURS,), has_us=False),
    ]
    assert [each.is_context_only for each in real_desk.met] == [True, True]


async def test_a_group_that_we_were_added_to_is_told_and_is_no_message(real_desk: Desk) -> None:
    tell(real_desk.far.directory, 1, {"joined": [CHOIR, "The Choir", ANN, OURS]})

    await real_desk.channel.connect(real_desk.inbox)
    await eventually(lambda: real_desk.told.changes and not real_desk.far.rows)

    added = GroupChange(chat_jid=CHOIR, name="The Choir", joined=(ANN, OURS), has_us=True)
    assert real_desk.told.changes == [added]
    assert real_desk.met == []


async def test_news_of_a_group_that_can_not_be_stored_now_are_told_again(desk: Desk) -> None:
    desk.told.refusals.append(Unavailable("The disk is full."))
    desk.far.tell(CHOIR, name="The Choir", has_us=True)

    await desk.channel.connect(desk.inbox)
    await eventually(lambda: desk.told.changes and not desk.far.rows)

    assert desk.told.refusals == []
    assert [each.name for each in desk.told.changes] == ["The Choir"]


async def test_the_groups_of_the_account_come_with_their_people(real_desk: Desk) -> None:
    real_desk.far.set_groups((CHOIR, "The Choir", ANN, BEN), ("1204@g.us", "Chess"))
    await real_desk.channel.connect(real_desk.inbox)

    found = await real_desk.channel.fetch_groups()

    assert found == [
        Chat(jid=CHOIR, channel="whatsapp", name="The Choir", is_group=True, members=(ANN, BEN)),
        Chat(jid=Jid("1204@g.us"), channel="whatsapp", name="Chess", is_group=True),
    ]


async def test_many_large_groups_fit_although_a_line_has_its_limit(desk: Desk) -> None:
    people = [f"4917{number:08}@s.whatsapp.net" for number in range(1_000)]
    desk.far.set_groups(*((f"{number}@g.us", f"Group {number}", *people) for number in range(200)))
    await desk.channel.connect(desk.inbox)

    found = await desk.channel.fetch_groups()

    assert len(found) == 200
    assert {len(each.members or ()) for each in found} == {1_000}
    assert len(json.dumps(people)) * 200 > 4 * 1024**2


async def test_a_network_that_cannot_name_its_groups_says_so(real_desk: Desk) -> None:
    write_json(real_desk.far.directory / "groups.json", None)
    await real_desk.channel.connect(real_desk.inbox)

    with pytest.raises(Unavailable, match="cannot be asked now"):
        await real_desk.channel.fetch_groups()
