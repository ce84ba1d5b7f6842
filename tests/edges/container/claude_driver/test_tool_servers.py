"""Tool servers that a definition names, with the real program: used, asked about, and told of when broken."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from orchestrator.contracts.wire.container_io import (
    AgentLog,
    ContainerInput,
    ToolServer,
    TurnStatus,
    WaitingInput,
)
from tests.edges.container.claude_driver.claude_home import ClaudeHome, asked, tools_of
from tests.support.model_server import CallTool, Rule, Say

pytestmark = pytest.mark.agents
SERVER: Final = Path(__file__).parents[3] / "support" / "lab_server.py"
LAB: Final = ToolServer(name="lab", command=(sys.executable, str(SERVER)), environment={"LAB_UNIT": "total"})
BROKEN: Final = ToolServer(name="broken", command=(sys.executable, "-c", "raise SystemExit(3)"))
ADDS: Final = (
    Rule(text="add", steps=(CallTool(tool="mcp__lab__add", arguments={"a": 2, "b": 40}),), times=1),
    Rule(tool_result="total is 42", steps=(Say(text="It is 42."),)),
    Rule(tool_result="", steps=(Say(text="I was not let."),)),
)


def with_servers(given: ContainerInput, *servers: ToolServer) -> ContainerInput:
    assert given.agent is not None
    return replace(given, agent=replace(given.agent, mcp_servers=servers))


async def test_the_model_uses_a_server_of_the_definition_beside_ours_and_a_broken_one_is_told_of(
    claude: ClaudeHome,
) -> None:
    claude.model.play(*ADDS)
    async with claude.running() as running:
        await running.give(with_servers(asked("add them"), BROKEN, LAB))
        await running.until_ended(1)

    offered = claude.model.model_calls[0].asked
    assert offered is not None
    assert {"mcp__lab__add", "mcp__dovecote__send_message"} <= {tool.name for tool in offered.tools}
    assert running.texts == ["It is 42."]
    assert tools_of(running)[-1][0] == "mcp__lab__add"
    assert running.ended[0].status is TurnStatus.SUCCESS
    assert any("broken" in item.message for item in running.items if isinstance(item, AgentLog))


async def test_a_server_of_the_definition_needs_leave_where_the_permissions_say_so(
    claude: ClaudeHome,
) -> None:
    claude.model.play(*ADDS)
    async with claude.running() as running:
        await running.give(with_servers(asked("add them", permissions="approve-reads"), LAB))
        await running.until(lambda: any(isinstance(item, WaitingInput) for item in running.items))
        (question,) = [item for item in running.items if isinstance(item, WaitingInput)]

    assert question.question.startswith("May I use the tool add of lab?")
    assert running.texts == []
