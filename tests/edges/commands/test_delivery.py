"""The fate of an outbound text. Source: contracts.md section 6."""

from dataclasses import replace

import pytest

from orchestrator.commands.saying.delivery import (
    claim_next,
    mark_in_flight_unknown,
    note_refused,
    note_sent,
    note_unavailable,
    note_unknown,
    text_to_send,
)
from orchestrator.commands.saying.outgoing import queue_notice, queue_text
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import OutboxItem, OutboxStatus, Receipt, TextSource
from orchestrator.core.chat.splitting import split_text
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.machine import IllegalMove
from orchestrator.settings.tree import OutboxSettings, Settings
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT, OTHER_CHAT, add_group

RECEIPT = Receipt(message_id=MessageId("net-1"))
DAY_S = 24 * 3600


async def put(desk: Desk, text: str, chat: Jid = CHAT) -> None:
    await desk.run(
        lambda tx: queue_text(
            tx,
            chat=chat,
            parts=split_text(text, desk.services.text_limit(chat)),
            source=TextSource.PAIR,
            source_key=text,
            at=desk.now,
        )
    )


async def claim(desk: Desk, chat: Jid = CHAT) -> OutboxItem | None:
    return (await desk.run(lambda tx: claim_next(tx, desk.services, chat, at=desk.now))).item


async def claimed(desk: Desk) -> OutboxItem:
    item = await claim(desk)
    assert item is not None, "nothing may be sent now"
    return item


async def unavailable(desk: Desk, item: OutboxItem) -> None:
    await desk.run(lambda tx: note_unavailable(tx, desk.services, item, why="offline", at=desk.now))


async def unknown(desk: Desk, item: OutboxItem) -> None:
    await desk.run(lambda tx: note_unknown(tx, item, why="no answer", at=desk.now))


async def sent(desk: Desk, item: OutboxItem) -> None:
    await desk.run(lambda tx: note_sent(tx, item, RECEIPT, at=desk.now))


async def fates(desk: Desk, chat: Jid = CHAT) -> dict[str, str]:
    sql = "SELECT text, status FROM outbox WHERE chat_jid = ? ORDER BY id"
    rows = await desk.run(lambda tx: tx.all(sql, (chat,)))
    return {row["text"]: row["status"] for row in rows}


async def test_b11_texts_of_a_chat_leave_in_order_one_at_a_time(desk: Desk) -> None:
    """Case B11."""
    for text in ("one", "two"):
        await put(desk, text)
    first = await claimed(desk)
    while_in_flight = await claim(desk)
    await sent(desk, first)

    second = await claimed(desk)

    assert (first.text, while_in_flight, second.text) == ("one", None, "two")


async def test_a19_a_text_that_was_not_taken_is_tried_again_in_its_place(desk: Desk) -> None:
    """Case A19."""
    for text in ("one", "two"):
        await put(desk, text)
    await unavailable(desk, await claimed(desk))

    too_soon = await claim(desk)
    desk.clock.advance(2)
    again = await claimed(desk)

    assert too_soon is None
    assert (again.text, again.attempts) == ("one", 2)


async def test_tries_are_2_s_apart_doubling_up_to_5_min_and_end_after_a_day(desk: Desk) -> None:
    await put(desk, "text")
    waits = []

    while (await fates(desk))["text"] == "queued":
        await unavailable(desk, await claimed(desk))
        found = await desk.run(lambda tx: claim_next(tx, desk.services, CHAT, at=desk.now))
        if found.not_before is not None:
            waits.append((found.not_before - desk.now).total_seconds())
            desk.clock.advance(waits[-1])

    assert waits[:9] == [2, 4, 8, 16, 32, 64, 128, 256, 300]
    assert set(waits[9:]) == {300}
    assert DAY_S - 300 <= sum(waits) <= DAY_S + 300
    assert await fates(desk) == {"text": "failed"}


async def test_a_refused_text_fails_at_once_and_the_next_one_goes(desk: Desk) -> None:
    for text in ("one", "two"):
        await put(desk, text)
    item = await claimed(desk)

    await desk.run(lambda tx: note_refused(tx, desk.services, item, why="too long", at=desk.now))

    assert (await claimed(desk)).text == "two"
    assert (await fates(desk))["one"] == "failed"


async def test_the_operator_is_told_once_of_a_text_that_failed_elsewhere(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "main", OTHER_CHAT, is_main=1))
    await put(desk, "text")
    item = await claimed(desk)

    await desk.run(lambda tx: note_refused(tx, desk.services, item, why="gone", at=desk.now))

    assert await desk.texts(OTHER_CHAT) == [ENGLISH[Say.DELIVERY_FAILED].format(chat_name="Family")]
    assert await desk.texts(CHAT) == ["text"]


async def test_what_fails_in_the_main_chat_is_not_told_there(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "main", OTHER_CHAT, is_main=1))
    await put(desk, "text", OTHER_CHAT)
    item = await claim(desk, OTHER_CHAT)
    assert item is not None

    await desk.run(lambda tx: note_refused(tx, desk.services, item, why="gone", at=desk.now))

    assert await desk.texts(OTHER_CHAT) == ["text"]


async def test_an_unknown_text_keeps_its_place_is_sent_once_more_and_says_so(desk: Desk) -> None:
    for text in ("one", "two"):
        await put(desk, text)
    await unknown(desk, await claimed(desk))

    again = await claimed(desk)

    shown = text_to_send(desk.services, again, locale="en", at=desk.now)
    assert (again.text, again.was_resent) == ("one", True)
    assert shown == f"one\n\n{ENGLISH[Say.RESENT_NOTE]}"


async def test_a_second_unknown_is_a_failure_and_the_next_text_goes(desk: Desk) -> None:
    for text in ("one", "two"):
        await put(desk, text)
    await unknown(desk, await claimed(desk))
    await unknown(desk, await claimed(desk))

    next_item = await claimed(desk)

    assert next_item.text == "two"
    assert await fates(desk) == {"one": "failed", "two": "sending"}


async def test_with_hold_an_unknown_text_waits_an_hour_for_the_operator_then_is_sent_again(
    desk: Desk,
) -> None:
    desk.set_settings(Settings(outbox=OutboxSettings(on_unknown_send="hold")))
    for text in ("one", "two"):
        await put(desk, text)
    await unknown(desk, await claimed(desk))

    found = await desk.run(lambda tx: claim_next(tx, desk.services, CHAT, at=desk.now))
    desk.clock.advance(3600)
    again = await claimed(desk)

    assert found.item is None
    assert found.not_before == desk.now
    assert (again.text, again.was_resent) == ("one", True)


async def test_a_wall_clock_that_is_set_back_holds_up_no_text_that_backs_off(desk: Desk) -> None:
    await put(desk, "text")
    await unavailable(desk, await claimed(desk))

    desk.clock.set_wall_back(30 * DAY_S)

    assert (await claimed(desk)).text == "text"


async def test_a_wall_clock_that_is_set_back_lengthens_no_hold_of_an_unknown_text(desk: Desk) -> None:
    desk.set_settings(Settings(outbox=OutboxSettings(on_unknown_send="hold")))
    await put(desk, "text")
    await unknown(desk, await claimed(desk))

    desk.clock.set_wall_back(DAY_S)

    assert (await claimed(desk)).was_resent


async def test_what_an_earlier_process_was_sending_is_unknown_at_a_start(desk: Desk) -> None:
    for text in ("one", "two"):
        await put(desk, text)
    await claimed(desk)

    forgotten = await desk.run(lambda tx: mark_in_flight_unknown(tx, at=desk.now))

    assert [each.text for each in forgotten] == ["one"]
    assert await fates(desk) == {"one": "unknown", "two": "queued"}


async def test_a_text_older_than_6_h_carries_its_time(desk: Desk) -> None:
    await put(desk, "text")
    item = await claimed(desk)

    early = text_to_send(desk.services, item, locale="en", at=desk.later(6 * 3600 - 1))
    late = text_to_send(desk.services, item, locale="en", at=desk.later(6 * 3600))

    assert early == "text"
    assert late == "[from 2026-01-01 00:00 UTC] text"


async def test_only_the_first_part_carries_the_time(desk: Desk) -> None:
    await put(desk, "a" * 3_000 + "\n\n" + "b" * 3_000)
    first = await claimed(desk)
    await sent(desk, first)
    second = await claimed(desk)

    shown = [text_to_send(desk.services, each, locale="en", at=desk.later(DAY_S)) for each in (first, second)]

    assert (first.parts, second.part) == (2, 2)
    assert [each.startswith("[from ") for each in shown] == [True, False]


async def test_a_text_that_fills_its_message_goes_out_bare(desk: Desk) -> None:
    await put(desk, "x" * 4_000)
    await unknown(desk, await claimed(desk))
    item = await claimed(desk)

    shown = text_to_send(desk.services, item, locale="en", at=desk.later(DAY_S))

    assert shown == "x" * 4_000


async def test_a_text_that_was_sent_has_no_other_fate(desk: Desk) -> None:
    await put(desk, "text")
    item = await claimed(desk)
    await sent(desk, item)

    await unavailable(desk, item)

    assert await fates(desk) == {"text": "sent"}


async def test_a_fate_that_the_table_does_not_know_is_a_fault(desk: Desk) -> None:
    await put(desk, "text")
    item = replace(await claimed(desk), status=OutboxStatus.SENT)

    with pytest.raises(IllegalMove):
        await desk.run(lambda tx: note_refused(tx, desk.services, item, why="late", at=desk.now))


async def test_a_notice_is_said_once_an_incident_in_the_groups_language(desk: Desk) -> None:
    async def tell(incident: str) -> bool:
        return await desk.run(
            lambda tx: queue_notice(
                tx, desk.services, chat=CHAT, what=Say.STOPPED, incident=incident, at=desk.now
            )
        )

    said = [await tell("a"), await tell("a"), await tell("b")]

    assert said == [True, False, True]
    assert await desk.texts() == [ENGLISH[Say.STOPPED]] * 2
