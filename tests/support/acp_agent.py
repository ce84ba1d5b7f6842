"""A program that speaks the Agent Client Protocol and does what a plan says: `acp_agent.py PLAN RECORD`.

PLAN is a JSON file: what it reports, what it refuses, and its `turns`, each a list of steps that are methods
`do_…` below. RECORD gets a JSON line for every call of the client.
On the protocol package's own agent side. Stands alone: it is started by its path.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from acp import RequestError, helpers, run_agent
from acp.schema import (
    AgentCapabilities,
    Cost,
    CurrentModeUpdate,
    EnvVariable,
    Implementation,
    InitializeResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PermissionOption,
    PlanEntry,
    PromptResponse,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
    ToolCallLocation,
    ToolCallUpdate,
    Usage,
    UsageUpdate,
)


class PlannedAgent:
    """Plays a plan; what is asked of it goes on record."""

    def __init__(self, plan: dict[str, Any], record: Path) -> None:
        self.plan = plan
        self.turns = list(plan.get("turns", []))
        self.record_path = record
        self.cancelled = asyncio.Event()
        self.client: Any = None
        self.usage: Usage | None = None

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    def record(self, call: str, **told: object) -> None:
        with self.record_path.open("a") as file:
            file.write(json.dumps({"call": call} | told, default=lambda value: value.model_dump()) + "\n")

    async def initialize(
        self, protocol_version: int, client_capabilities: Any = None, client_info: Any = None, **_: Any
    ) -> InitializeResponse:
        self.record("initialize", capabilities=client_capabilities, info=client_info)
        await self.fail_or_hang("initialize")
        can = AgentCapabilities(
            load_session=self.plan.get("can_load", True),
            mcp_capabilities=McpCapabilities(http=self.plan.get("takes_urls", False)),
        )
        info = Implementation(name=self.plan.get("name", "planned"), version="1")
        return InitializeResponse(protocol_version=protocol_version, agent_capabilities=can, agent_info=info)

    async def new_session(self, cwd: str, **opening: Any) -> NewSessionResponse:
        self.record("new", cwd=cwd, environment=dict(os.environ), pid=os.getpid(), **opening)
        await self.fail_or_hang("new")
        return NewSessionResponse(session_id=self.plan.get("session_id", "session-1"), **self.choices())

    async def load_session(self, cwd: str, session_id: str, **opening: Any) -> LoadSessionResponse:
        self.record("load", cwd=cwd, session_id=session_id, **opening)
        await self.fail_or_hang("load")
        for text in ("an old question", "an old answer"):
            await self.update(session_id, helpers.update_agent_message_text(text))
        return LoadSessionResponse(**self.choices())

    async def set_session_mode(self, mode_id: str, session_id: str, **_: Any) -> None:
        self.record("mode", mode=mode_id)
        await self.fail_or_hang("mode")

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> dict[str, Any]:
        self.record("option", option=config_id, value=value)
        return {"configOptions": []}

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.record("cancel")
        if not self.plan.get("ignores_cancel"):
            self.cancelled.set()

    async def prompt(self, prompt: list[Any], session_id: str, **meta: Any) -> PromptResponse:
        texts = [block.text for block in prompt]
        self.record("prompt", texts=texts, meta=meta)
        self.cancelled.clear()
        self.usage = None
        reason = "end_turn"
        default = [{"say": f"echo: {texts[-1]}"}]
        for step in self.turns.pop(0) if self.turns else default:
            ((name, told),) = step.items()
            if name == "stop":
                reason = told
                break
            await getattr(self, f"do_{name}")(session_id, told)
            if name == "wait_for_cancel":
                reason = "cancelled"
        return PromptResponse(stop_reason=reason, usage=self.usage)

    async def fail_or_hang(self, call: str) -> None:
        told = self.plan.get("failures", {}).get(call)
        if told == "hang":
            await asyncio.Event().wait()
        if told == "die":
            os._exit(7)
        if told is not None:
            raise RequestError(told["code"], told["message"], told.get("data"))

    def choices(self) -> dict[str, Any]:
        modes = self.plan.get("modes")
        options = [
            SessionConfigOptionSelect(
                type="select",
                id=name,
                name=name,
                current_value=values[0],
                options=[SessionConfigSelectOption(value=value, name=value) for value in values],
            )
            for name, values in self.plan.get("options", {}).items()
        ]
        state = (
            SessionModeState(
                current_mode_id=modes[0], available_modes=[SessionMode(id=mode, name=mode) for mode in modes]
            )
            if modes
            else None
        )
        return {"modes": state, "config_options": options or None}

    async def update(self, session_id: str, update: Any) -> None:
        await self.client.session_update(session_id=session_id, update=update)

    async def do_say(self, session_id: str, text: str) -> None:
        await self.update(session_id, helpers.update_agent_message_text(text))

    async def do_think(self, session_id: str, text: str) -> None:
        await self.update(session_id, helpers.update_agent_thought_text(text))

    async def do_many(self, session_id: str, count: int) -> None:
        for number in range(count):
            await self.do_say(session_id, f"{number} ")

    async def do_tool(self, session_id: str, told: dict[str, Any]) -> None:
        await self.update(session_id, helpers.start_tool_call("call-1", **told))

    async def do_tool_update(self, session_id: str, told: dict[str, Any]) -> None:
        await self.update(session_id, helpers.update_tool_call("call-1", **told))

    async def do_plan(self, session_id: str, entries: list[list[str]]) -> None:
        made = [PlanEntry(content=text, priority="low", status=status) for text, status in entries]
        await self.update(session_id, helpers.update_plan(made))

    async def do_mode(self, session_id: str, mode: str) -> None:
        update = CurrentModeUpdate(session_update="current_mode_update", current_mode_id=mode)
        await self.update(session_id, update)

    async def do_cost(self, session_id: str, usd: float) -> None:
        cost = Cost(amount=usd, currency="USD")
        await self.update(session_id, UsageUpdate(session_update="usage_update", used=1, size=2, cost=cost))

    async def do_usage(self, session_id: str, told: list[int]) -> None:
        total, given, made = told
        self.usage = Usage(total_tokens=total, input_tokens=given, output_tokens=made)

    async def do_permission(self, session_id: str, told: dict[str, Any]) -> None:
        kinds = told.get("offers", ["allow_always", "allow_once", "reject_once", "reject_always"])
        options = [PermissionOption(kind=kind, name=kind, option_id=f"id-{kind}") for kind in kinds]
        call = ToolCallUpdate(
            tool_call_id="call-1",
            title=told.get("title", "a tool"),
            kind=told.get("kind"),
            raw_input=told.get("input"),
            locations=[ToolCallLocation(path=path) for path in told.get("paths", [])],
        )
        answer = await self.client.request_permission(session_id=session_id, tool_call=call, options=options)
        chosen = getattr(answer.outcome, "option_id", answer.outcome.outcome)
        self.record("permission", chosen=chosen)

    async def do_read(self, session_id: str, told: dict[str, Any]) -> None:
        await self.tell("read", self.client.read_text_file(session_id=session_id, **told), "content")

    async def do_write(self, session_id: str, told: dict[str, Any]) -> None:
        await self.tell("write", self.client.write_text_file(session_id=session_id, **told), None)

    async def do_run(self, session_id: str, told: dict[str, Any]) -> None:
        variables = [EnvVariable(name=name, value=value) for name, value in told.pop("env", {}).items()]
        try:
            made = await self.client.create_terminal(session_id=session_id, env=variables, **told)
        except RequestError as error:
            self.record("run", error=error.code, message=str(error))
            return
        name = made.terminal_id
        ended = await self.client.wait_for_terminal_exit(session_id=session_id, terminal_id=name)
        shown = await self.client.terminal_output(session_id=session_id, terminal_id=name)
        await self.client.release_terminal(session_id=session_id, terminal_id=name)
        self.record("run", code=ended.exit_code, output=shown.output, cut=shown.truncated)

    async def do_begin_run(self, session_id: str, told: dict[str, Any]) -> None:
        await self.client.create_terminal(session_id=session_id, **told)

    async def do_print(self, _: str, line: str) -> None:
        sys.stdout.buffer.write(line.encode() + b"\n")
        sys.stdout.buffer.flush()

    async def do_print_long(self, _: str, mebibytes: int) -> None:
        os.set_blocking(sys.stdout.fileno(), True)
        for _n in range(mebibytes):
            sys.stdout.buffer.write(b"x" * 1024**2)
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()

    async def do_complain(self, _: str, line: str) -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    async def do_fail(self, _: str, told: dict[str, Any]) -> None:
        raise RequestError(told["code"], told["message"], told.get("data"))

    async def do_die(self, _: str, code: int) -> None:
        os._exit(code)

    async def do_hang(self, _: str, __: object) -> None:
        await asyncio.Event().wait()

    async def do_wait_for_cancel(self, _: str, __: object) -> None:
        await self.cancelled.wait()

    async def do_child(self, _: str, words: list[str]) -> None:
        child = await asyncio.create_subprocess_exec(*words, stdin=asyncio.subprocess.DEVNULL)
        self.record("child", pid=child.pid)

    async def tell(self, call: str, asking: Any, member: str | None) -> None:
        try:
            answer = await asking
        except RequestError as error:
            self.record(call, error=error.code, message=str(error))
        else:
            self.record(call, told=getattr(answer, member) if member else None)


async def main(plan: dict[str, Any], record: Path) -> None:
    """Play until the client closes our input; longer, if the plan says so."""
    agent = PlannedAgent(plan, record)
    if plan.get("ignores_sigterm"):
        signal.signal(signal.SIGTERM, lambda *_: agent.record("sigterm"))
    await run_agent(agent)  # type: ignore[arg-type]  # it has what the driver calls
    agent.record("eof")
    if plan.get("ignores_eof"):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])))
