"""`dovecote mcp`: a tool server on standard input and output, for clients that speak no HTTP.

It understands nothing of what it carries: each line goes to the running orchestrator as it is, each answer
comes back as a line. So there is one implementation of every tool. Source: agents.md section 1.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

import httpx

from orchestrator.api.operator_token import read_operator_token
from orchestrator.api.render_errors import from_body
from orchestrator.api.toolsets.places import SPAWN_TOOLS_PATH
from orchestrator.cli.client import not_running
from orchestrator.cli.home import Home, open_home
from orchestrator.cli.stdin_lines import lines_of
from orchestrator.contracts.errors import DovecoteError

KEY_VARIABLE: Final = "DOVECOTE_API_KEY"
TOOLSETS: Final = {"spawn": SPAWN_TOOLS_PATH}
_INTERNAL_ERROR: Final = -32603
_DATA: Final = "data:"


def run_mcp(home_option: Path | None, toolset: str) -> None:
    """Serve until the input ends. The credential is an API key in `DOVECOTE_API_KEY`, else the operator's."""
    home = open_home(home_option)
    credential = os.environ.get(KEY_VARIABLE) or read_operator_token(home.paths.operator_token)
    asyncio.run(_serve(Bridge(home, TOOLSETS[toolset], credential or "")))


class Bridge:
    """Carries one line at a time, many at once."""

    def __init__(self, home: Home, path: str, credential: str) -> None:
        self._home = home
        self._path = path
        self._http = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(uds=str(home.paths.socket)),
            base_url="http://dovecote",
            headers={
                "Authorization": f"Bearer {credential}",
                "Accept": "application/json, text/event-stream",
                "Content-Type": "application/json",
            },
            # A tool may take as long as an agent runs.
            timeout=httpx.Timeout(None, connect=10),
            trust_env=False,
        )

    async def carry(self, line: bytes) -> None:
        """Send a message and print what comes of it; to a request that can't be sent, an error."""
        try:
            async with self._http.stream("POST", self._path, content=line) as answer:
                await self._print(answer)
        except httpx.TransportError:
            _say_failed(line, not_running(self._home.paths))
        except DovecoteError as error:
            _say_failed(line, error)

    async def close(self) -> None:
        """End what is under way."""
        await self._http.aclose()

    async def _print(self, answer: httpx.Response) -> None:
        if answer.is_error:
            raw = await answer.aread()
            raise from_body(answer.status_code, _plain(raw))
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            async for each in answer.aiter_lines():
                if each.startswith(_DATA) and (said := each.removeprefix(_DATA).strip()):
                    _say(said)
        elif raw := await answer.aread():
            _say(json.dumps(_plain(raw)))


async def _serve(bridge: Bridge) -> None:
    try:
        async with asyncio.TaskGroup() as lines:
            async for line in lines_of(sys.stdin.fileno()):
                if line.strip():
                    lines.create_task(bridge.carry(line.strip().encode()), name="mcp line")
    finally:
        await bridge.close()


def _plain(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None


def _say_failed(line: bytes, error: DovecoteError) -> None:
    """A notification has no answer, so nobody is told of its failure but the log of the client."""
    message = _plain(line)
    number = message.get("id") if isinstance(message, dict) else None
    if number is None:
        print(str(error), file=sys.stderr)
        return
    fault = {"code": _INTERNAL_ERROR, "message": str(error), "data": {"code": error.code.value}}
    _say(json.dumps({"jsonrpc": "2.0", "id": number, "error": fault}))


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
