"""How often people and bots may set the assistant off, counted in rows. Source: contracts.md section 6."""

from typing import Any

import pytest

from orchestrator.commands.keeping.retention import prune_rows
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.agents import Agent
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.settings.tree import AssistantSettings, BoundSettings, Settings
from orchestrator.store import messages
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import ANN, BOB, CHAT, OTHER_CHAT, add_group

HOUR_S = 3_600


def bound(desk: Desk, *, sender: int = 0, chat: int = 0, bots: int = 0, **assistant: Any) -> None:
    """Only these bounds."""
    limits = BoundSettings(triggers_per_sender=sender, turns_per_chat=chat, bot_turns_in_a_row=bots)
    desk.set_settings(Settings(bounds=limits, assistant=AssistantSettings(**assistant)))


async def triggers(desk: Desk, chat: Jid = CHAT) -> list[str]:
    found = await desk.run(lambda tx: messages.pending_triggers(tx, chat))
    return [each.message_id for each in found]


async def call(desk: Desk, *ids: str, **fields: Any) -> None:
    for each in ids:
        await desk.hear(each, "@Andy hello", **fields)


async def answer(desk: Desk, name: str, *, chat: Jid = CHAT) -> Agent:
    """A turn with what waits, which ends well."""
    held = await desk.start_agent(f"agent-{name}", turn=f"turn-{name}", chat=chat)
    batch = [each.message_id for each in await desk.run(lambda tx: messages.of_agent(tx, held.agent_id))]
    await desk.begin(held, *batch, turn=f"turn-{name}")
    await desk.say(held, f"answer {name}", turn=f"turn-{name}")
    await desk.end(held, *batch, turn=f"turn-{name}")
    await desk.die(held, code=0)
    return held


async def notices(desk: Desk, chat: Jid = CHAT) -> list[str]:
    return [text for text in await desk.texts(chat) if not text.startswith("answer")]


async def test_a_trigger_over_the_senders_bound_becomes_context_and_is_told_once(desk: Desk) -> None:
    bound(desk, sender=2)
    await call(desk, "a-1", "a-2", "a-3", "a-4")
    await call(desk, "b-1", sender_jid=BOB)

    batch = await desk.batch()
    assert batch is not None
    assert batch.ids == ("a-1", "a-2", "a-3", "a-4", "b-1")
    assert batch.trigger_ids == ("a-1", "a-2", "b-1")
    assert await notices(desk) == [ENGLISH[Say.BOUND_SENDER].format(name="Ann", time="01:00")]


async def test_the_bound_of_a_sender_counts_all_chats_and_each_is_told_where_it_is_met(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "garden", OTHER_CHAT))
    bound(desk, sender=2)
    await call(desk, "a-1")
    await call(desk, "a-2", chat_jid=OTHER_CHAT)

    await call(desk, "a-3")
    await call(desk, "a-4", chat_jid=OTHER_CHAT)

    assert (await triggers(desk), await triggers(desk, OTHER_CHAT)) == (["a-1"], ["a-2"])
    assert len(await notices(desk)) == len(await notices(desk, OTHER_CHAT)) == 1


async def test_it_is_silent_until_the_hour_is_over_and_then_counts_anew(desk: Desk) -> None:
    bound(desk, sender=2)
    await call(desk, "a-1", "a-2")
    desk.clock.advance(HOUR_S - 60)
    await call(desk, "a-3")
    desk.clock.advance(120)  # the first two have left the hour, the silence lasts
    await call(desk, "a-4")
    desk.clock.advance(HOUR_S - 120)
    await call(desk, "a-5", "a-6", "a-7")

    assert await triggers(desk) == ["a-1", "a-2", "a-5", "a-6"]
    assert len(await notices(desk)) == 2


async def test_the_count_and_the_silence_survive_a_restart_for_they_are_rows(desk: Desk) -> None:
    bound(desk, sender=1)
    await call(desk, "a-1", "a-2")
    await prune_rows(desk.services)

    bound(desk, sender=1)
    await call(desk, "a-3")

    assert await triggers(desk) == ["a-1"]
    assert len(await notices(desk)) == 1


async def test_what_is_over_leaves_no_row(desk: Desk) -> None:
    bound(desk, sender=1)
    await call(desk, "a-1", "a-2")

    desk.clock.advance(HOUR_S + 1)
    await prune_rows(desk.services)

    assert await desk.run(lambda tx: tx.all("SELECT 1 FROM notices WHERE incident LIKE 'bound:%'")) == []


async def test_the_turns_of_a_chat_are_bounded_whoever_sets_them_off(desk: Desk) -> None:
    bound(desk, chat=2)
    for number, sender in enumerate((ANN, BOB)):
        await call(desk, f"m-{number}", sender_jid=sender)
        await answer(desk, str(number))

    await call(desk, "m-3", sender_jid="carol@s")

    assert await triggers(desk) == []
    assert await notices(desk) == [ENGLISH[Say.BOUND_CHAT].format(time="01:00")]


async def test_neither_an_operator_nor_main_has_a_bound_and_what_he_sets_off_counts_for_nobody(
    desk: Desk,
) -> None:
    await desk.run(lambda tx: add_group(tx, "main", OTHER_CHAT, is_main=1))
    bound(desk, sender=1, chat=1, operators=(BOB,))
    for number in range(3):
        await call(desk, f"b-{number}", sender_jid=BOB)
        await answer(desk, f"b-{number}")
    await call(desk, "x-1", "x-2", "x-3", chat_jid=OTHER_CHAT, chat_is_group=True)

    await call(desk, "a-1", sender_jid="carol@s")

    assert await triggers(desk) == ["a-1"]
    assert await triggers(desk, OTHER_CHAT) == ["x-1", "x-2", "x-3"]


async def test_bots_that_answer_each_other_are_left_alone_after_a_few_turns(desk: Desk) -> None:
    bound(desk, bots=3)
    for number in range(3):
        await call(desk, f"bot-{number}", sender_jid=BOB, sender_is_bot=True)
        await answer(desk, f"bot-{number}")

    await call(desk, "bot-3", "bot-4", sender_jid=BOB, sender_is_bot=True)
    await call(desk, "ann", sender_jid=ANN)

    assert await triggers(desk) == ["ann"]
    assert await notices(desk) == [ENGLISH[Say.BOUND_BOTS].format(time="01:00")]


async def test_a_persons_turn_between_breaks_the_row_of_bots(desk: Desk) -> None:
    bound(desk, bots=2)
    for name, is_bot in (("b-1", True), ("a-1", False), ("b-2", True)):
        await call(desk, name, sender_is_bot=is_bot)
        await answer(desk, name)

    await call(desk, "b-3", sender_is_bot=True)

    assert await triggers(desk) == ["b-3"]


async def test_a_sender_is_a_bot_by_the_settings_too(desk: Desk) -> None:
    desk.set_settings(Settings(assistant=AssistantSettings(bots=(BOB,))))

    await call(desk, "bob", sender_jid=BOB)

    assert (await desk.row("bob"))["sender_role"] == "bot"


async def test_a_word_of_a_member_counts_and_one_too_many_is_done_no_more(desk: Desk) -> None:
    bound(desk, sender=2)

    for number in range(4):
        await desk.hear(f"w-{number}", "/help")

    assert await desk.texts() == [
        ENGLISH[Say.HELP_FOR_MEMBERS],
        ENGLISH[Say.HELP_FOR_MEMBERS],
        ENGLISH[Say.BOUND_SENDER].format(name="Ann", time="01:00"),
    ]
    assert set((await desk.statuses()).values()) == {"skipped"}


async def test_stop_is_never_too_much(desk: Desk) -> None:
    bound(desk, sender=1)
    await call(desk, "a-1", "a-2")

    await desk.hear("w-1", "/stop")

    assert desk.control.answers_stopped == [CHAT]


async def test_zero_is_no_bound(desk: Desk) -> None:
    bound(desk)
    await call(desk, *(f"m-{number}" for number in range(70)))

    assert len(await triggers(desk)) == 70


@pytest.mark.parametrize(("limits", "expected"), [({}, 20), ({"triggers_per_sender": 3}, 3)])
async def test_a_message_met_again_counts_once(desk: Desk, limits: dict[str, Any], expected: int) -> None:
    desk.set_settings(Settings(bounds=BoundSettings(**limits)))

    for number in range(expected):
        await call(desk, f"m-{number}", f"m-{number}", f"m-{number}")
    within = await notices(desk)
    await call(desk, "one more", "one more")

    assert len(await triggers(desk)) == expected
    assert (within, len(await notices(desk))) == ([], 1)


async def test_what_somebody_says_as_an_operator_is_not_counted_where_he_is_none(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "main", OTHER_CHAT, is_main=1))
    bound(desk, sender=2)
    for number in range(4):
        await call(desk, f"main-{number}", chat_jid=OTHER_CHAT)

    await call(desk, "a-1", "a-2", "a-3")

    assert await triggers(desk) == ["a-1", "a-2"]


async def test_the_time_carries_its_zone_where_it_is_not_the_assistants(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "garden", OTHER_CHAT, timezone="Asia/Tokyo"))
    bound(desk, sender=1)

    await call(desk, "a-1", "a-2", chat_jid=OTHER_CHAT)

    assert await notices(desk, OTHER_CHAT) == [
        ENGLISH[Say.BOUND_SENDER].format(name="Ann", time="10:00 (Asia/Tokyo)")
    ]
