"""Keys of programs outside: made, used within their scopes, gone at once. Source: agents.md section 1."""

from orchestrator.contracts.records.tokens import Scope
from tests.edges.api.conftest import Served

KEYS = "/api/v1/api-keys"


async def make(served: Served, name: str, *scopes: str) -> str:
    """A new key."""
    async with served.client() as client:
        answer = await client.post(KEYS, json={"name": name, "scopes": list(scopes)})
    assert answer.status_code == 201
    return str(answer.json()["key"])


async def test_a_key_is_shown_once_and_the_store_holds_only_its_hash(served: Served) -> None:
    key = await make(served, "editor", "read", "spawn")

    async with served.client() as client:
        listed = (await client.get(KEYS)).json()
    assert [(each["name"], each["scopes"]) for each in listed] == [("editor", ["read", "spawn"])]
    assert key not in str(listed)
    kept = (
        served.paths.database.read_bytes() + served.paths.database.with_name("dovecote.db-wal").read_bytes()
    )
    assert key.encode() not in kept
    assert key.removeprefix("dvk_").encode() not in kept


async def test_only_a_key_for_management_opens_the_routes_of_the_operator(served: Served) -> None:
    keys = {scope: await make(served, scope.value, scope.value) for scope in Scope}

    statuses = {}
    for scope, key in keys.items():
        async with served.client(token=key) as client:
            statuses[scope] = (await client.get("/api/v1/groups")).status_code

    assert statuses == {Scope.READ: 403, Scope.SPAWN: 403, Scope.STOP: 403, Scope.MANAGE: 200}


async def test_a_key_that_may_read_sees_agents_and_how_all_stands_and_nothing_that_people_wrote(
    served: Served,
) -> None:
    key = await make(served, "dashboard", "read")
    open_to_it = ("agents", "trees", "events", "overview", "standing")
    shut = ("status", "groups", "messages", "messages/sent", "tasks", "usage", "errors", "workspaces")

    async with served.client(token=key) as client:
        statuses = {name: (await client.get(f"/api/v1/{name}")).status_code for name in (*open_to_it, *shut)}

    assert statuses == dict.fromkeys(open_to_it, 200) | dict.fromkeys(shut, 403)


async def test_a_removed_key_is_void_at_once_also_on_a_connection_that_is_open(served: Served) -> None:
    key = await make(served, "editor", "manage")

    async with served.client(token=key) as client:
        before = await client.get("/api/v1/groups")
        async with served.client() as operator:
            removed = await operator.delete(f"{KEYS}/editor")
            again = await operator.delete(f"{KEYS}/editor")
        after = await client.get("/api/v1/groups")

    assert (before.status_code, removed.status_code, after.status_code) == (200, 200, 401)
    assert (again.status_code, again.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_two_keys_of_one_name_are_a_conflict_and_the_first_stays_good(served: Served) -> None:
    key = await make(served, "editor", "manage")

    async with served.client() as client:
        second = await client.post(KEYS, json={"name": "editor", "scopes": ["read"]})
    async with served.client(token=key) as client:
        first = await client.get("/api/v1/groups")

    assert (second.status_code, second.json()["error"]["code"]) == (409, "ALREADY_REGISTERED")
    assert first.status_code == 200


async def test_a_key_without_a_good_name_or_scope_is_not_made(served: Served) -> None:
    bodies = [
        {"name": "editor", "scopes": []},
        {"name": "editor", "scopes": ["all"]},
        {"name": "editor", "scopes": ["read", "write"]},
        {"name": "", "scopes": ["read"]},
        {"name": "Editor", "scopes": ["read"]},
        {"name": "a b", "scopes": ["read"]},
        {"name": "a\n", "scopes": ["read"]},
        {"name": "x" * 65, "scopes": ["read"]},
        {"name": "editor"},
    ]
    async with served.client() as client:
        answers = [await client.post(KEYS, json=body) for body in bodies]
        listed = (await client.get(KEYS)).json()

    found = [(each.status_code, each.json()["error"]["code"]) for each in answers]
    assert found == [(400, "INVALID_REQUEST")] * len(bodies)
    assert listed == []
