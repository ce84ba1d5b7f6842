"""`dovecote mcp`: the same tools on standard input and output, carried to the running orchestrator."""

import asyncio
import json
import os
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters

from tests.agreement.spawn_faces.faces import TOKEN, Faces, as_outcome

ROOT = Path(__file__).parents[3]
WORDS = ["-m", "orchestrator", "mcp", "--home"]


def environment(key: str) -> dict[str, str]:
    """What the command is started with."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "DOVECOTE_API_KEY": key}


async def test_a_client_without_http_has_the_same_tools_several_calls_at_once(
    faces: Faces, tmp_path: Path
) -> None:
    words = StdioServerParameters(
        command=sys.executable, args=[*WORDS, str(tmp_path)], env=environment(TOKEN)
    )
    async with Client(words) as tools:
        offered = {tool.name for tool in (await tools.list_tools()).tools}
        given = {"task": "count", "wait": "none"}
        two = await asyncio.gather(*(tools.call_tool("spawn_docker_agent", given) for _ in range(2)))
        absent = as_outcome(await tools.call_tool("terminate_agent", {"agent_id": "agent-nobody"}))

    assert offered == {"spawn_docker_agent", "get_agent_status", "terminate_agent", "manage_config"}
    assert [as_outcome(each).code for each in two] == ["done", "done"]
    assert absent.code == "AGENT_NOT_FOUND"


async def test_what_cannot_be_carried_is_answered_with_what_to_do(faces: Faces, tmp_path: Path) -> None:
    ask = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}).encode() + b"\n"
    found = {}
    for home, key in ((tmp_path, "wrong"), (tmp_path / "none", TOKEN)):
        home.mkdir(exist_ok=True)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *WORDS, str(home)),
            env=environment(key),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate(ask)
        told = json.loads(out)
        assert told["id"] == 7
        found[key] = told["error"]["data"]["code"]

    assert found == {"wrong": "UNAUTHORIZED", TOKEN: "NOT_RUNNING"}
