"""Requests that share a transaction: each stands or falls alone. Source: contracts.md section 3."""

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from orchestrator.commands.execute import Asked, execute_requests
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.ids import Jid, RequestId, TurnId
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.replies import Reply
from orchestrator.store import agents, requests
from tests.edges.commands.conftest import Desk
from tests.edges.commands.test_requests import CALLER, KEY, remember
from tests.support.store_rows import CHAT, OTHER_CHAT

_NO_SECOND_PART = """
CREATE TRIGGER no_second_part BEFORE INSERT ON outbox WHEN NEW.part = 2
BEGIN SELECT RAISE(ABORT, 'no second part'); END
"""

_NO_COMMIT = (
    "CREATE TABLE kept (jid TEXT REFERENCES groups (jid) DEFERRABLE INITIALLY DEFERRED)",
    "CREATE TRIGGER no_commit AFTER INSERT ON outbox BEGIN INSERT INTO kept VALUES ('nobody'); END",
)


def asked(number: int, text: str, *, chat: Jid = CHAT, request_id: str | None = None) -> Asked:
    """A file that asks for a text to be sent."""
    wanted = None if request_id is None else RequestId(request_id)
    return Asked(
        caller=CALLER,
        request=SendMessage(chat_jid=chat, text=text, request_id=wanted),
        key=replace(KEY, name=f"{number}.json", inode=number, sha256=text.encode().ljust(32)),
        request_id=wanted,
    )


def codes(outcomes: list[Reply | Exception]) -> list[str | None]:
    """The error of each answer; None of those that were done."""
    found: list[str | None] = []
    for outcome in outcomes:
        assert isinstance(outcome, Reply)
        found.append(None if outcome.error is None else outcome.error.code)
    return found


async def test_a_batch_is_done_in_order_and_what_is_refused_disturbs_no_other(desk: Desk) -> None:
    await desk.run(lambda tx: remember(tx, CALLER))

    outcomes = await execute_requests(
        desk.services,
        [asked(1, "one"), asked(2, "psst", chat=OTHER_CHAT), asked(3, ""), asked(4, "four")],
    )

    assert codes(outcomes) == [None, "FORBIDDEN", "INVALID_REQUEST", None]
    assert await desk.texts() == ["one", "four"]


async def test_one_that_fails_half_way_leaves_nothing_and_the_others_are_done_once(desk: Desk) -> None:
    await desk.run(lambda tx: remember(tx, CALLER))
    await desk.run(lambda tx: tx.execute(_NO_SECOND_PART))
    in_two_parts = "word " * 1_000

    before, spoilt, behind = await execute_requests(
        desk.services,
        [asked(1, "one", request_id="r"), asked(2, in_two_parts), asked(3, "one", request_id="r")],
    )

    assert isinstance(spoilt, sqlite3.IntegrityError)
    assert codes([before, behind]) == [None, None]
    assert await desk.texts() == ["one"]
    assert await desk.run(lambda tx: requests.find(tx, asked(2, in_two_parts).key)) is None


async def test_the_same_file_twice_in_a_batch_has_one_effect(desk: Desk) -> None:
    await desk.run(lambda tx: remember(tx, CALLER))

    outcomes = await execute_requests(desk.services, [asked(1, "one"), asked(1, "one")])

    assert codes(outcomes) == [None, None]
    assert await desk.texts() == ["one"]


async def test_the_same_id_twice_in_a_batch_is_answered_twice_and_done_once(desk: Desk) -> None:
    await desk.run(lambda tx: remember(tx, CALLER))

    outcomes = await execute_requests(
        desk.services,
        [asked(1, "one", request_id="r"), asked(2, "one", request_id="r"), asked(3, "other", request_id="r")],
    )

    assert codes(outcomes) == [None, None, "INVALID_REQUEST"]
    assert await desk.texts() == ["one"]


async def test_a_file_left_by_an_earlier_batch_is_known_among_new_ones(desk: Desk) -> None:
    await desk.run(lambda tx: remember(tx, CALLER))
    await execute_requests(desk.services, [asked(1, "one")])

    outcomes = await execute_requests(desk.services, [asked(2, "two"), asked(1, "one")])

    assert codes(outcomes) == [None, None]
    assert await desk.texts() == ["one", "two"]


async def test_a_file_that_is_gone_is_forgotten_with_the_next_batch(desk: Desk) -> None:
    await desk.run(lambda tx: remember(tx, CALLER))
    gone = asked(1, "one")
    await execute_requests(desk.services, [gone])

    await execute_requests(desk.services, [asked(2, "two")], gone=[gone.key])

    assert await desk.run(lambda tx: requests.find(tx, gone.key)) is None
    assert await desk.run(lambda tx: requests.find(tx, asked(2, "two").key)) is not None


async def test_each_done_request_counts_once_as_an_effect_of_the_open_turn_and_a_refused_one_does_not(
    desk: Desk,
) -> None:
    turn = TurnId("turn-1")
    await desk.run(lambda tx: remember(tx, CALLER))
    await desk.run(
        lambda tx: agents.start_turn(tx, CALLER.agent_id, turn, CHAT, at=desk.services.clock.now())
    )

    await execute_requests(
        desk.services,
        [asked(1, "one"), asked(2, "psst", chat=OTHER_CHAT), asked(3, "three"), asked(1, "one")],
    )

    found = await desk.run(lambda tx: agents.turn(tx, CALLER.agent_id, turn))
    assert found is not None
    assert found.effects == 2


class _ThreadsEnd:
    """Implements `Checkpoints`: once files are copied, no thread takes on work any more."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads

    def reached(self, name: str) -> None:
        """From here on."""
        if name == "attachments.copied":
            self._threads.shutdown(wait=False)


async def test_what_the_store_fails_of_is_said_also_where_nothing_can_be_released(desk: Desk) -> None:
    workspace = desk.services.paths.groups / "family" / "workspace"
    workspace.mkdir(parents=True)
    (workspace / "a.txt").write_text("a")
    await desk.run(lambda tx: remember(tx, CALLER))
    await desk.run(lambda tx: [tx.execute(sql) for sql in _NO_COMMIT])
    request = SendMessage(chat_jid=CHAT, text="one", attachments=("a.txt",))
    loop, threads = asyncio.get_running_loop(), ThreadPoolExecutor()
    loop.set_default_executor(threads)

    with capture_logs() as logs, pytest.raises(Unavailable, match="write"):
        await execute_requests(
            replace(desk.services, checkpoints=_ThreadsEnd(threads)),
            [replace(asked(1, "one"), request=request), asked(2, "two")],
        )
    loop.set_default_executor(ThreadPoolExecutor())

    assert [(each["event"], each["file"]) for each in logs] == [("request.not_released", "1.json")]
    assert await desk.texts() == []
