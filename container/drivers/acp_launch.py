"""A program with an open session: the one of an earlier run where it can be had, else a fresh one."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from container.drivers import pi_home
from container.drivers.acp_client import AcpClient
from container.drivers.acp_endings import ProgramFailed
from container.drivers.acp_program import command_environment, program_environment, start
from container.drivers.acp_session import AcpSession
from container.drivers.acp_store import OpenedSession, minute_wait_s, read_opened, write_opened
from container.drivers.acp_terminals import Terminals
from container.drivers.acp_updates import Updates
from container.drivers.driver import DriverContext
from container.drivers.leave import LeaveAsker
from container.drivers.program_patience import answer_s, told_when_slow
from container.drivers.tool_servers import tool_servers
from container.mcp_server import VERSION_VARIABLE
from orchestrator.contracts.wire.container_io import AgentDefinition, ToolServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """A session that is ready. is_resumed: it goes on from an earlier run. is_gone: that was wanted, and
    the session could not be found."""

    session: AcpSession
    client: AcpClient
    terminals: Terminals
    is_resumed: bool
    is_gone: bool


async def launch(
    context: DriverContext,
    agent: AgentDefinition,
    *,
    asker: LeaveAsker,
    updates: Updates,
    resume: str | None,
) -> Launched:
    """Start the program and open its session. Raises ProgramFailed or DovecoteError; then none is left."""
    places = context.places
    terminals = Terminals(command_environment(os.environ))
    client = AcpClient(
        permissions=agent.permissions,
        roots=(places.workspace, places.shared, *map(Path, agent.extra_directories)),
        asker=asker,
        updates=updates,
        terminals=terminals,
    )
    servers = tool_servers(context, agent)
    left_out = await _furnish(agent, servers)
    program = await start(
        agent.command, directory=places.workspace, environment=program_environment(os.environ)
    )
    session = AcpSession(
        program,
        agent,
        workspace=places.workspace,
        client=client,
        updates=updates,
        terminals=terminals,
        servers=servers,
    )
    session.dropped.extend(
        f"the tool server {name!r}: this program asks nobody for leave" for name in left_out
    )
    is_resumed = await _open(context, session, agent, resume=resume)
    return Launched(
        session=session,
        client=client,
        terminals=terminals,
        is_resumed=is_resumed,
        is_gone=resume is not None and not is_resumed,
    )


async def _furnish(agent: AgentDefinition, servers: Sequence[ToolServer]) -> list[str]:
    """Lay out the home of a program that is not told its tool servers; the names of those left out."""
    if not pi_home.is_wanted(os.environ):
        return []
    directory = Path(os.environ[pi_home.DIRECTORY_VARIABLE])
    return await asyncio.to_thread(pi_home.furnish, directory, agent, servers)


async def _open(
    context: DriverContext, session: AcpSession, agent: AgentDefinition, *, resume: str | None
) -> bool:
    """Whether it goes on from `resume`; else it begins afresh. The program is stopped if neither can be."""
    try:
        with told_when_slow(answer_s(agent.options)):
            await session.negotiate(os.environ.get(VERSION_VARIABLE, ""))
        is_resumed = resume is not None and await _resume(context, session, resume)
        if not is_resumed:
            await session.begin()
        await _remember(context, session)
    except BaseException:  # whatever ends it: no program is left behind
        await session.stop()
        raise
    return is_resumed


async def _resume(context: DriverContext, session: AcpSession, session_id: str) -> bool:
    """Load a session; False if it is not there any more."""
    if session.is_gemini:
        opened = await asyncio.to_thread(read_opened, context.places.home)
        await asyncio.sleep(minute_wait_s(opened, session_id, context.now()))
    try:
        await session.resume(session_id)
    except ProgramFailed as failure:
        if not failure.is_session_gone:
            raise
        return False
    return True


async def _remember(context: DriverContext, session: AcpSession) -> None:
    if session.is_gemini and session.session_id is not None:
        opened = OpenedSession(session_id=session.session_id, at=context.now())
        await asyncio.to_thread(write_opened, context.places.home, opened)
