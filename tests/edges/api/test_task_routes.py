"""Tasks, messages and refused requests over a real socket."""

import json

from orchestrator.commands.groups.groups import NewGroup, add_group
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.ids import Jid
from tests.edges.api.conftest import MAIN, Served

DAILY = {
    "groupFolder": "main",
    "prompt": "water the plants",
    "scheduleType": "cron",
    "scheduleValue": "0 9 * * *",
    "timezone": "Europe/Berlin",
}


async def test_a_task_goes_through_its_life_by_the_routes(served: Served) -> None:
    async with served.client() as client:
        made = await client.post("/api/v1/tasks", json=DAILY)
        path = f"/api/v1/tasks/{made.json()['id']}"
        statuses = [made.json()["status"]]
        for step in ("pause", "resume", "run", "cancel"):
            answer = await client.post(f"{path}/{step}")
            statuses.append(answer.json()["status"])
        runs = (await client.get(f"{path}/runs")).json()
        shown = (await client.get(path)).json()
        left = (await client.get("/api/v1/tasks")).json()

    assert made.status_code == 201
    assert statuses == ["active", "paused", "active", "claimed", "cancelled"]
    assert [run["plannedAt"] for run in runs] == [None]
    assert (shown["status"], shown["rights"], shown["nextRun"]) == ("cancelled", "operator", None)
    assert left == {"tasks": []}


async def test_a_changed_task_keeps_what_was_not_given(served: Served) -> None:
    async with served.client() as client:
        made = (await client.post("/api/v1/tasks", json=DAILY)).json()
        changed = (
            await client.patch(f"/api/v1/tasks/{made['id']}", json={"scheduleValue": "30 9 * * *"})
        ).json()

    assert changed["scheduleValue"] == "30 9 * * *"
    assert (changed["prompt"], changed["timezone"]) == ("water the plants", "Europe/Berlin")
    assert changed["nextRun"] != made["nextRun"]


async def test_the_list_can_be_of_one_group(served: Served) -> None:
    new = NewGroup(jid=Jid("console:club"), folder="club")
    await add_group(served.services, HostCaller(), new)
    async with served.client() as client:
        for group in ("main", "club"):
            await client.post("/api/v1/tasks", json={**DAILY, "groupFolder": group})
        everything = (await client.get("/api/v1/tasks")).json()["tasks"]
        of_club = (await client.get("/api/v1/tasks?group=club")).json()["tasks"]

    assert sorted(task["groupFolder"] for task in everything) == ["club", "main"]
    assert [task["groupFolder"] for task in of_club] == ["club"]


async def test_messages_are_shown_oldest_first_with_what_became_of_them(served: Served) -> None:
    async with served.client() as client:
        for text in ("one", "two", "/help"):
            await client.post(f"/api/v1/chats/{MAIN}/messages", json={"text": text})
        all_of_them = (await client.get(f"/api/v1/messages?chat={MAIN}")).json()
        newest = (await client.get("/api/v1/messages?count=1")).json()
        elsewhere = (await client.get("/api/v1/messages?chat=console:club")).json()

    assert [(each["text"], each["status"]) for each in all_of_them] == [
        ("one", "pending"),
        ("two", "pending"),
        ("/help", "skipped"),
    ]
    assert newest == all_of_them[-1:]
    assert elsewhere == []


async def test_refused_requests_are_shown_with_their_reasons(served: Served) -> None:
    folder = served.paths.ipc / "errors" / "main"
    folder.mkdir(parents=True)
    reason = {"box": "main", "code": "FORBIDDEN", "message": "no"}
    (folder / "1767225600000-a-tasks-1.json.reason.json").write_text(json.dumps(reason))

    async with served.client() as client:
        (found,) = (await client.get("/api/v1/errors")).json()
        elsewhere = (await client.get("/api/v1/errors?box=club")).json()

    assert (found["code"], found["file"]) == ("FORBIDDEN", "main/1767225600000-a-tasks-1.json")
    assert elsewhere == []


async def test_advice_names_commands_where_people_ask_and_no_tools_of_agents(served: Served) -> None:
    past = {**DAILY, "scheduleType": "once", "scheduleValue": "2001-01-01T09:00"}
    async with served.client() as client:
        late = await client.post("/api/v1/tasks", json=past)
        absent = await client.post("/api/v1/tasks/task-nobody/pause")
        path = f"/api/v1/tasks/{(await client.post('/api/v1/tasks', json=DAILY)).json()['id']}"
        await client.post(f"{path}/cancel")
        over = await client.post(f"{path}/run")

    advice = [each.json()["error"]["suggestion"] for each in (late, absent, over)]
    assert advice == [
        "Give a time that is still to come, or run the task at once with `dovecote task run`.",
        "See the ids of the tasks with `dovecote task list`.",
        "Schedule it anew with `dovecote task add`.",
    ]
