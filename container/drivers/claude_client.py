"""The one module that knows the Claude Agent SDK: its messages become values of ours.

The package is large and slow to import, so it is imported when the first program starts, from the agent
programs' directory before what else is installed. Source: agents.md section 4.
"""

import asyncio
import importlib
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from container.drivers.claude_events import Begun, ClaudeEvent, Finished, Said, ToolBegun, ToolDone, Working
from container.drivers.program_patience import USUAL_S, told_when_slow
from orchestrator.contracts.errors import ErrorCode, NotFound

AGENTS_VARIABLE: Final = "DOVECOTE_AGENTS"
"""Where the agent programs lie; without it they are where a container has them."""
_DEFAULT_AGENTS: Final = "/opt/dovecote-agents"
_PROGRAM: Final = "claude"
_SDK: Final = "claude_agent_sdk"
_MAX_LINE_BYTES: Final = 32 * 1024**2
"""Of one JSON line: a tool's result may hold a picture."""
_KEPT_ERROR_LINES: Final = 20
_PACKAGES_BOUND: Final = "CLAUDE_CODE_STREAM_CLOSE_TIMEOUT"
_CLOSE_S: Final = 1.5
"""The agent runner gives a driver 3 s to close, and what the program leaves behind is ended after this."""
_INSTRUCTIONS_FLAG: Final = "append-system-prompt-file"
_INPUT_COUNTS: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")

Decide = Callable[[str, Mapping[str, object], str | None], Awaitable[str | None]]
"""A tool's name, its input, what the program says of it: None lets it run, a text is the refusal."""


class ClaudeGone(Exception):
    """The program ended, could not be started or said what nobody understands. The text says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeOptions:
    """How one program is started. tools: the built-in ones it offers the model.

    instructions: a file whose text follows the program's own system prompt. resume: the session to go on
    with. decide: asked before each tool that is not in `allowed`. answer_s: it has to listen within this.
    """

    cwd: Path
    environment: Mapping[str, str]
    tools: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    mcp_servers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    permission_mode: str = "default"
    instructions: Path | None = None
    extra_directories: tuple[str, ...] = ()
    model: str | None = None
    max_turns: int | None = None
    resume: str | None = None
    decide: Decide | None = None
    answer_s: float = USUAL_S


class ClaudeClient:
    """One running program. Raises ClaudeGone from every method but `close`."""

    def __init__(self, options: ClaudeOptions) -> None:
        self._sdk = load_sdk()
        self._error_kind: str | None = None
        self._error_lines: list[str] = []
        self._answer_s = options.answer_s
        self._client = self._sdk.ClaudeSDKClient(self._sdk_options(options))

    async def connect(self) -> None:
        """Start the program and wait until it listens."""
        if self._answer_s > USUAL_S:  # the package's own bound is that, unless it is told another
            os.environ[_PACKAGES_BOUND] = str(round(self._answer_s * 1000))
        try:
            with told_when_slow(self._answer_s):
                async with asyncio.timeout(self._answer_s):
                    await self._client.connect()
        except TimeoutError as error:
            raise ClaudeGone(f"the program did not answer within {self._answer_s:g} s") from error
        except Exception as error:  # a foreign package; whatever it raises, there is no program
            raise self._gone(error) from error

    async def send(self, text: str, prompt_id: str) -> None:
        """Give it a prompt; while it works on another it takes this one in. prompt_id: a UUID, used once."""
        message = {
            "type": "user",
            "uuid": prompt_id,
            "message": {"role": "user", "content": text},
            "parent_tool_use_id": None,
        }
        try:
            await self._client.query(_one(message))
        except Exception as error:  # a foreign package; whatever it raises, the prompt was not given
            raise self._gone(error) from error

    async def events(self) -> AsyncGenerator[ClaudeEvent, None]:
        """What the program does, until somebody stops listening."""
        try:
            async for message in self._client.receive_messages():
                for event in self._events_of(message):
                    yield event
        except Exception as error:  # a foreign package; whatever it raises, nothing more will come
            raise self._gone(error) from error
        raise ClaudeGone("the program ended")

    async def interrupt(self) -> None:
        """Ask it to leave what it does; it tells the end by an event."""
        try:
            await self._client.interrupt()
        except Exception as error:  # a foreign package; whatever it raises, it was not told
            raise self._gone(error) from error

    async def close(self) -> None:
        """End the program; kindly as long as there is time for it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                with suppress(self._sdk.ClaudeSDKError, OSError):
                    await self._client.disconnect()

    def _sdk_options(self, options: ClaudeOptions) -> Any:
        extra = {} if options.instructions is None else {_INSTRUCTIONS_FLAG: str(options.instructions)}
        return self._sdk.ClaudeAgentOptions(
            cwd=str(options.cwd),
            env=dict(options.environment),
            tools=list(options.tools),
            allowed_tools=list(options.allowed),
            mcp_servers={name: dict(server) for name, server in options.mcp_servers.items()},
            # Nothing that lies in the workspace or the home configures the program.
            setting_sources=[],
            strict_mcp_config=True,
            permission_mode=options.permission_mode,
            can_use_tool=None if options.decide is None else self._asker(options.decide),
            system_prompt={"type": "preset", "preset": "claude_code"},
            extra_args=extra,
            # What people write is no command and no `@file` of the program's.
            verbatim_prompts=True,
            add_dirs=list(options.extra_directories),
            model=options.model,
            max_turns=options.max_turns,
            resume=options.resume,
            max_buffer_size=_MAX_LINE_BYTES,
            stderr=self._keep_error_line,
        )

    def _asker(self, decide: Decide) -> Callable[[str, dict[str, Any], Any], Awaitable[Any]]:
        async def may_use(name: str, given: dict[str, Any], context: Any) -> Any:
            refusal = await decide(name, given, getattr(context, "title", None))
            if refusal is None:
                return self._sdk.PermissionResultAllow()
            return self._sdk.PermissionResultDeny(message=refusal)

        return may_use

    def _events_of(self, message: Any) -> list[ClaudeEvent]:
        sdk = self._sdk
        if isinstance(message, sdk.AssistantMessage):
            return self._of_assistant(message)
        if isinstance(message, sdk.UserMessage) and isinstance(message.content, list):
            return [
                ToolDone(call_id=block.tool_use_id, is_error=bool(block.is_error))
                for block in message.content
                if isinstance(block, sdk.ToolResultBlock)
            ]
        if isinstance(message, sdk.ResultMessage):
            return [self._of_result(message)]
        if isinstance(message, sdk.SystemMessage):
            return [_of_system(message.subtype, message.data)]
        return [Working(what=type(message).__name__)]

    def _of_assistant(self, message: Any) -> list[ClaudeEvent]:
        sdk = self._sdk
        if message.error is not None:
            # The text of such a message is the program's own account of a provider's error.
            self._error_kind = str(message.error)
            return [Working(what=f"error {message.error}")]
        found: list[ClaudeEvent] = []
        for block in message.content:
            if isinstance(block, sdk.ToolUseBlock):
                found.append(ToolBegun(name=block.name, call_id=block.id, given=block.input))
            elif isinstance(block, sdk.TextBlock) and message.parent_tool_use_id is None:
                found.append(Said(text=block.text))
        return found or [Working(what="assistant")]

    def _of_result(self, result: Any) -> Finished:
        usage = result.usage or {}
        kind, self._error_kind = self._error_kind, None
        return Finished(
            session_id=result.session_id,
            is_error=bool(result.is_error),
            taken=_taken(result),
            text=result.result or "; ".join(result.errors or ()),
            subtype=result.subtype,
            reason=result.terminal_reason or "",
            stop_reason=result.stop_reason or "",
            status=result.api_error_status,
            kind=kind,
            input_tokens=sum(_count(usage.get(name)) for name in _INPUT_COUNTS),
            output_tokens=_count(usage.get("output_tokens")),
            total_cost_usd=result.total_cost_usd,
        )

    def _keep_error_line(self, line: str) -> None:
        self._error_lines = [*self._error_lines, line][-_KEPT_ERROR_LINES:]
        print(line, file=sys.stderr)

    def _gone(self, error: Exception) -> ClaudeGone:
        last = f" ({self._error_lines[-1]})" if self._error_lines else ""
        return ClaudeGone(f"{type(error).__name__}: {error}{last}")


def load_sdk() -> Any:
    """The package. Raises NotFound, naming the command that installs it."""
    directory = Path(os.environ.get(AGENTS_VARIABLE, _DEFAULT_AGENTS)) / _PROGRAM
    if directory.is_dir() and str(directory) not in sys.path:
        sys.path.insert(0, str(directory))
    try:
        return importlib.import_module(_SDK)
    except ModuleNotFoundError as error:
        raise NotFound(
            f"The agent program {_PROGRAM!r} is not installed in {directory}: there is no {error.name!r}.",
            code=ErrorCode.NOT_FOUND,
            suggestion=f"Run `dovecote image build --with {_PROGRAM}`.",
        ) from error


async def _one(message: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
    yield message


def _of_system(subtype: str, said: Mapping[str, Any]) -> ClaudeEvent:
    if subtype == "init":
        servers = [each for each in said.get("mcp_servers") or () if each.get("status") == "failed"]
        failed = tuple(str(each.get("name")) for each in servers)
        return Begun(session_id=str(said.get("session_id", "")), failed_servers=failed)
    status = said.get("error_status")
    return Working(what=subtype if status is None else f"{subtype} {status}")


def _taken(result: Any) -> tuple[str, ...]:
    """The prompts that a result is the end of; older programs name the last one only."""
    if result.user_message_uuids:
        return tuple(result.user_message_uuids)
    return () if result.user_message_uuid is None else (result.user_message_uuid,)


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
