"""What `pi` finds at its start: what its permissions leave it, and nothing that an agent left there."""

import json
from pathlib import Path

import pytest

from container.drivers.pi_home import furnish, is_wanted
from orchestrator.contracts.wire.container_io import AgentDefinition, ToolServer

OURS = ToolServer(name="dovecote", command=("python3", "-c", "x"), environment={"TZ": "$UTC", "A": "!id"})
LAB = ToolServer(name="lab", command=("lab", "--port", "1"))
DOCS = ToolServer(name="docs", url="https://docs.example.org/mcp")
ALL = (OURS, LAB, DOCS)


def agent(permissions: str) -> AgentDefinition:
    return AgentDefinition(driver="acp", model="m-1", permissions=permissions)


def read(directory: Path, name: str) -> dict[str, object]:
    content = json.loads((directory / name).read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


@pytest.mark.parametrize(
    ("permissions", "tools", "servers", "left_out"),
    [
        ("approve-all", ["read", "bash", "edit", "write"], ["dovecote", "lab", "docs"], []),
        ("approve-reads", ["read", "grep", "find", "ls"], ["dovecote"], ["lab", "docs"]),
        ("deny-all", [], ["dovecote"], ["lab", "docs"]),
    ],
)
def test_it_has_what_needs_no_leave(
    tmp_path: Path, permissions: str, tools: list[str], servers: list[str], left_out: list[str]
) -> None:
    told = furnish(tmp_path / "agent", agent(permissions), ALL)

    assert read(tmp_path / "agent", "settings.json")["defaultTools"] == tools
    assert list(read(tmp_path / "agent", "mcp.json")["mcpServers"]) == servers  # type: ignore[call-overload]
    assert told == left_out


def test_variables_reach_a_server_as_they_are(tmp_path: Path) -> None:
    furnish(tmp_path, agent("approve-all"), ALL)

    servers = read(tmp_path, "mcp.json")["mcpServers"]
    assert servers == {
        "dovecote": {
            "command": "env",
            "args": ["TZ=$UTC", "A=!id", "python3", "-c", "x"],
            "exposure": "direct",
        },
        "lab": {"command": "env", "args": ["lab", "--port", "1"], "exposure": "direct"},
        "docs": {"url": "https://docs.example.org/mcp", "exposure": "direct"},
    }


def test_what_an_agent_left_to_run_at_the_next_start_is_gone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    directory = tmp_path / "agent"
    (directory / "extensions").mkdir(parents=True)
    (directory / "extensions" / "evil.ts").write_text("evil")
    (directory / "skills").symlink_to(outside)
    (directory / "settings.json").symlink_to(outside / "settings.json")
    (directory / "sessions").mkdir()
    (directory / "models.json").write_text("{}")

    furnish(directory, agent("deny-all"), ALL)

    names = sorted(path.name for path in directory.iterdir())
    assert names == ["mcp.json", "models.json", "sessions", "settings.json"]
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("has_models", [True, False])
def test_our_model_is_chosen_where_there_is_a_way_to_it(tmp_path: Path, has_models: bool) -> None:
    if has_models:
        (tmp_path / "models.json").write_text("{}")

    furnish(tmp_path, agent("approve-all"), ())

    settings = read(tmp_path, "settings.json")
    wanted = ("dovecote", "m-1") if has_models else (None, None)
    assert (settings.get("defaultProvider"), settings.get("defaultModel")) == wanted
    assert settings["defaultProjectTrust"] == "never"


def test_it_is_this_programs_home_only_by_its_harness() -> None:
    place = {"PI_CODING_AGENT_DIR": "/home/agent/.pi/agent"}

    assert is_wanted({"DOVECOTE_PROVIDER_HARNESS": "pi_acp", **place})
    assert not is_wanted({"DOVECOTE_PROVIDER_HARNESS": "acp", **place})
    assert not is_wanted({"DOVECOTE_PROVIDER_HARNESS": "pi_acp"})
