"""The built-in driver answers what the host says is meant for it.

Source: contracts.md section 6, agents.md section 4.
"""

from typing import Any

import pytest

from tests.support.home_on_disk import HomeOnDisk

TO_US = {"message_id": "q", "sender_name": "Assistant", "text": "earlier", "is_ours": True}


@pytest.mark.parametrize(
    ("group", "said", "answers"),
    [
        pytest.param(
            {"trigger": "@Gardener"},
            ["echo chatter", "@Gardener echo one", "hey @Gardener echo chatter", "@gardener: echo two"],
            ["one", "two"],
            id="a word at the start",
        ),
        pytest.param(
            {"trigger": "@Gardener", "trigger_position": "anywhere"},
            ["echo chatter", "hey @Gardener echo one", "echo two @Gardener"],
            ["one", "two"],
            id="a word anywhere",
        ),
        pytest.param(
            {"trigger": r"^@(Foo|Bar)\b"},
            ["@Baz echo chatter", "@Foo echo one", "echo chatter", "@Bar: echo two"],
            ["one", "two"],
            id="an expression",
        ),
        pytest.param(
            {"trigger": "@Gardener", "requires_trigger": False},
            ["echo one", "@Gardener echo two"],
            ["one", "two"],
            id="every message",
        ),
    ],
)
async def test_exactly_the_triggers_are_answered_at_the_start_and_in_follow_ups(
    home: HomeOnDisk, group: dict[str, Any], said: list[str], answers: list[str]
) -> None:
    home.set(agent__provider="builtin")
    await home.add_group(**group)
    for text in said:
        home.say(text)

    async with home.running():
        await home.said(*answers)
        for text in said:
            home.say(text)
        await home.said(*answers, *answers)
        await home.quiet()

    assert home.texts() == [*answers, *answers]


async def test_a_reply_to_the_assistant_is_answered_without_its_name(home: HomeOnDisk) -> None:
    home.set(agent__provider="builtin")
    await home.add_group()

    async with home.running():
        home.say("echo chatter")
        home.say("echo one", quoted=TO_US)
        await home.quiet()

    assert home.texts() == ["one"]
