"""What people look at."""

from orchestrator.commands.chat_views import chat_position, chat_view
from orchestrator.commands.running.running_view import running_view
from orchestrator.commands.saying.delivery import claim_next, note_sent
from orchestrator.contracts.ids import MessageId
from orchestrator.contracts.records.messages import OutboxStatus, Receipt, TextSource
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.store import outbox
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT, OTHER_CHAT


async def send_all(desk: Desk) -> None:
    """The network takes all that waits."""

    def body(tx: Transaction) -> None:
        while (item := claim_next(tx, desk.services, CHAT, at=desk.now).item) is not None:
            note_sent(tx, item, Receipt(message_id=MessageId(f"net-{item.id}")), at=desk.now)

    await desk.run(body)


async def answered(desk: Desk, number: int = 1) -> None:
    """A message with its answer in the outbox."""
    await desk.hear(f"m-{number}")
    held = await desk.start_agent(f"agent-{number}", turn=f"turn-{number}")
    await desk.begin(held, f"m-{number}", turn=f"turn-{number}")
    await desk.say(held, f"answer {number}", turn=f"turn-{number}")
    await desk.end(held, f"m-{number}", turn=f"turn-{number}")


async def test_a_chat_is_quiet_when_every_message_has_its_outcome_and_every_text_has_left(desk: Desk) -> None:
    seen = [(await chat_view(desk.services, CHAT, after=0)).is_quiet]
    await desk.hear("m-1")
    seen.append((await chat_view(desk.services, CHAT, after=0)).is_quiet)
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    seen.append((await chat_view(desk.services, CHAT, after=0)).is_quiet)
    await desk.say(held, "answer")
    await desk.end(held, "m-1")
    seen.append((await chat_view(desk.services, CHAT, after=0)).is_quiet)
    await send_all(desk)

    view = await chat_view(desk.services, CHAT, after=0)

    assert seen == [True, False, False, False]
    assert view.is_quiet
    assert [each.text for each in view.texts] == ["answer"]


async def test_chatter_that_waits_for_nothing_keeps_no_chat_busy(desk: Desk) -> None:
    await desk.hear("c-1", "just talk")

    assert (await chat_view(desk.services, CHAT, after=0)).is_quiet


async def test_a_client_goes_on_where_it_stopped(desk: Desk) -> None:
    await answered(desk, 1)
    await send_all(desk)
    first = await chat_view(desk.services, CHAT, after=0)
    await answered(desk, 2)
    await send_all(desk)

    second = await chat_view(desk.services, CHAT, after=first.last_id)
    third = await chat_view(desk.services, CHAT, after=second.last_id)

    assert [each.text for each in second.texts] == ["answer 2"]
    assert (third.texts, third.last_id) == ((), second.last_id)


async def test_a_view_names_what_ended_half_way_or_was_not_delivered_since(desk: Desk) -> None:
    await answered(desk, 1)
    before = await chat_position(desk.services, CHAT)
    await desk.hear("m-2")
    held = await desk.start_agent("agent-2", turn="turn-2")
    await desk.begin(held, "m-2", turn="turn-2")
    await desk.say(held, "half", turn="turn-2")
    await desk.end(held, "m-2", turn="turn-2", status=TurnStatus.ERROR)
    await desk.run(
        lambda tx: outbox.add(
            tx,
            chat_jid=CHAT,
            parts=["lost"],
            source=TextSource.NOTICE,
            source_key="lost",
            at=desk.now,
            status=OutboxStatus.FAILED,
        )
    )

    view = await chat_view(desk.services, CHAT, after=before.last_id, after_seq=before.last_seq)
    later = await chat_view(desk.services, CHAT, after=99, after_seq=99)

    assert view.unfinished == (("m-2", "partial"),)
    assert view.undelivered == 1
    assert (later.unfinished, later.undelivered) == ((), 0)


async def test_more_texts_than_one_view_holds_are_not_quiet(desk: Desk) -> None:
    def body(tx: Transaction) -> None:
        for number in range(150):
            outbox.add(
                tx,
                chat_jid=CHAT,
                parts=[f"text {number}"],
                source=TextSource.NOTICE,
                source_key=f"{number}",
                at=desk.now,
                status=OutboxStatus.SENT,
            )

    await desk.run(body)

    first = await chat_view(desk.services, CHAT, after=0)
    rest = await chat_view(desk.services, CHAT, after=first.last_id)

    assert (len(first.texts), first.is_quiet) == (100, False)
    assert (len(rest.texts), rest.is_quiet) == (50, True)


async def test_the_status_counts_what_waits_over_all_chats(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.say(held, "half")
    await desk.hear("m-2")
    await desk.hear("elsewhere", chat_jid=OTHER_CHAT)

    status = await running_view(desk.services)

    assert [each.folder for each in status.groups] == ["family"]
    assert [each.agent_id for each in status.live_agents] == [held.agent_id]
    assert (status.messages_waiting, status.texts_waiting) == (1, 1)
