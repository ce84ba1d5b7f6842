"""A member makes the main agent wish for more than its own chat, and the operator decides.

Source: contracts.md section 4.
"""

import json
from collections.abc import Mapping

from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk

MAIN, CLUB = "file:main", "file:club"


def request(directory: str, **body: object) -> Mapping[str, object]:
    """A file in the box."""
    return {"request": {"directory": directory, "body": {"requestId": "r-1", **body}}}


async def a_main_group_with_members(home: HomeOnDisk, *steps: Mapping[str, object]) -> None:
    """Main is a group chat in which the boss and others write; its agent does these steps at each message."""
    home.set(assistant__operators=["file:boss"])
    await home.add_group("main", is_main=True)
    home.play({"default": [*steps, {"say": "asked"}]}, "main")


async def test_a_members_wish_is_done_when_the_operator_says_yes(home: HomeOnDisk) -> None:
    send = request("messages", type="message", chatJid=CLUB, text="The hall is free.")
    await a_main_group_with_members(home, send)
    await home.add_group("club")

    async with home.running():
        home.say("tell the club", chat=MAIN)
        await eventually(lambda: len(home.texts(MAIN)) == 2, what=home.story)
        asked = sorted(home.texts(MAIN))
        before = home.texts(CLUB)
        home.say("/yes 1", chat=MAIN, sender_jid="file:boss")
        await home.said("The hall is free.", chat=CLUB)
        await eventually(lambda: len(home.texts(MAIN)) == 3, what=home.story)

    assert before == []
    assert asked[0].startswith("1: the assistant of “main” wants to send a message to another chat.")
    assert "> text: The hall is free." in asked[0]
    assert home.texts(MAIN)[-1] == "1 is done (send a message to another chat)."


async def test_a_group_that_the_operator_confirmed_is_answered(home: HomeOnDisk) -> None:
    register = request(
        "tasks", type="register_group", jid="file:choir", name="Choir", folder="choir", trigger="@Assistant"
    )
    await a_main_group_with_members(home, register)

    async with home.running():
        home.say("add the choir", chat=MAIN)
        await eventually(lambda: len(home.texts(MAIN)) == 2, what=home.story)
        home.say("/yes 1", chat=MAIN, sender_jid="file:boss")
        await eventually(lambda: home.rows("SELECT 1 FROM groups WHERE folder = 'choir'"), what=home.story)
        home.ask("hello", chat="file:choir")
        await eventually(lambda: home.texts("file:choir"), what=home.story)

    assert (home.path / "groups" / "choir" / "AGENT.md").exists()


async def test_main_sees_at_once_what_its_agent_registered_and_what_the_network_has(home: HomeOnDisk) -> None:
    (home.channel / "groups.json").write_text(json.dumps([["file:choir", "Choir"], ["file:club", "Club"]]))
    register = request(
        "tasks", type="register_group", jid="file:choir", name="Choir", folder="choir", trigger="@Assistant"
    )
    await a_main_group_with_members(home, register)
    box = home.path / "data" / "ipc" / "main"

    def known() -> dict[str, bool]:
        path = box / "available_groups.json"
        groups = json.loads(path.read_text())["groups"] if path.exists() else []
        return {each["jid"]: each["isRegistered"] for each in groups}

    async with home.running():
        home.say("add the choir", chat=MAIN, sender_jid="file:boss")
        await home.said("asked", chat=MAIN)
        await eventually(
            lambda: known() == {"file:main": True, "file:choir": True, "file:club": False},
            what=lambda: (known(), home.story()),
        )
