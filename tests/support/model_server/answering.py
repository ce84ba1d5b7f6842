"""From a rule to bytes: the steps of an answer, streamed or in one piece."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, assert_never

from tests.support.model_server.asked import Asked
from tests.support.model_server.exchange import Exchange
from tests.support.model_server.playing import NoSuchTool, find_tool
from tests.support.model_server.script import (
    Answer,
    CallTool,
    Cut,
    Fail,
    Gate,
    Hang,
    Pause,
    Rule,
    Say,
    Think,
    Wait,
)
from tests.support.model_server.wires.wire import Wire, Writer

_JSON = "application/json"


async def answer_json(
    exchange: Exchange,
    body: Mapping[str, Any],
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> None:
    """One JSON object."""
    written = json.dumps(body).encode()
    sizes = {"content-type": _JSON, "content-length": str(len(written))}
    await exchange.start(status, sizes | dict(headers or {}))
    await exchange.chunk(written)
    await exchange.end()


async def answer_plainly(exchange: Exchange, answer: Answer) -> None:
    """An answer that is no model's."""
    size = {"content-length": str(len(answer.body.encode()))} if answer.pieces == 1 else {}
    await exchange.start(answer.status, size | dict(answer.headers))
    for piece in pieces_of(answer.body, answer.pieces):
        await exchange.chunk(piece.encode())
    await exchange.end()


async def refuse(exchange: Exchange, wire: Wire, fail: Fail) -> None:
    """An error in the provider's shape."""
    problem = wire.problem(fail)
    await answer_json(exchange, problem.body, status=problem.status, headers=problem.headers)


class Playback:
    """One answer by one rule. Ends early by raising ConnectionEnded."""

    def __init__(
        self, exchange: Exchange, wire: Wire, asked: Asked, rule: Rule, *, gates: Callable[[str], Gate]
    ) -> None:
        self._exchange = exchange
        self._wire = wire
        self._asked = asked
        self._rule = rule
        self._gates = gates
        self._writer: Writer = wire.writer(asked, rule.usage)
        self._is_started = False

    async def run(self) -> None:
        """All steps, then the end of the answer."""
        for step in self._rule.steps:
            match step:
                case Say():
                    await self._say(step)
                case Think():
                    await self._write(self._writer.think(step.text))
                case CallTool():
                    if not await self._call(step):
                        return
                case Pause():
                    await self._exchange.hold(asyncio.sleep(step.seconds))
                case Wait():
                    await self._exchange.hold(self._gates(step.gate).pass_through())
                case Hang():
                    await self._exchange.hang()
                case Cut():
                    await self._cut(step)
                case Fail():
                    await self._fail(step)
                    return
                case Answer():
                    await answer_plainly(self._exchange, step)
                    return
                case _:
                    assert_never(step)
        await self._end()

    async def _say(self, step: Say) -> None:
        for number, piece in enumerate(pieces_of(step.text, step.pieces)):
            if number and step.pause_s:
                await self._exchange.hold(asyncio.sleep(step.pause_s))
            await self._write(self._writer.say(piece))

    async def _call(self, step: CallTool) -> bool:
        try:
            tool = find_tool(step.tool, self._asked.tools)
        except NoSuchTool as error:
            await self._fail(Fail(status=400, message=str(error)))
            return False
        await self._write(self._writer.call(tool, step.arguments))
        return True

    async def _cut(self, step: Cut) -> None:
        if self._asked.is_stream:
            # An answer that is cut before its first event has no status either.
            if step.in_event:
                await self._write(iter([b'data: {"type":"cont']))
        elif self._rule.steps[0] is not step:
            written = json.dumps(self._whole()).encode()
            await self._exchange.start(200, {"content-type": _JSON, "content-length": str(len(written))})
            await self._exchange.chunk(written[: len(written) // 2])
        await self._exchange.cut()

    async def _fail(self, step: Fail) -> None:
        streams_anyway = step.is_context_overflow and self._asked.is_stream and self._wire.streams_overflow
        if not self._is_started and not streams_anyway:
            await refuse(self._exchange, self._wire, step)
            return
        await self._write(self._writer.fail(step))
        await self._exchange.end()

    async def _end(self) -> None:
        if not self._asked.is_stream:
            await answer_json(self._exchange, self._whole())
            return
        await self._write(self._writer.end(self._rule.stop))
        await self._exchange.end()

    async def _write(self, events: Iterator[bytes]) -> None:
        """Send the events of a stream; without one they are only remembered."""
        if self._asked.is_stream and not self._is_started:
            self._is_started = True
            headers = {"content-type": self._wire.stream_type, "cache-control": "no-cache"}
            await self._exchange.start(200, headers)
            await self._write(self._writer.begin())
        for event in events:
            if self._asked.is_stream:
                await self._exchange.chunk(event)

    def _whole(self) -> Mapping[str, Any]:
        for _ in self._writer.end(self._rule.stop):
            pass
        return self._writer.whole(self._rule.stop)


def pieces_of(text: str, count: int) -> Iterator[str]:
    """The text in so many pieces, about equally long; none of them empty, so at most one a character."""
    count = max(1, min(count, len(text)))
    for number in range(count):
        yield text[number * len(text) // count : (number + 1) * len(text) // count]
