"""Who may set the assistant off in a group, over a real socket."""

from tests.edges.api.conftest import Served


async def test_the_sender_rules_of_a_group_are_shown_with_what_is_wrong_with_them(served: Served) -> None:
    path = served.paths.groups / "garden" / "senders.toml"
    async with served.client() as client:
        await client.post("/api/v1/groups", json={"jid": "console:garden", "folder": "garden"})
        without = await client.get("/api/v1/groups/garden/senders")
        path.write_text('mode = "drop"\nsenders = ["ann@s"]')
        listed = await client.get("/api/v1/groups/garden/senders")
        path.write_text("mode = ")
        broken = await client.get("/api/v1/groups/garden/senders")
        unknown = await client.get("/api/v1/groups/cellar/senders")

    assert without.json() == {"folder": "garden", "mode": "anyone", "senders": [], "trouble": None}
    assert (listed.json()["mode"], listed.json()["senders"]) == ("drop", ["ann@s"])
    assert (broken.json()["mode"], broken.json()["senders"]) == ("drop", ["ann@s"])
    assert broken.json()["trouble"].startswith("groups/garden/senders.toml is not TOML")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "NOT_FOUND")
