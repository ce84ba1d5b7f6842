"""What a program may do unasked, what it may not, and how people are asked. Source: agents.md section 4."""

import asyncio
from typing import Any

import pytest

from orchestrator.contracts.wire.container_io import TurnStatus
from tests.edges.container.acp_driver.bench import bench
from tests.edges.container.agent_process import Home

RUN = {"permission": {"title": "`rm -r x`", "kind": "execute", "input": {"command": "rm -r x"}}}
READ = {"permission": {"title": "Read a", "kind": "read"}}
OWN = {"permission": {"title": "mcp__dovecote__send_message", "kind": "other"}}
DISGUISED = {"permission": {"title": "mcp__dovecote__send_message", "kind": "execute"}}
OUTSIDE = {"permission": {"title": "Read it", "kind": "read", "paths": ["/etc/hosts"]}}


@pytest.mark.parametrize(
    ("permissions", "chosen"),
    [
        ("approve-all", ["allow", "allow", "allow", "allow", "reject"]),
        ("deny-all", ["reject", "reject", "allow", "reject", "reject"]),
    ],
)
async def test_the_policy_answers_for_this_once_and_never_for_good(
    home: Home, permissions: str, chosen: list[str]
) -> None:
    steps = [RUN, READ, OWN, DISGUISED, OUTSIDE]
    async with bench(home, {"turns": [steps]}, permissions=permissions) as running:
        await running.turn()

    told = [record["chosen"] for record in running.records("permission")]
    assert told == [f"id-{choice}_once" for choice in chosen]
    assert running.asked == []


async def test_reads_need_no_leave_and_the_rest_is_asked_in_the_chat(home: Home) -> None:
    steps = [READ, OUTSIDE, RUN, RUN, RUN]
    async with bench(home, {"turns": [steps]}, permissions="approve-reads") as running:
        async with asyncio.TaskGroup() as tasks:
            turn = tasks.create_task(running.turn())
            for number, (text, option) in enumerate([("Yes", 0), ("no", None), ("only on Monday", None)]):
                await running.until(lambda number=number: len(running.asked) > number)
                await running.answer(text, option=option)
        assert turn.result().status is TurnStatus.SUCCESS

    told = [record["chosen"] for record in running.records("permission")]
    assert told == ["id-allow_once", "id-reject_once", "id-allow_once", "id-reject_once", "id-reject_once"]
    assert running.asked[0].question == "May I run this command?\n`rm -r x`"
    assert running.asked[0].options == ("Yes", "No")


async def test_leave_that_nobody_gives_in_time_is_refused(home: Home) -> None:
    async with bench(home, {"turns": [[RUN]]}, permissions="approve-reads", leave_wait_s=0.05) as running:
        await running.turn()

    assert [record["chosen"] for record in running.records("permission")] == ["id-reject_once"]


@pytest.mark.parametrize("offers", [["allow_always", "reject_always"], ["allow_always"]])
async def test_an_offer_that_fits_for_good_only_is_taken_by_neither_yes_nor_no(
    home: Home, offers: list[str]
) -> None:
    steps = [{"permission": {"kind": "edit", "offers": offers}}]
    async with bench(home, {"turns": [steps]}, permissions="approve-all") as running:
        await running.turn()

    assert [record["chosen"] for record in running.records("permission")] == ["cancelled"]


async def test_a_question_that_is_open_when_the_turn_is_interrupted_is_withdrawn(home: Home) -> None:
    steps = [RUN, {"wait_for_cancel": True}]
    async with (
        bench(home, {"turns": [steps]}, permissions="approve-reads") as running,
        asyncio.TaskGroup() as tasks,
    ):
        turn = tasks.create_task(running.turn())
        await running.until(lambda: running.asked)
        await running.driver.interrupt()

    assert turn.result().status is TurnStatus.CANCELLED
    assert [record["chosen"] for record in running.records("permission")] == ["cancelled"]


FILE_STEPS: list[dict[str, Any]] = [
    {"read": {"path": "notes.txt", "line": 2, "limit": 1}},
    {"write": {"path": "made/new.txt", "content": "new"}},
    {"run": {"command": "echo", "args": ["ran"]}},
]


@pytest.mark.parametrize(
    ("permissions", "allowed"),
    [
        ("approve-all", {"read", "write", "run"}),
        ("deny-all", set()),
    ],
)
async def test_files_and_commands_are_a_matter_of_the_policy_too(
    home: Home, permissions: str, allowed: set[str]
) -> None:
    (home.workspace / "notes.txt").write_text("one\ntwo\nthree\n")
    async with bench(home, {"turns": [FILE_STEPS]}, permissions=permissions) as running:
        await running.turn()

    records = {record["call"]: record for record in running.records()}
    assert {call for call in ("read", "write", "run") if "error" not in records[call]} == allowed
    assert (home.workspace / "made" / "new.txt").exists() is ("write" in allowed)
    if allowed:
        assert records["read"]["told"] == "two\n"
        assert (records["run"]["code"], records["run"]["output"]) == (0, "ran\n")


async def test_where_reads_are_free_a_write_is_asked_for_unless_its_tool_was_allowed(home: Home) -> None:
    permission = {"permission": {"kind": "edit", "title": "Edit a.txt", "paths": ["a.txt"]}}
    steps = [
        permission,
        {"write": {"path": "a.txt", "content": "a"}},
        {"write": {"path": "b.txt", "content": "b"}},
        {"run": {"command": "echo", "args": ["x"]}},
    ]
    async with (
        bench(home, {"turns": [steps]}, permissions="approve-reads") as running,
        asyncio.TaskGroup() as tasks,
    ):
        tasks.create_task(running.turn())
        for number, said in enumerate(["Yes", "No", "No"]):
            await running.until(lambda number=number: len(running.asked) > number)
            await running.answer(said)

    assert sorted(path.name for path in home.workspace.iterdir()) == ["a.txt"]
    assert [question.question for question in running.asked] == [
        "May I change this file?\nEdit a.txt",
        "May I change this file?\nb.txt",
        "May I run this command?\necho x",
    ]


async def test_files_outside_of_the_workspace_and_behind_links_are_never_served(home: Home) -> None:
    secret = home.root / "secret.txt"
    secret.write_text("secret")
    (home.workspace / "link.txt").symlink_to(secret)
    (home.workspace / "out").symlink_to(home.root)
    paths = [str(secret), "../secret.txt", "link.txt", "out/secret.txt", "", "a\0b", "/"]
    steps: list[dict[str, Any]] = [{"read": {"path": path}} for path in paths]
    steps += [{"write": {"path": path, "content": "changed"}} for path in paths]
    steps += [{"run": {"command": "pwd", "cwd": path}} for path in (str(home.root), "..", "out")]
    async with bench(home, {"turns": [steps]}, permissions="approve-all") as running:
        await running.turn()

    answers = [record for record in running.records() if record["call"] in ("read", "write", "run")]
    assert len(answers) == len(steps)
    assert [record for record in answers if "error" not in record] == []
    assert secret.read_text() == "secret"


async def test_a_missing_file_is_told_as_such_and_as_an_empty_one_only_to_gemini(home: Home) -> None:
    steps = [{"read": {"path": "none.txt"}}]
    async with bench(home, {"turns": [steps]}, permissions="approve-all") as running:
        await running.turn()
    async with bench(home, {"turns": [steps], "name": "gemini-cli"}, permissions="approve-all") as for_gemini:
        await for_gemini.turn()

    first, second = running.records("read")
    assert (first["error"], second["told"]) == (-32002, "")


async def test_i7_commands_see_no_credential_and_their_output_is_cut_at_its_beginning(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "canary")
    steps = [
        {"run": {"command": "env", "args": ["-0"], "env": {"OWN": "own"}}},
        {"run": {"command": "printf 'ä%.0s' 1 2 3 4 5 6; exit 3", "output_byte_limit": 5}},
        {"run": {"command": "kill -9 $$"}},
        {"run": {"command": "/no/such/program", "args": ["x"]}},
    ]
    async with bench(home, {"turns": [steps]}, permissions="approve-all") as running:
        await running.turn()

    environment, cut, killed, missing = running.records("run")
    assert "canary" not in environment["output"]
    assert "OWN=own" in environment["output"]
    assert (cut["code"], cut["output"], cut["cut"]) == (3, "ää", True)
    assert killed["code"] is None
    assert missing["error"] == -32002
