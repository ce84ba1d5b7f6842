"""Forgetting over a real socket: the operator's alone, and the same command as without an orchestrator."""

from tests.edges.api.conftest import Served


async def test_a_person_is_forgotten_and_what_was_removed_is_told(served: Served) -> None:
    async with served.client() as client:
        answer = await client.post("/api/v1/forget/people/49170@s.whatsapp.net")

    assert answer.status_code == 200
    assert answer.json()["rows"] == {}
    assert any("senders.toml" in sentence for sentence in answer.json()["stays"])


async def test_what_is_no_group_is_refused(served: Served) -> None:
    async with served.client() as client:
        answer = await client.post("/api/v1/forget/groups/NUL")

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_REQUEST")


async def test_nobody_forgets_without_the_operators_token(served: Served) -> None:
    async with served.client(token="wrong") as client:
        answers = [
            await client.post("/api/v1/forget/groups/family"),
            await client.post("/api/v1/forget/people/49170@s.whatsapp.net"),
        ]

    assert [each.status_code for each in answers] == [401, 401]
