"""A driver that plays a scenario: for tests and benchmarks. The format is described in `scenario`."""

import asyncio
import json
import os
import re
import signal
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from container.drivers.driver import AGENT_ERROR, DriverContext, Turn, TurnResult, failed
from container.drivers.scenario import ECHO, Rule, Scenario, Step, load_scenario
from container.messages import Message
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.wire.boxes import AnswerStatus
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.codec import from_plain
from orchestrator.contracts.wire.container_io import Usage, parse_event
from orchestrator.contracts.wire.framing import START_MARKER

_SCENARIO_OPTION: Final = "scenario"
_SCENARIO_FILE: Final = "scenario.yaml"
_PLAYED_DIRECTORY: Final = ".scenario"
_FLOOD_PIECE_BYTES: Final = 64 * 1024
_LOOK_S: Final = 0.02
_REPLY_WAIT_S: Final = 5.0


class ScriptDriver:
    """Plays a scenario; without one it answers every turn by an echo of its last message."""

    def __init__(self) -> None:
        self._scenario: Scenario = ECHO
        self._turns: deque[tuple[Step, ...]] = deque()
        self._joined: list[Message] = []
        self._join_came = asyncio.Event()
        self._is_playing = False
        self._turn_number = 0
        self._answer = ""
        self._result = TurnResult()
        self._actions: Mapping[str, Callable[[Step, Turn], Awaitable[None]]] = {
            "say": self._say,
            "say_raw": self._say_raw,
            "open_pair": self._open_pair,
            "flood": self._flood,
            "stderr": self._stderr,
            "delay_s": self._delay,
            "wait_for_file": self._wait_for_file,
            "wait_for_join": self._wait_for_join,
            "write_file": self._write_file,
            "run": self._run,
            "send_message": self._send_message,
            "request": self._request,
            "ask": self._ask,
            "tool": self._tool,
            "progress": self._progress,
            "event": self._event,
            "usage": self._usage,
            "fail": self._fail,
            "raise": self._raise,
            "exit": self._exit,
            "crash": self._crash,
            "ignore_sigterm": self._ignore_sigterm,
        }

    async def start(self, context: DriverContext) -> None:
        """Read the scenario, if there is one. Raises ScenarioError."""
        self._context = context
        agent = context.given.agent
        named = (agent.options or {}).get(_SCENARIO_OPTION) if agent is not None else None
        path = context.places.workspace / (named if isinstance(named, str) else _SCENARIO_FILE)
        if named is not None or path.exists():
            self._scenario = await asyncio.to_thread(load_scenario, path)
        self._turns.extend(self._scenario.turns)
        if self._scenario.session is not None:
            await context.name_session(self._scenario.session)

    async def run_turn(self, turn: Turn) -> TurnResult:
        """Play the steps that are next for this turn."""
        self._turn_number += 1
        self._result = TurnResult()
        self._is_playing = True
        try:
            for step in await self._choose(turn):
                await self._actions[step.name](step, turn)
                if self._result.error is not None:
                    break
        finally:
            self._is_playing = False
        return self._result

    def can_join(self, messages: Sequence[Message]) -> bool:
        """As the scenario says."""
        return self._scenario.join

    async def join(self, messages: Sequence[Message]) -> bool:
        """Keep the messages for `{joined}` and `wait_for_join`, while steps are played."""
        if not self._is_playing:
            return False
        self._joined.extend(messages)
        self._join_came.set()
        return True

    async def interrupt(self) -> None:
        """Nothing to ask: the steps are cancelled."""

    async def close(self) -> None:
        """Nothing is held."""

    async def _choose(self, turn: Turn) -> tuple[Step, ...]:
        if self._turns:
            return self._turns.popleft()
        text = turn.messages[-1].text if turn.messages else ""
        for rule in self._scenario.rules:
            if rule.pattern.search(text) is None:
                continue
            if await asyncio.to_thread(self._may_play, rule):
                return rule.steps
        return self._scenario.default

    def _may_play(self, rule: Rule) -> bool:
        """Count a limited rule in the workspace, before its steps: they may end the process."""
        if rule.times is None:
            return True
        counter = self._path(_PLAYED_DIRECTORY) / str(rule.number)
        counter.parent.mkdir(exist_ok=True)
        played = counter.stat().st_size if counter.exists() else 0
        if played >= rule.times:
            return False
        counter.write_bytes(b"x" * (played + 1))
        return True

    def _path(self, name: str) -> Path:
        return self._context.places.workspace / name

    def _fill_in(self, text: str, turn: Turn) -> str:
        values = {
            "text": turn.messages[-1].text if turn.messages else "",
            "texts": "\n".join(message.text for message in turn.messages),
            "joined": "\n".join(message.text for message in self._joined),
            "turn": str(self._turn_number),
            "answer": self._answer,
        }
        return re.sub(r"\{(text|texts|joined|turn|answer)\}", lambda found: values[found[1]], text)

    async def _say(self, step: Step, turn: Turn) -> None:
        await turn.say(self._fill_in(step.text, turn))

    async def _say_raw(self, step: Step, _turn: Turn) -> None:
        await self._context.output.raw(step.raw)

    async def _open_pair(self, step: Step, _turn: Turn) -> None:
        await self._context.output.raw(f"\n{START_MARKER}\n{step.text}\n".encode())

    async def _flood(self, step: Step, _turn: Turn) -> None:
        left = int(_number(step.fields["bytes"]))
        line = b"x" * 99 + b"\n" if step.fields.get("newlines") else b"x" * 100
        piece = line * (_FLOOD_PIECE_BYTES // len(line))
        while left > 0:
            if step.fields.get("stream") == "stderr":
                await asyncio.to_thread(os.write, 2, piece[:left])
            else:
                await self._context.output.raw(piece[:left])
            left -= len(piece)

    async def _stderr(self, step: Step, _turn: Turn) -> None:
        await asyncio.to_thread(print, step.text, file=sys.stderr, flush=True)

    async def _delay(self, step: Step, _turn: Turn) -> None:
        await asyncio.sleep(step.number)

    async def _wait_for_file(self, step: Step, _turn: Turn) -> None:
        # Another process makes the file; no event of ours tells of it.
        while not await asyncio.to_thread(self._path(step.text).exists):  # noqa: ASYNC110  see above
            await asyncio.sleep(_LOOK_S)

    async def _wait_for_join(self, step: Step, _turn: Turn) -> None:
        async with asyncio.timeout(step.number):
            await self._join_came.wait()
        self._join_came.clear()

    async def _write_file(self, step: Step, _turn: Turn) -> None:
        path = self._path(str(step.fields["path"]))
        await asyncio.to_thread(path.write_text, step.text, encoding="utf-8")

    async def _run(self, step: Step, _turn: Turn) -> None:
        process = await asyncio.create_subprocess_exec(*step.words)
        await process.wait()

    async def _send_message(self, step: Step, turn: Turn) -> None:
        chat = Jid(str(step.fields.get("chat_jid") or self._context.given.chat_jid))
        wait_s = step.fields.get("wait_s", _REPLY_WAIT_S)
        request = SendMessage(chat_jid=chat, text=self._fill_in(step.text, turn))
        reply = await self._context.box.request(request, timeout_s=_number(wait_s))
        await turn.log(f"send_message: {reply}")

    async def _request(self, step: Step, turn: Turn) -> None:
        body, name = step.fields.get("body", {}), step.fields.get("name")
        if isinstance(body, dict):
            body = {
                key: self._fill_in(each, turn) if isinstance(each, str) else each
                for key, each in body.items()
            }
        await self._context.box.deliver(
            str(step.fields["directory"]),
            body if isinstance(body, str) else json.dumps(body),
            stem=None if name is None else str(name),
        )

    async def _ask(self, step: Step, turn: Turn) -> None:
        options = step.fields.get("options")
        answer = await turn.ask(
            step.text or str(step.fields["question"]),
            [str(option) for option in options] if isinstance(options, list) else (),
        )
        is_answered = answer.status is AnswerStatus.ANSWERED
        self._answer = answer.text if is_answered else f"({answer.status})"

    async def _tool(self, step: Step, turn: Turn) -> None:
        await turn.tool(str(step.fields["name"]), str(step.fields.get("status", "done")))

    async def _progress(self, step: Step, turn: Turn) -> None:
        await turn.progress(step.number)

    async def _event(self, step: Step, turn: Turn) -> None:
        await turn.event(parse_event(dict(step.fields)))

    async def _usage(self, step: Step, _turn: Turn) -> None:
        self._result = TurnResult(usage=from_plain(Usage, dict(step.fields)))

    async def _fail(self, step: Step, _turn: Turn) -> None:
        code = step.text or str(step.fields.get("code", AGENT_ERROR))
        self._result = failed(code, str(step.fields.get("message", "")))

    async def _raise(self, step: Step, _turn: Turn) -> None:
        raise RuntimeError(step.text)

    async def _exit(self, step: Step, _turn: Turn) -> None:
        os._exit(int(step.number))

    async def _crash(self, step: Step, _turn: Turn) -> None:
        word = step.text.upper().removeprefix("SIG")
        number = signal.Signals[f"SIG{word}"] if not step.number else signal.Signals(int(step.number))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    async def _ignore_sigterm(self, _step: Step, _turn: Turn) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float(str(value))
