"""Wishes of agents over a real socket."""

from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.rights import Rights
from orchestrator.store import groups
from orchestrator.store.transaction import Transaction
from tests.edges.api.conftest import MAIN, Served
from tests.support.proposal_rows import add_proposal
from tests.support.store_rows import OTHER_CHAT, add_group


def waiting(tx: Transaction) -> int:
    """A message of the main agent to the club that waits; its number."""
    if groups.by_folder(tx, "club") is None:
        add_group(tx, "club", OTHER_CHAT)
    return add_proposal(tx, group=GroupFolder("main"), chat_jid=MAIN, target=OTHER_CHAT, rights=Rights.MEMBER)


async def test_what_waits_is_listed_and_confirmed_once(served: Served) -> None:
    number = await served.services.db.run(waiting)

    async with served.client() as client:
        listed = (await client.get("/api/v1/proposals")).json()
        first = await client.post(f"/api/v1/proposals/{number}/confirm")
        second = await client.post(f"/api/v1/proposals/{number}/confirm")

    assert [(each["number"], each["status"], each["group"]) for each in listed] == [(number, "open", "main")]
    assert (first.status_code, first.json()["status"]) == (200, "confirmed")
    assert (second.status_code, second.json()["error"]["code"]) == (400, "INVALID_REQUEST")


async def test_what_is_declined_is_not_done(served: Served) -> None:
    number = await served.services.db.run(waiting)

    async with served.client() as client:
        answer = await client.post(f"/api/v1/proposals/{number}/decline")

    rows = await served.services.db.run(lambda tx: tx.all("SELECT chat_jid FROM outbox"))
    assert answer.json()["status"] == "declined"
    assert Jid(OTHER_CHAT) not in [row["chat_jid"] for row in rows]


async def test_a_number_that_never_was_is_not_found(served: Served) -> None:
    async with served.client() as client:
        answers = [await client.post(f"/api/v1/proposals/99/{word}") for word in ("confirm", "decline")]

    assert [(each.status_code, each.json()["error"]["code"]) for each in answers] == [(404, "NOT_FOUND")] * 2


async def test_nobody_decides_without_the_operators_token(served: Served) -> None:
    number = await served.services.db.run(waiting)

    async with served.client(token="wrong") as client:
        answers = [
            await client.get("/api/v1/proposals"),
            await client.post(f"/api/v1/proposals/{number}/confirm"),
        ]

    assert [each.status_code for each in answers] == [401, 401]
