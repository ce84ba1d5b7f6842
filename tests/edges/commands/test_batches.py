"""Which messages a turn is given."""

from dataclasses import replace

from orchestrator.commands.running.batches import give_batch
from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.records.messages import OutboxStatus, TextSource
from orchestrator.settings.tree import QueueSettings, Settings
from orchestrator.store import outbox
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT


async def fail_a_text(desk: Desk, key: str) -> None:
    def body(tx: Transaction) -> None:
        outbox.add(
            tx,
            chat_jid=CHAT,
            parts=["lost"],
            source=TextSource.PAIR,
            source_key=key,
            at=desk.now,
            status=OutboxStatus.FAILED,
        )

    await desk.run(body)


async def test_chatter_alone_waits(desk: Desk) -> None:
    await desk.hear("c-1", "just talk")

    assert await desk.batch() is None


async def test_a_trigger_brings_the_chatter_since_oldest_first_and_nothing_behind_it(desk: Desk) -> None:
    await desk.hear("c-1", "one")
    await desk.hear("m-1")
    await desk.hear("c-2", "two")
    await desk.hear("m-2")
    await desk.hear("c-3", "three")

    batch = await desk.batch()

    assert batch is not None
    assert batch.ids == ("c-1", "m-1", "c-2", "m-2")
    assert batch.trigger_ids == ("m-1", "m-2")


async def test_d_3_older_chatter_is_passed_over_and_counted_but_never_a_trigger(desk: Desk) -> None:
    """Case D-3."""
    desk.set_settings(Settings(queue=QueueSettings(batch_max_messages=3)))
    await desk.hear("m-1")
    for number in range(6):
        await desk.hear(f"c-{number}", "talk")
    await desk.hear("m-2")

    batch = await desk.batch()
    await desk.start_agent()

    assert batch is not None
    assert batch.ids == ("m-1", "c-4", "c-5", "m-2")
    assert '<omitted count="4"' in batch.xml[0]
    statuses = await desk.statuses()
    assert [name for name, status in statuses.items() if status == "skipped"] == ["c-0", "c-1", "c-2", "c-3"]
    assert [name for name, status in statuses.items() if status == "dispatched"] == list(batch.ids)


async def test_the_agent_hears_once_how_many_texts_could_not_be_delivered(desk: Desk) -> None:
    await fail_a_text(desk, "1")
    await fail_a_text(desk, "2")
    await desk.hear("m-1")
    first = await desk.batch()
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.say(held, "answer")
    await desk.end(held, "m-1")
    await desk.hear("m-2")

    second = await desk.batch()

    assert first is not None
    assert second is not None
    assert (first.undelivered, second.undelivered) == (2, 0)


async def test_word_of_a_failure_that_never_reached_the_agent_comes_with_the_next_run(desk: Desk) -> None:
    await fail_a_text(desk, "1")
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.die(held)

    again = await desk.batch()

    assert again is not None
    assert again.undelivered == 1


async def test_a_batch_that_is_no_longer_free_is_not_given_and_takes_nothing_from_anybody(
    desk: Desk,
) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.hear("m-2")
    batch = await desk.batch()
    assert batch is not None
    await desk.feed(held, turn="turn-2", stem="1-a")
    await desk.hear("m-3")
    stale = await desk.batch()
    assert stale is not None

    mixed = replace(stale, messages=(*batch.messages, *stale.messages))

    given = await desk.run(
        lambda tx: give_batch(
            tx, desk.services, mixed, agent_id=held.agent_id, turn_id=TurnId("turn-3"), input_file=None
        )
    )

    assert not given
    assert await desk.statuses() == {"m-1": "dispatched", "m-2": "dispatched", "m-3": "pending"}
