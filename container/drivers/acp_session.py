"""One session of a program: negotiated, resumed or begun, put into its mode, prompted, stopped.

Every call has a time limit, since the protocol's package has none. Source: agents.md section 4.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from acp import PROTOCOL_VERSION, RequestError, connect_to_agent, text_block
from acp.schema import (
    ClientCapabilities,
    EnvVariable,
    FileSystemCapabilities,
    HttpMcpServer,
    Implementation,
    InitializeResponse,
    McpServerStdio,
)

from container.drivers.acp_client import AcpClient
from container.drivers.acp_endings import Ended, ProgramFailed, ended_early, program_failure
from container.drivers.acp_errors import AUTH_REQUIRED, RESOURCE_NOT_FOUND, turn_error
from container.drivers.acp_modes import choose_mode
from container.drivers.acp_program import AcpProgram, extra_directories
from container.drivers.acp_terminals import Terminals
from container.drivers.acp_transport import LineTransport
from container.drivers.acp_updates import Updates
from container.drivers.program_patience import answer_s
from orchestrator.contracts.wire.container_io import AgentDefinition, ToolServer

OPEN_S: Final = 120.0
SET_S: Final = 30.0
CANCEL_S: Final = 1.0
STARTUP_PROMPT: Final = "dovecote.startup_prompt"
"""In a prompt's metadata: its first block is no user's, it holds the start-up prompt."""

_KEPT_DROPPED: Final = 20
_FIRST_CALL: Final = "initialize"

T = TypeVar("T")


class AcpSession:
    """A program and the session it holds. All but `stop` raise ProgramFailed."""

    def __init__(
        self,
        program: AcpProgram,
        agent: AgentDefinition,
        *,
        workspace: Path,
        client: AcpClient,
        updates: Updates,
        terminals: Terminals,
        servers: Sequence[ToolServer],
    ) -> None:
        self.session_id: str | None = None
        self.can_be_resumed = False
        self.dropped: deque[str] = deque(maxlen=_KEPT_DROPPED)
        self._program = program
        self._agent = agent
        self._workspace = workspace
        self._client = client
        self._terminals = terminals
        self._servers = servers
        self._mode: str | None = None
        self._name = ""
        self._takes_urls = False
        transport = LineTransport(program.stdout, program.stdin, dropped=self._drop, room=updates.room)
        self._connection = connect_to_agent(client, transport)  # type: ignore[arg-type]  # has what is asked

    @property
    def is_alive(self) -> bool:
        """Whether the program runs."""
        return self._program.is_running

    @property
    def is_gemini(self) -> bool:
        """Whether it is the program that loses a session resumed in the minute in which it was opened."""
        return self._name.startswith("gemini")

    async def negotiate(self, version: str) -> None:
        """Say what we can do, and hear what the program can."""
        files = self._agent.offers_files
        capabilities = ClientCapabilities(
            fs=FileSystemCapabilities(read_text_file=files, write_text_file=files), terminal=True
        )
        us = Implementation(name="dovecote", version=version or "0")
        told = await self._call(
            self._connection.initialize(PROTOCOL_VERSION, capabilities, us),
            answer_s(self._agent.options),
            _FIRST_CALL,
        )
        self._take_capabilities(told)

    async def begin(self) -> None:
        """Open a fresh session and put it into its mode."""
        self.session_id = None
        opened = await self._call(
            self._connection.new_session(str(self._workspace), **self._opening()), OPEN_S, "session/new"
        )
        self.session_id = opened.session_id
        await self._set_up(opened)

    async def resume(self, session_id: str) -> None:
        """Load a session of an earlier run. Raises ProgramFailed, also if the program can't do such."""
        if not self.can_be_resumed:
            raise program_failure(
                "The agent program can't resume a session: it has no session/load. "
                "Begin a new conversation with /new."
            )
        loading = self._connection.load_session(
            str(self._workspace), session_id=session_id, **self._opening()
        )
        loaded = await self._call(loading, OPEN_S, "session/load")
        self.session_id = session_id
        await self._set_up(loaded)

    async def prompt(self, text: str, *, startup: str = "") -> Ended:
        """Give it a prompt and wait for its end. startup: the start-up prompt, with the first one only."""
        assert self.session_id is not None
        blocks: list[Any] = [text_block(part) for part in (startup, text) if part]
        marks: dict[str, Any] = {STARTUP_PROMPT: True} if startup else {}
        told = await self._call(
            self._connection.prompt(self.session_id, blocks, **marks), None, "session/prompt"
        )
        usage = told.usage
        if usage is None:
            return Ended(stop_reason=told.stop_reason)
        # With what was read from and written to a cache, where the program's sum says it counts apart.
        input_tokens = max(usage.input_tokens, usage.total_tokens - usage.output_tokens)
        return Ended(
            stop_reason=told.stop_reason, input_tokens=input_tokens, output_tokens=usage.output_tokens
        )

    async def cancel(self) -> None:
        """Ask it to leave what it does; the prompt's end tells that it did."""
        if self.session_id is None or not self._program.is_running:
            return
        with suppress(TimeoutError, ConnectionError, RequestError):
            async with asyncio.timeout(CANCEL_S):
                await self._connection.cancel(session_id=self.session_id)

    async def keep_mode(self, current: str | None) -> None:
        """Put the session back into our mode, if the program says that it has left it."""
        if current is not None and self._mode is not None and current != self._mode:
            await self._set_mode(self._mode)

    async def stop(self) -> None:
        """End the program kindly as far as it lets us; nothing of it is left."""
        try:
            await self.cancel()
        finally:
            try:
                await self._program.stop(wait_s=self._agent.stop_wait_s)
            finally:
                await self._terminals.close()
                await self._connection.close()

    def _take_capabilities(self, told: InitializeResponse) -> None:
        can = told.agent_capabilities
        self.can_be_resumed = can is not None and bool(can.load_session)
        self._takes_urls = (
            can is not None and can.mcp_capabilities is not None and bool(can.mcp_capabilities.http)
        )
        self._name = told.agent_info.name if told.agent_info is not None else ""
        # It takes no error for the answer that there is no such file, and so could make none.
        self._client.missing_is_empty = self.is_gemini

    def _opening(self) -> dict[str, Any]:
        """What `session/new` and `session/load` share."""
        extra = extra_directories(self._agent.extra_directories, root=self._workspace)
        opening: dict[str, Any] = {"mcp_servers": self._offered_servers()}
        if extra:
            opening |= {"additional_directories": extra, "additional_dirs": extra}
        return opening

    def _offered_servers(self) -> list[McpServerStdio | HttpMcpServer]:
        offered: list[McpServerStdio | HttpMcpServer] = []
        for server in self._servers:
            if server.url is None:
                program, *arguments = server.command or ("",)
                environment = [EnvVariable(name=n, value=v) for n, v in (server.environment or {}).items()]
                offered.append(
                    McpServerStdio(name=server.name, command=program, args=arguments, env=environment)
                )
            elif self._takes_urls:
                offered.append(HttpMcpServer(type="http", name=server.name, url=server.url, headers=[]))
            else:
                self._drop(f"the tool server {server.name!r}: the program takes none with a URL")
        return offered

    async def _set_up(self, opened: Any) -> None:
        """The mode that the permissions ask for, and the model, where the program offers a choice."""
        options = {option.id: option for option in getattr(opened, "config_options", None) or ()}
        modes = getattr(opened, "modes", None)
        if modes is not None and modes.available_modes:
            reported = [mode.id for mode in modes.available_modes]
            await self._choose_mode(reported, current=modes.current_mode_id)
        elif (option := options.get(self._agent.mode_option or "")) is not None:
            await self._choose_option(option)
        model, wanted = options.get("model"), self._agent.model
        # One that is chosen already is not chosen again: some programs would write it into a laid file.
        if model is not None and wanted in _values(model) and model.current_value != wanted:
            await self._set_option("model", wanted or "")

    async def _choose_mode(self, reported: Sequence[str], *, current: str) -> None:
        self._mode = choose_mode(self._agent.permissions, candidates=self._agent.modes, reported=reported)
        # One that it is in already is not set: some programs would write that into a laid file.
        if self._mode is not None and self._mode != current:
            await self._set_mode(self._mode)

    async def _choose_option(self, option: Any) -> None:
        values = _values(option)
        value = choose_mode(self._agent.permissions, candidates=self._agent.modes, reported=values)
        if value is not None and value != getattr(option, "current_value", None):
            await self._set_option(option.id, value)

    async def _set_mode(self, mode: str) -> None:
        assert self.session_id is not None
        setting = self._connection.set_session_mode(session_id=self.session_id, mode_id=mode)
        await self._call(setting, SET_S, f"session/set_mode {mode}")

    async def _set_option(self, name: str, value: str) -> None:
        assert self.session_id is not None
        setting = self._connection.set_config_option(config_id=name, session_id=self.session_id, value=value)
        await self._call(setting, SET_S, f"session/set_config_option {name} {value}")

    async def _call(self, call: Awaitable[T], limit_s: float | None, what: str) -> T:
        """Wait for an answer. limit_s: None for a call that somebody else watches."""
        try:
            async with asyncio.timeout(limit_s):
                return await call
        except RequestError as error:
            details = turn_error(str(error), code=error.code, details=error.data)
            raise ProgramFailed(details, is_session_gone=_is_gone(error, what)) from error
        except TimeoutError as error:
            raise program_failure(
                f"The agent program did not answer {what} within {limit_s:.0f} s."
            ) from error
        except ConnectionError as error:
            await self._program.settle()
            if what == _FIRST_CALL and not self._program.is_running:
                raise ended_early(self._program.complaint()) from error
            raise program_failure(f"The agent program {self._program.last_words()} during {what}.") from error
        except ValueError as error:  # of the package's models: what came has another form
            raise program_failure(
                f"The agent program answered {what} in a form that nobody knows."
            ) from error

    def _drop(self, what: str) -> None:
        self.dropped.append(what)


def _values(option: Any) -> list[str]:
    """What a config option may be set to; some programs put the choices into groups."""
    found: list[str] = []
    for choice in getattr(option, "options", None) or ():
        found += [inner.value for inner in getattr(choice, "options", None) or (choice,)]
    return found


def _is_gone(error: RequestError, what: str) -> bool:
    """Whether a session is not there any more. Each program has a code of its own for it, so any refusal
    to load counts, but one that asks who pays."""
    if what == "session/load":
        return error.code != AUTH_REQUIRED
    return error.code == RESOURCE_NOT_FOUND
