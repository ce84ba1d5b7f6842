"""Four ways to ask for the child of a family's agent, each over its real transport."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from orchestrator.api.agent_face import AgentFace
from orchestrator.api.credentials import Credentials
from orchestrator.api.server import ApiServer
from orchestrator.channels.console import ConsoleChannel
from orchestrator.commands.agents.tokens import prepare_token_dir
from orchestrator.commands.spawning.spawn_replies import result_of
from orchestrator.commands.usage.usage_meter import StoredUsage
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.egress import EgressPolicy
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.agent_requests import OLD_SPELLINGS, SpawnAgent
from orchestrator.contracts.wire.codec import camel, from_plain
from orchestrator.egress.proxy import opened_egress
from orchestrator.engine.event_feed import EventFeed
from orchestrator.store import spawn_texts
from orchestrator.store.transaction import Transaction
from tests.edges.commands.spawn_bench import SpawnBench
from tests.support.listening import until_open

TOKEN: Final = "operator-token"
PENDING: Final = "SELECT agent_id FROM agents WHERE status = 'pending' ORDER BY rowid DESC LIMIT 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a caller was told, whichever way. code: of the refusal, or `done`. status: of HTTP, 0 elsewhere.

    told: in the spelling of seed 000. headers: of HTTP.
    """

    code: str
    told: Mapping[str, Any]
    status: int = 0
    headers: Mapping[str, str] | None = None


Ask = Callable[..., Awaitable[Outcome]]


class Faces:
    """The ways. Each takes the arguments of `spawn_agent` in the spelling of seed 000."""

    def __init__(self, bench: SpawnBench, socket: Path, egress_socket: Path, token: str) -> None:
        self.bench = bench
        self.socket = socket
        self.egress_socket = egress_socket
        self.token = token

    def all(self) -> dict[str, Ask]:
        """By name."""
        return {"box": self.box, "agent": self.agent, "http": self.http, "mcp": self.mcp}

    async def box(self, **given: Any) -> Outcome:
        """A request file. Its answer comes at once; what came of it lies in the box later."""
        fields = {OLD_SPELLINGS.get(name, name): value for name, value in given.items()}
        reply = await self.bench.by_box(from_plain(SpawnAgent, fields))
        if reply.error is not None:
            details = reply.error.details or {}
            return Outcome(code=reply.error.code, told={"error": reply.error.message, **details})
        assert reply.result is not None
        agent_id = AgentId(str(reply.result["agentId"]))
        await self.end(agent_id)
        agent, record = await self.bench.agent(agent_id), await self.bench.record(agent_id)
        quota = reply.result["quotaInfo"]
        assert isinstance(quota, Mapping)
        told = {_snake(name): value for name, value in result_of(agent, record).items()}
        return Outcome(code="done", told=told | {"quota_info": {_snake(n): v for n, v in quota.items()}})

    async def agent(self, **given: Any) -> Outcome:
        """HTTP through the agent's own socket, with its token."""
        return await self._post(self.egress_socket, self.token, given)

    async def http(self, **given: Any) -> Outcome:
        """HTTP from outside, by the operator, who names the parent."""
        return await self._post(self.socket, TOKEN, {"parent_agent_id": self.bench.root.agent_id, **given})

    async def mcp(self, **given: Any) -> Outcome:
        """The tool `spawn_docker_agent` from outside."""
        given = {"parent_agent_id": self.bench.root.agent_id, **given}
        async with self.tools() as tools:
            result = await self._while_ending(tools.call_tool("spawn_docker_agent", given), given)
        return as_outcome(result)

    @contextlib.asynccontextmanager
    async def tools(self, token: str = TOKEN) -> AsyncIterator[Client]:
        """A client of `/mcp/spawn`."""
        transport = httpx2.AsyncHTTPTransport(uds=str(self.socket))
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(transport=transport, headers=headers, timeout=60) as http:
            connection = streamable_http_client("http://dovecote/mcp/spawn", http_client=http)
            async with Client(connection) as client:
                yield client

    async def _post(self, socket: Path, token: str, body: Mapping[str, Any]) -> Outcome:
        transport = httpx.AsyncHTTPTransport(uds=str(socket))
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://dovecote", timeout=60) as client:
            asking = client.post("/api/v1/spawn", json=body, headers=headers)
            answer = await self._while_ending(asking, body)
        told = answer.json()
        return Outcome(
            code=told.get("code", "done"), told=told, status=answer.status_code, headers=answer.headers
        )

    async def _while_ending(self, asking: Awaitable[Any], asked: Mapping[str, Any]) -> Any:
        """The answer, while any child that is reserved meanwhile runs, says something and ends; but for a
        caller who does not wait."""
        if asked.get("wait") == "none":
            return await asking

        async def end_children() -> None:
            ear = self.bench.desk.services.wakeups.listen(Topic.AGENTS)
            while True:
                row = await self.bench.desk.run(lambda tx: tx.one(PENDING))
                if row is not None:
                    await self.end(AgentId(row["agent_id"]))
                await ear.wait(at_most_s=1)

        async with asyncio.TaskGroup() as tasks:
            ending = tasks.create_task(end_children())
            answer = await asking
            ending.cancel()
        return answer

    async def end(self, agent_id: AgentId) -> None:
        """It runs, says two things, and ends well."""
        await self.bench.run_it(agent_id)

        def say(tx: Transaction) -> None:
            spawn_texts.add(tx, agent_id, 1, "four doves")
            spawn_texts.add(tx, agent_id, 2, "and a crow")

        await self.bench.desk.run(say)
        self.bench.desk.clock.advance(2)
        await self.bench.end(agent_id)


def as_outcome(result: CallToolResult) -> Outcome:
    """What a tool answered."""
    told = result.structured_content or {}
    assert result.is_error == ("code" in told)
    return Outcome(code=told.get("code", "done"), told=told)


def _snake(name: str) -> str:
    return next(
        (
            each
            for each in (
                "agent_id",
                "tree_id",
                "exit_code",
                "duration_ms",
                "files_modified",
                "shared_with",
                "tree_agents_remaining",
                "depth_remaining",
            )
            if camel(each) == name
        ),
        name,
    )


@contextlib.asynccontextmanager
async def open_faces(bench: SpawnBench) -> AsyncIterator[Faces]:
    """Every way open, with the settings that the desk has now."""
    root, given = bench.root, bench.desk.services
    api = given.settings.api.model_copy(update={"loopback": False})
    settings = given.settings.model_copy(update={"api": api})
    services = replace(given, settings=settings)
    paths = services.paths
    console = ConsoleChannel(clock=services.clock, wakeups=services.wakeups, file_path=paths.console_file)
    feed = await EventFeed.open(services)
    server = ApiServer(
        services=services,
        door=console,
        credentials=Credentials(TOKEN, services),
        socket_path=paths.socket,
        live=feed,
    )
    meter = StoredUsage(services)
    opening = opened_egress(
        paths.run / "egress", meter=meter, clock=services.clock, agent_api=AgentFace(services, feed)
    )
    async with opening as egress, asyncio.TaskGroup() as tasks:
        policy = EgressPolicy(
            agent_id=root.agent_id, group=root.group, api=None, credential=None, serves_spawn=True
        )
        door = await egress.open(policy)
        directory = await prepare_token_dir(services, root.agent_id, None)
        token = "none" if directory is None else (directory / "session").read_text("ascii")
        running = [tasks.create_task(feed.run()), tasks.create_task(server.run())]
        # The address of a socket holds 107 bytes: through the descriptor any path fits.
        here = os.open(door.directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            await until_open(paths.socket)
            yield Faces(bench, paths.socket, Path(f"/proc/self/fd/{here}/proxy.sock"), token)
        finally:
            os.close(here)
            for task in running:
                task.cancel()
