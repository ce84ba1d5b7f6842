"""Requests of boxes, known by their key and by their id."""

import sqlite3
from dataclasses import replace
from datetime import timedelta

import pytest

from orchestrator.contracts.ids import AgentId, BoxName, RequestId
from orchestrator.contracts.wire.replies import Reply, ReplyError
from orchestrator.store import requests
from orchestrator.store.database import Database
from orchestrator.store.requests import RequestKey
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import NOON

AGENT = AgentId("agent-1")
KEY = RequestKey(
    box=BoxName("family"), directory="messages", name="0001.json", inode=7, ctime_ns=9, sha256=b"\1" * 32
)
REPLY = Reply(request_id=RequestId("r-1"), ok=True, result={"status": "queued"})
REFUSED = Reply(
    request_id=RequestId("r-2"), ok=False, error=ReplyError(code="FORBIDDEN", message="no", details={"n": 1})
)


def add(
    tx: Transaction,
    key: RequestKey = KEY,
    reply: Reply = REPLY,
    *,
    request_id: str | None = "r-1",
    at_s: int = 0,
) -> None:
    answered = requests.Answered(
        key=key,
        reply=reply,
        agent_id=AGENT,
        request_id=None if request_id is None else RequestId(request_id),
    )
    requests.add_all(tx, [answered], at=NOON + timedelta(seconds=at_s))


def by_id_of(tx: Transaction, agent_id: AgentId) -> tuple[Reply, bytes] | None:
    """What the store knows of that agent's request `r-1`."""
    return requests.by_ids(tx, [(agent_id, RequestId("r-1"))]).get((agent_id, RequestId("r-1")))


@pytest.mark.parametrize("reply", [REPLY, REFUSED], ids=["granted", "refused"])
async def test_the_answer_is_found_by_the_key_of_its_file(db: Database, reply: Reply) -> None:
    await db.run(lambda tx: add(tx, reply=reply))

    found = await db.run(lambda tx: requests.find(tx, KEY))

    assert found == reply


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(KEY, box=BoxName("other")), id="box"),
        pytest.param(replace(KEY, directory="tasks"), id="directory"),
        pytest.param(replace(KEY, name="0002.json"), id="name"),
        pytest.param(replace(KEY, inode=8), id="inode"),
        pytest.param(replace(KEY, ctime_ns=10), id="ctime"),
        pytest.param(replace(KEY, sha256=b"\2" * 32), id="content"),
    ],
)
async def test_each_part_of_the_key_tells_requests_apart(db: Database, other: RequestKey) -> None:
    await db.run(add)

    found = await db.run(lambda tx: requests.find(tx, other))

    assert found is None


async def test_an_open_request_is_stored_once(db: Database) -> None:
    await db.run(add)

    with pytest.raises(sqlite3.IntegrityError):
        await db.run(add)


async def test_a_closed_name_used_again_is_a_new_request_but_its_id_is_remembered(db: Database) -> None:
    await db.run(add)

    await db.run(lambda tx: requests.close(tx, KEY))
    by_key = await db.run(lambda tx: requests.find(tx, KEY))
    by_id = await db.run(lambda tx: by_id_of(tx, AGENT))
    await db.run(lambda tx: add(tx, request_id="r-9", at_s=1))

    assert by_key is None
    assert by_id == (REPLY, KEY.sha256)


async def test_an_id_is_one_agents_own_and_its_first_answer_stands(db: Database) -> None:
    def body(tx: Transaction) -> None:
        add(tx)
        add(tx, replace(KEY, name="0002.json", sha256=b"\2" * 32), REFUSED, at_s=1)

    await db.run(body)

    mine = await db.run(lambda tx: by_id_of(tx, AGENT))
    other = await db.run(lambda tx: by_id_of(tx, AgentId("agent-2")))

    assert mine == (REPLY, KEY.sha256)
    assert other is None


async def test_replies_that_may_be_unwritten_are_those_of_open_requests_with_an_id(db: Database) -> None:
    def body(tx: Transaction) -> None:
        add(tx, at_s=2)
        add(tx, replace(KEY, name="a.json"), REFUSED, request_id="r-2", at_s=1)
        add(tx, replace(KEY, name="b.json"), request_id=None)
        closed = replace(KEY, name="c.json")
        add(tx, closed, request_id="r-3")
        requests.close(tx, closed)

    await db.run(body)

    async with db.reader() as reader:
        found = await requests.unwritten_replies(reader)
    assert found == [(KEY.box, REFUSED), (KEY.box, REPLY)]


async def test_closing_a_box_closes_all_its_requests_and_no_others(db: Database) -> None:
    elsewhere = replace(KEY, box=BoxName("other"))

    def body(tx: Transaction) -> tuple[Reply | None, Reply | None]:
        add(tx)
        add(tx, elsewhere)
        requests.close_box(tx, KEY.box)
        return requests.find(tx, KEY), requests.find(tx, elsewhere)

    found = await db.run(body)

    assert found == (None, REPLY)


async def test_an_answer_is_forgotten_only_when_it_is_old_and_its_file_gone(db: Database) -> None:
    def body(tx: Transaction) -> None:
        add(tx)
        for name, at_s in (("old.json", 0), ("new.json", 60)):
            key = replace(KEY, name=name)
            add(tx, key, request_id=name, at_s=at_s)
            requests.close(tx, key)
        requests.prune(tx, before=NOON + timedelta(seconds=60), count=9)

    await db.run(body)

    left = await db.run(lambda tx: {row["name"] for row in tx.all("SELECT name FROM requests")})
    assert left == {"0001.json", "new.json"}
