"""What is said of a request that is not as its route takes it, and where routes are listed."""

import re

import pytest

from tests.edges.api.conftest import MAIN, Served
from tests.edges.api.test_api_keys import make

MESSAGES = f"/api/v1/chats/{MAIN}/messages"


@pytest.mark.parametrize("declared", ["application/x-www-form-urlencoded", "text/plain", None])
async def test_a_body_of_json_is_taken_whatever_it_is_declared_as(
    served: Served, declared: str | None
) -> None:
    headers = {} if declared is None else {"Content-Type": declared}
    async with served.client() as client:
        sent = await client.post(MESSAGES, content=b'{"text": "hello"}', headers=headers)
        made = await client.patch("/api/v1/groups/main", content=b'{"name": "Home"}', headers=headers)

    assert (sent.status_code, made.status_code) == (201, 200), sent.text + made.text


async def test_a_stranger_is_told_that_he_is_one_whatever_his_body_is(served: Served) -> None:
    headers = {"Content-Type": "application/json"}
    async with served.client(token="") as client:
        answers = [await client.post(MESSAGES, content=body, headers=headers) for body in (b"{", b"[]", b"")]

    assert [each.status_code for each in answers] == [401, 401, 401]


async def test_a_body_that_does_not_fit_is_answered_with_the_fields_that_would(served: Served) -> None:
    takes = "It takes: text, message_id, sender_name, files."
    async with served.client() as client:
        misspelled = await client.post(MESSAGES, json={"txt": "hello"})
        others = [await client.post(MESSAGES, content=body) for body in (b"", b"hello", b"[]")]

    told = misspelled.json()["error"]
    assert misspelled.status_code == 400
    assert "'txt' is not known (did you mean 'text'?)" in told["message"]
    assert told["suggestion"] == takes
    for each in others:
        assert each.status_code == 400
        assert each.json()["error"]["message"] == "The body is missing, or no JSON object."
        assert each.json()["error"]["suggestion"] == takes


async def test_a_word_of_a_query_that_no_route_knows_is_refused_by_name_on_all_of_them(
    served: Served,
) -> None:
    async with served.client() as client:
        listed = (await client.get("/openapi.json")).json()["paths"]
        routes = [(method, path) for path, methods in listed.items() for method in methods]
        routes.remove(("get", "/api/health"))  # monitors put words of their own behind it
        passed_over = []
        for method, path in routes:
            answer = await client.request(method.upper(), re.sub(r"{\w+}", "1", path) + "?foo=2")
            if answer.status_code != 400 or "'foo' is not known" not in answer.text:
                passed_over.append((method, path, answer.status_code))
        near = (await client.get("/api/v1/events", params={"cuont": 2})).json()["error"]

    assert passed_over == []
    assert "did you mean 'count'?" in near["message"]
    assert near["suggestion"] == "It takes: tree, since, count, wait_s, class, without."


@pytest.mark.parametrize(
    ("path", "word", "meant"),
    [
        ("/api/v1/events", "limit", "count"),
        ("/api/v1/messages", "per_page", "count"),
        ("/api/v1/trees", "n", "count"),
        ("/api/v1/events", "cursor", "since"),
    ],
)
async def test_a_word_that_others_use_is_refused_with_the_one_that_it_means(
    served: Served, path: str, word: str, meant: str
) -> None:
    async with served.client() as client:
        answer = await client.get(path, params={word: 2})
        without = await client.get("/api/v1/agents", params={word: 2})

    assert answer.json()["error"]["message"] == (
        f"The query has a wrong word: {word!r} is not known (did you mean {meant!r}?)."
    )
    assert "did you mean" not in without.json()["error"]["message"]  # it takes no such word


async def test_every_key_may_read_which_routes_there_are_each_with_a_sentence(served: Served) -> None:
    key = await make(served, "editor", "stop")

    async with served.client(token=key) as client:
        answer = await client.get("/openapi.json")
    async with served.client(token="") as client:
        stranger = await client.get("/openapi.json")

    assert (answer.status_code, stranger.status_code) == (200, 401)
    paths = answer.json()["paths"]
    summaries = [each["summary"] for methods in paths.values() for each in methods.values()]
    stop = paths["/api/v1/agents/{agent_id}/stop"]["post"]["summary"]
    assert stop.startswith("Stop an agent and all below it, by the id of a tree all of it")
    assert [each for each in summaries if not each.endswith(".")] == []


async def test_a_path_or_a_method_that_is_none_is_answered_with_where_they_are_listed(
    served: Served,
) -> None:
    async with served.client() as client:
        method = await client.delete("/api/v1/agents/agent-1")
        path = await client.get("/api/v1/agent")

    assert (method.status_code, path.status_code) == (405, 404)
    for answer in (method, path):
        assert "/openapi.json" in answer.json()["error"]["suggestion"]


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("POST", MESSAGES, {"text": 3}, "The body has a wrong field: 'text' must be a text."),
        (
            "POST",
            MESSAGES,
            {"files": [1]},
            "The body has a wrong field: 'files.0' must be a text.",
        ),
        ("POST", "/api/v1/groups", {"jid": "console:a"}, "The body has a wrong field: 'folder' is missing."),
        (
            "POST",
            "/api/v1/groups",
            {"jid": 3, "colour": 1},
            "The body has 3 wrong fields: 'jid' must be a text; 'folder' is missing; 'colour' is not known",
        ),
        ("GET", "/api/v1/events?since=-1", None, "The query has a wrong word: 'since' must be at least 0."),
    ],
)
async def test_what_is_wrong_with_a_field_is_said_in_one_way(
    served: Served, method: str, path: str, body: object, message: str
) -> None:
    async with served.client() as client:
        answer = await client.request(method, path, json=body)

    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(message)


@pytest.mark.parametrize(
    ("permissions", "said"),
    [
        (
            {"canSpwn": True},
            "'permissions.canSpwn' is not known (did you mean 'permissions.canSpawn'?)",
        ),
        ({"canSpawn": "yes"}, "permissions.canSpawn: expected true or false, got a text"),
        (3, "permissions: expected an object, got a whole number"),
    ],
)
async def test_a_fault_within_a_field_of_a_spawn_is_named_by_its_path(
    served: Served, permissions: object, said: str
) -> None:
    async with served.client() as client:
        answer = await client.post("/api/v1/spawn", json={"task": "count", "permissions": permissions})

    assert answer.json() == {
        "error": f"The spawn has a wrong field: {said}. Set the field right and send it again.",
        "code": "INVALID_REQUEST",
    }


async def test_errors_of_a_spawn_have_the_shape_of_its_document_whoever_refuses_it(served: Served) -> None:
    async with served.client() as client:
        too_long = await client.post("/api/v1/spawn", content=b"x" * (1024 * 1024 + 1))
        from_a_page = await client.post("/api/v1/spawn", headers={"Origin": "http://elsewhere.example"})
    async with served.client(token="") as client:
        from_a_stranger = await client.post("/api/v1/spawn")

    told = [each.json() for each in (too_long, from_a_page, from_a_stranger)]
    assert [each["code"] for each in told] == ["LIMIT_EXCEEDED", "FORBIDDEN", "UNAUTHORIZED"]
    assert all(isinstance(each["error"], str) for each in told)
