"""Directories that agents may be given, over a real socket."""

from pathlib import Path

from tests.edges.api.conftest import Served

ROUTE = "/api/v1/workspaces"


async def test_a_directory_is_allowed_refused_and_forgotten(served: Served, tmp_path: Path) -> None:
    project = tmp_path.parent / f"{tmp_path.name}-project"
    project.mkdir()
    body = {"path": str(project)}

    async with served.client() as client:
        said = [
            (await client.post(f"{ROUTE}/{word}", json=body)).json()["status"]
            for word in ("approve", "reject", "approve", "remove")
        ]
        left = (await client.get(ROUTE)).json()

    assert said == ["approved", "rejected", "approved", "removed"]
    assert left == []


async def test_what_is_not_in_the_list_is_not_found(served: Served) -> None:
    async with served.client() as client:
        answer = await client.post(f"{ROUTE}/remove", json={"path": "/nowhere"})

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_nobody_decides_without_the_operators_token(served: Served, tmp_path: Path) -> None:
    async with served.client(token="wrong") as client:
        answers = [
            await client.get(ROUTE),
            await client.post(f"{ROUTE}/approve", json={"path": str(tmp_path)}),
        ]

    assert [each.status_code for each in answers] == [401, 401]
