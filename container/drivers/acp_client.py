"""Our side of the protocol: what a program may ask of us while it works, each judged by the policy."""

import asyncio
import functools
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from acp import RequestError
from acp.schema import (
    AllowedOutcome,
    CreateTerminalResponse,
    DeniedOutcome,
    EnvVariable,
    PermissionOption,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TerminalExitStatus,
    TerminalOutputResponse,
    ToolCallUpdate,
    WaitForTerminalExitResponse,
    WriteTextFileResponse,
)

from container.drivers import acp_permissions as policy
from container.drivers.acp_permissions import Verdict, Wish
from container.drivers.acp_terminals import Exit, Terminals
from container.drivers.acp_updates import Updates
from container.drivers.leave import NOT_ALLOWED, TURN_OVER, LeaveAsker
from container.drivers.workspace_files import WorkspaceFiles
from orchestrator.contracts.errors import DovecoteError, NotFound

REFUSED: Final = -32001
_NOT_FOUND: Final = -32002

P = ParamSpec("P")
R = TypeVar("R")


def _told(method: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    """Answer our own errors in the protocol's form; of others the package would tell the text."""

    @functools.wraps(method)
    async def answered(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await method(*args, **kwargs)
        except DovecoteError as error:
            code = _NOT_FOUND if isinstance(error, NotFound) else REFUSED
            raise RequestError(code, str(error)) from error
        except OSError as error:
            raise RequestError(-32603, error.strerror or "The system refused.") from error

    return answered


class AcpClient:
    """Serves one program. roots: where the agent may work; the first is the workspace."""

    def __init__(
        self,
        *,
        permissions: str,
        roots: Sequence[Path],
        asker: LeaveAsker,
        updates: Updates,
        terminals: Terminals,
    ) -> None:
        self.missing_is_empty = False
        self._permissions = permissions
        self._roots = [os.path.realpath(root) for root in roots]
        self._files = WorkspaceFiles(roots[0])
        self._asker = asker
        self._updates = updates
        self._terminals = terminals
        self._may_write: set[str] = set()

    def forget_leave(self) -> None:
        """A turn is over: what was allowed in it is not allowed in the next."""
        self._may_write.clear()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Take an update; its handler must not wait, or a later one would overtake it."""
        self._updates.put(update)

    @_told
    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        """Answer by the policy, or by what people say."""
        paths = [location.path for location in tool_call.locations or ()]
        title, kind = tool_call.title or "", tool_call.kind
        is_inside = all(self._is_inside(path) for path in paths)
        verdict = policy.judge_tool(self._permissions, kind=kind, title=title, is_inside=is_inside)
        refusal: str | None = NOT_ALLOWED if verdict is Verdict.REFUSE else None
        if verdict is Verdict.ASK:
            question = policy.tool_question(kind=kind, title=title, given=tool_call.raw_input)
            refusal = await self._asker.ask(question)
        if refusal is None:
            self._may_write.update(self._plain(path) for path in paths)
        return _answer(options, refusal)

    @_told
    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **_: Any
    ) -> ReadTextFileResponse:
        """Read a file of the workspace."""
        await self._want(Wish.READ_FILE, path)
        try:
            text = await asyncio.to_thread(self._files.read, path, line=line, limit=limit)
        except NotFound:
            if not self.missing_is_empty:
                raise
            text = ""
        return ReadTextFileResponse(content=text)

    @_told
    async def write_text_file(
        self, session_id: str, path: str, content: str, **_: Any
    ) -> WriteTextFileResponse:
        """Write a file of the workspace."""
        if self._plain(path) not in self._may_write:
            await self._want(Wish.WRITE_FILE, policy.write_question(path))
        await asyncio.to_thread(self._files.write, path, content)
        return WriteTextFileResponse()

    @_told
    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        env: list[EnvVariable] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **_: Any,
    ) -> CreateTerminalResponse:
        """Run a command in the workspace."""
        await self._want(Wish.RUN_COMMAND, policy.command_question([command, *(args or ())]))
        directory = await asyncio.to_thread(self._files.directory, cwd or ".")
        name = await self._terminals.create(
            command,
            args or (),
            environment={variable.name: variable.value for variable in env or ()},
            directory=directory,
            max_output_bytes=output_byte_limit,
        )
        return CreateTerminalResponse(terminal_id=name)

    @_told
    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> TerminalOutputResponse:
        """What a command has printed so far."""
        terminal = self._terminals.get(terminal_id)
        status = None if terminal.exit is None else _status(terminal.exit)
        return TerminalOutputResponse(
            output=terminal.output.text, truncated=terminal.output.is_cut, exit_status=status
        )

    @_told
    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> WaitForTerminalExitResponse:
        """Wait for a command's end."""
        ended = await self._terminals.get(terminal_id).wait()
        return WaitForTerminalExitResponse(exit_code=ended.code, signal=ended.signal)

    @_told
    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        """End a command; what it printed stays."""
        self._terminals.get(terminal_id).kill()

    @_told
    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        """End a command and forget it."""
        await self._terminals.release(terminal_id)

    async def _want(self, wish: Wish, question: str) -> None:
        """Raises RequestError if the wish is not to be fulfilled."""
        verdict = policy.judge_wish(self._permissions, wish)
        refusal = NOT_ALLOWED if verdict is Verdict.REFUSE else None
        if verdict is Verdict.ASK:
            refusal = await self._asker.ask(question)
        if refusal is not None:
            raise RequestError(REFUSED, refusal)

    def _plain(self, path: str) -> str:
        """A path from the root on; links are refused where it is opened."""
        return os.path.normpath(os.path.join(self._roots[0], path))

    def _is_inside(self, path: str) -> bool:
        if not path.strip() or "\0" in path:
            return False
        resolved = os.path.realpath(os.path.join(self._roots[0], path))
        return any(resolved == root or resolved.startswith(f"{root}/") for root in self._roots)


def _answer(options: Sequence[PermissionOption], refusal: str | None) -> RequestPermissionResponse:
    """The chosen option. A turn that ends meanwhile, or options that fit none, cancel the request."""
    option = None
    if refusal != TURN_OVER:
        option = policy.option_for(options, is_allowed=refusal is None)
    if option is None:
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
    return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=option))


def _status(ended: Exit) -> TerminalExitStatus:
    return TerminalExitStatus(exit_code=ended.code, signal=ended.signal)
