"""The tool server as a process: what it needs to start, and how it ends."""

import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.edges.container.agent_process import Home

COMMAND = (sys.executable, "-s", "-P", "-m", "container.mcp_server")


def run_server(home: Home, *, isolated: bool = False, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it with an input that ends at once. isolated: without this machine's packages."""
    return subprocess.run(
        [COMMAND[0], *(("-S",) if isolated else ()), *COMMAND[1:]],
        env=home.environment() | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def test_it_ends_in_order_when_its_input_ends(home: Home) -> None:
    done = run_server(home, DOVECOTE_CHAT="1@g.us")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_a_chat_it_says_so_instead_of_starting(home: Home) -> None:
    done = run_server(home)

    assert done.returncode == 2
    assert "DOVECOTE_CHAT is not set" in done.stderr


def test_without_its_packages_it_names_the_first_and_where_it_looked(home: Home, tmp_path: Path) -> None:
    done = run_server(home, isolated=True, DOVECOTE_CHAT="1@g.us", DOVECOTE_TOOLS=str(tmp_path / "none"))

    assert done.returncode == 3
    assert f"There is no 'mcp_types' in {tmp_path / 'none'}" in done.stderr


def test_what_the_agent_writes_in_its_workspace_is_not_imported(home: Home) -> None:
    (home.workspace / "mcp_types.py").write_text("raise SystemExit('imported')")

    done = subprocess.run(
        COMMAND,
        env=home.environment() | {"DOVECOTE_CHAT": "1@g.us"},
        cwd=home.workspace,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("named", "offers_groups"), [(None, False), ("chat,tasks,groups", True)])
async def test_it_offers_the_tools_of_the_sets_that_the_host_names(
    home: Home, named: str | None, offers_groups: bool
) -> None:
    environment = home.environment() | {"DOVECOTE_CHAT": "1@g.us"}
    environment |= {} if named is None else {"DOVECOTE_TOOLSETS": named}
    server = StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]), env=environment)

    async with Client(server) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}

    assert {"send_message", "schedule_task"} <= names
    assert ({"register_group", "refresh_groups"} <= names) == offers_groups
    assert ("register_group" in names) == offers_groups
