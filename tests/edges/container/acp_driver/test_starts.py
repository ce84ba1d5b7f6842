"""How a program is started and its session opened: the table of edge cases, modes, resuming.

Source: agents.md section 4, and the edge cases at the end of seed 004.
"""

import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from container.drivers.driver import ProgramMissing
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.wire.container_io import AgentLog, ToolServer, TurnStatus
from tests.edges.container.acp_driver.bench import bench
from tests.edges.container.agent_process import Home

GONE = {"code": -32002, "message": "Resource not found"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeCase:
    """One row: what is given, and what the failure says, or what is said in the chat."""

    plan: dict[str, Any] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)
    fails_with: str | None = None
    calls: tuple[str, ...] = ("initialize", "new", "prompt")


EDGE_CASES = {
    "no command to start": EdgeCase(given={"command": ()}, fails_with="no command", calls=()),
    "executable missing from PATH": EdgeCase(
        given={"command": ("no-such-program",)}, fails_with="'no-such-program' is not here", calls=()
    ),
    "executable that can't be run": EdgeCase(
        given={"command": ("/dev/null",)}, fails_with="'/dev/null' is not here, or no program", calls=()
    ),
    "additional directory is relative": EdgeCase(
        given={"extra_directories": ("extra",)}, fails_with="is not absolute", calls=()
    ),
    "additional directory is missing": EdgeCase(
        given={"extra_directories": ("/no/such/directory",)}, fails_with="is not there", calls=()
    ),
    "permissions are unknown": EdgeCase(
        given={"permissions": "approve-some"}, fails_with="deny-all, approve-reads, approve-all", calls=()
    ),
    "program reports no modes": EdgeCase(),
    "program reports no mode that fits": EdgeCase(plan={"modes": ["agent", "wild"]}),
    "no model is resolved": EdgeCase(given={"model": None}, plan={"options": {"model": ["a", "b"]}}),
    "program lacks session/load": EdgeCase(
        plan={"can_load": False},
        given={"session_id": "session-0"},
        fails_with="it has no session/load",
        calls=("initialize",),
    ),
    "stored session is missing upstream": EdgeCase(
        plan={"failures": {"load": GONE}},
        given={"session_id": "session-0"},
        calls=("initialize", "load", "new", "prompt"),
    ),
    "initialize fails": EdgeCase(
        plan={"failures": {"initialize": {"code": -32603, "message": "broken"}}},
        fails_with="broken",
        calls=("initialize",),
    ),
    "program never answers": EdgeCase(
        given={"command": ("sleep", "600"), "options": {"answer_s": 1}, "stop_wait_s": 0.1},
        fails_with="did not answer initialize within 1 s",
        calls=(),
    ),
    "session/new fails": EdgeCase(
        plan={"failures": {"new": {"code": -32603, "message": "no room"}}},
        fails_with="no room",
        calls=("initialize", "new"),
    ),
    "program dies while it starts": EdgeCase(
        plan={"failures": {"new": "die"}}, fails_with="ended with 7", calls=("initialize", "new")
    ),
    "mode is refused": EdgeCase(
        plan={"modes": ["auto", "default"], "failures": {"mode": {"code": -32603, "message": "not now"}}},
        fails_with="not now",
        calls=("initialize", "new", "mode"),
    ),
}


@pytest.mark.parametrize("case", EDGE_CASES.values(), ids=EDGE_CASES)
async def test_every_edge_case_of_a_start_ends_as_the_table_says(home: Home, case: EdgeCase) -> None:
    texts: list[str] = []
    failure = None
    try:
        async with bench(home, case.plan, **case.given) as running:
            result = await running.turn("hello")
            failure = result.error.message if result.error is not None else None
    except DovecoteError as error:
        failure = str(error)
    else:
        texts = running.texts
        # A failed start leaves no program behind: its input was closed, and it said so on record.
        assert (
            not running.records("initialize")
            or "eof" in [r["call"] for r in running.records()]
            or (case.fails_with == "ended with 7")
        )
        assert [r["call"] for r in running.records() if r["call"] not in ("eof", "cancel")] == list(
            case.calls
        )

    assert (failure is None) is (case.fails_with is None)
    assert (case.fails_with or "") in (failure or "")
    assert bool(texts) is (case.fails_with is None)


async def test_a_workspace_that_is_missing_fails_the_start(home: Home) -> None:
    home.workspace.rmdir()

    with pytest.raises(DovecoteError, match="is no directory"):
        async with bench(home):
            pass


async def test_what_the_program_is_told_when_its_session_begins(home: Home) -> None:
    extra = home.root / "extra"
    extra.mkdir()
    (home.root / "same").symlink_to(extra)
    servers = (
        ToolServer(name="lab", command=("sh", "--x"), environment={"A": "b"}),
        ToolServer(name="dovecote", command=("impostor",)),
        ToolServer(name="far", url="https://example.org/mcp"),
    )
    directories = (str(extra), str(home.root / "same"), str(home.workspace))
    async with bench(
        home, extra_directories=directories, mcp_servers=servers, toolsets=("chat",), offers_files=False
    ) as running:
        await running.turn()

    hello, opened = running.records("initialize")[0], running.records("new")[0]
    assert hello["info"]["name"] == "dovecote"
    assert hello["capabilities"]["fs"]["read_text_file"] is False
    assert hello["capabilities"]["terminal"] is True
    assert opened["cwd"] == str(home.workspace)
    assert opened["additional_directories"] == [str(extra)]
    assert [server["name"] for server in opened["mcp_servers"]] == ["dovecote", "lab"]
    ours = {variable["name"]: variable["value"] for variable in opened["mcp_servers"][0]["env"]}
    assert (ours["DOVECOTE_CHAT"], ours["DOVECOTE_TOOLSETS"]) == ("console:family", "chat")
    assert "PYTHONPATH" not in ours
    logged = [item.message for item in running.items if isinstance(item, AgentLog)]
    assert logged == ["Left out: the tool server 'far': the program takes none with a URL."]


async def test_a_program_that_takes_servers_with_a_url_gets_them(home: Home) -> None:
    servers = (ToolServer(name="far", url="https://example.org/mcp"),)
    async with bench(home, {"takes_urls": True}, mcp_servers=servers) as running:
        await running.turn()

    assert running.records("new")[0]["mcp_servers"][1]["url"] == "https://example.org/mcp"


async def test_a_session_is_named_and_a_later_run_goes_on_in_it_without_its_history_in_the_chat(
    home: Home,
) -> None:
    async with bench(home, instructions="Be kind.") as first:
        await first.turn()
    async with bench(home, session_id="session-1", instructions="Be kind.") as second:
        await second.turn("and now?")

    assert (first.sessions, second.sessions) == (["session-1"], ["session-1"])
    assert [record["session_id"] for record in second.records("load")] == ["session-1"]
    assert len(second.texts) == 1
    assert "and now?" in second.texts[0]


async def test_a_session_that_cannot_be_resumed_is_not_named(home: Home) -> None:
    async with bench(home, {"can_load": False}) as running:
        await running.turn()

    assert running.sessions == []


@pytest.mark.parametrize(
    "refusal",
    [GONE, {"code": -32603, "message": "Internal error", "data": {"details": "no rollout found"}}],
)
async def test_people_are_told_once_that_a_session_is_gone_and_the_new_one_is_named(
    home: Home, refusal: dict[str, Any]
) -> None:
    async with bench(home, {"failures": {"load": refusal}}, session_id="session-0") as running:
        await running.turn("one")
        await running.turn("two")

    assert running.texts[0] == "(Our earlier conversation could not be found any more, so I begin afresh.)"
    assert len(running.texts) == 3
    assert running.sessions == ["session-1"]


async def test_who_has_to_log_in_first_is_told_so_and_no_fresh_session_is_begun(home: Home) -> None:
    refusal = {"code": -32000, "message": "Authentication required"}
    async with bench(home, {"failures": {"load": refusal}}, session_id="session-0") as running:
        result = await running.turn()

    assert result.error is not None
    assert result.error.code == "PROVIDER_AUTH"
    assert running.records("new") == []


async def test_a_gemini_session_is_not_loaded_in_the_minute_in_which_it_was_opened(home: Home) -> None:
    plan = {"name": "gemini-cli"}
    at = datetime(2026, 3, 1, 12, 0, 59, 950_000, tzinfo=UTC)
    async with bench(home, plan, now=at) as first:
        await first.turn()
    async with bench(home, plan, now=at, session_id="session-1") as second:
        await second.turn()

    assert [record["call"] for record in second.records() if record["call"] in ("new", "load")] == [
        "new",
        "load",
    ]


@pytest.mark.parametrize(
    ("permissions", "chosen", "expected"),
    [
        ("approve-reads", {"modes": ["auto", "default", "bypassPermissions"]}, ("mode", "default")),
        ("approve-all", {"modes": ["read-only", "auto", "full-access"]}, ("mode", "full-access")),
        ("deny-all", {"modes": ["auto", "Read-Only"]}, ("mode", "Read-Only")),
        ("approve-reads", {"options": {"mode": ["build", "plan"]}}, ("option", "plan")),
    ],
)
async def test_no_session_stays_in_the_mode_in_which_its_program_starts(
    home: Home, permissions: str, chosen: dict[str, Any], expected: tuple[str, str]
) -> None:
    async with bench(home, chosen, permissions=permissions, mode_option="mode") as running:
        result = await running.turn()

    call, value = expected
    assert result.status is TurnStatus.SUCCESS
    assert [record.get("mode") or record.get("value") for record in running.records(call)] == [value]


async def test_a_mode_in_which_the_session_is_already_is_not_set_again(home: Home) -> None:
    async with bench(home, {"modes": ["default", "auto"]}) as running:
        await running.turn()

    assert running.records("mode") == []


async def test_a_program_that_leaves_its_mode_is_put_back_into_it(home: Home) -> None:
    plan = {"modes": ["auto", "default"], "turns": [[{"mode": "auto"}, {"say": "planned"}]]}
    async with bench(home, plan) as running:
        await running.turn()
        await running.turn()

    assert [record["mode"] for record in running.records("mode")] == ["default", "default"]


async def test_the_model_of_the_definition_is_chosen_where_the_program_offers_it(home: Home) -> None:
    async with bench(home, {"options": {"model": ["small", "large"]}}, model="large") as running:
        await running.turn()

    assert [(record["option"], record["value"]) for record in running.records("option")] == [
        ("model", "large")
    ]


async def test_a_model_that_is_chosen_already_is_not_chosen_again(home: Home) -> None:
    async with bench(home, {"options": {"model": ["large", "small"]}}, model="large") as running:
        await running.turn()

    assert running.records("option") == []


async def test_a_program_gets_none_of_our_own_interpreter_settings(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/opt/ours")
    monkeypatch.setenv("PROVIDER_VARIABLE", "theirs")
    async with bench(home) as running:
        await running.turn()

    environment = running.records("new")[0]["environment"]
    assert "PYTHONPATH" not in environment
    assert environment["PROVIDER_VARIABLE"] == "theirs"


async def test_what_speaks_no_protocol_at_all_fails_its_turn_with_its_last_words(home: Home) -> None:
    script = "import sys; print('no home', file=sys.stderr); sys.exit(3)"
    async with bench(home, command=(sys.executable, "-c", script)) as running:
        result = await running.turn()

    assert result.error is not None
    assert (result.error.code, result.error.message) == ("PROGRAM_ENDED", "no home")


async def test_a_script_that_is_not_there_is_a_missing_program(home: Home) -> None:
    script = str(home.root / "nowhere.py")
    async with bench(home, command=(sys.executable, script)) as running:
        with pytest.raises(ProgramMissing) as caught:
            await running.turn()

    assert repr(script) in str(caught.value)


@pytest.mark.parametrize("command", [("no-such-server",), (sys.executable, "/nowhere/server.py")])
async def test_a_tool_server_without_its_program_is_told_at_the_start(
    home: Home, command: tuple[str, ...]
) -> None:
    servers = (ToolServer(name="notes", command=command),)
    with pytest.raises(ProgramMissing) as caught:
        async with bench(home, mcp_servers=servers):
            pass

    assert repr(command[-1]) in str(caught.value)
    assert "'notes'" in str(caught.value)


async def test_of_a_program_that_ends_at_once_the_line_that_names_the_error_is_told(home: Home) -> None:
    script = "import sys; sys.exit('Error: no such model: x\\n    at main (x.js:1)\\nNode.js v20')"
    async with bench(home, command=(sys.executable, "-c", script)) as running:
        result = await running.turn()

    assert result.error is not None
    assert (result.error.code, result.error.message) == ("PROGRAM_ENDED", "Error: no such model: x")
