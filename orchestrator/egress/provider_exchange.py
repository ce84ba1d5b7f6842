"""One request to the provider and its answer, passed on while it comes and counted once it has ended."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus

import structlog

from orchestrator.contracts.egress_seams import UsageMeter
from orchestrator.contracts.records.egress import EgressPolicy, ProviderCall, ProviderFailure
from orchestrator.contracts.records.providers import ProviderApi
from orchestrator.contracts.seams import Clock
from orchestrator.core.sandbox.provider_errors import failure_of
from orchestrator.core.sandbox.refusal import CallRefusal
from orchestrator.core.sandbox.request_rules import Headers, RequestTarget, answered_headers
from orchestrator.core.sandbox.usage_reading import UsageReader
from orchestrator.egress.agent_side import AgentSide
from orchestrator.egress.provider_connection import ProviderBrokeOff, ProviderTooSlow
from orchestrator.egress.route import Unreachable
from orchestrator.egress.upstream import Upstream

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallParts:
    """What calls share with the rest of the proxy. tasks: what has to end also when the agent is gone."""

    meter: UsageMeter
    clock: Clock
    threads: Executor
    tasks: asyncio.TaskGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that goes on."""

    method: str
    target: RequestTarget
    headers: Headers
    body: bytes
    model: str | None


@dataclass(slots=True, kw_only=True)
class _Progress:
    """How far a call has come."""

    began_at: datetime
    began: float
    reader: UsageReader
    status: int = 0
    received: int = 0
    # Until we know better, whoever ends it early is the agent.
    failure: ProviderFailure | None = field(default=ProviderFailure.AGENT_LEFT)


class ProviderExchange:
    """Makes the calls of one agent. on_end: told of each, however it ended."""

    def __init__(
        self,
        policy: EgressPolicy,
        api: ProviderApi,
        upstream: Upstream,
        parts: CallParts,
        *,
        on_end: Callable[[ProviderCall], None],
    ) -> None:
        self._policy = policy
        self._api = api
        self._upstream = upstream
        self._parts = parts
        self._clock = parts.clock
        self._on_end = on_end

    async def make(self, asked: Asked, side: AgentSide) -> CallRefusal | None:
        """Answer the agent; a refusal if nothing of an answer came.

        Raises ConnectionAbortedError if it broke off in the middle: the agent has to see that.
        """
        progress = _Progress(
            began_at=self._clock.now(),
            began=self._clock.monotonic(),
            reader=UsageReader(self._api.wire, is_stream=False),
        )
        try:
            return await self._pass(asked, side, progress)
        except ProviderTooSlow:
            progress.failure = ProviderFailure.TOO_SLOW
            return self._broken_off(side, HTTPStatus.GATEWAY_TIMEOUT, "The provider did not answer in time.")
        except Unreachable as error:
            progress.failure = ProviderFailure.UNREACHABLE
            return self._broken_off(side, HTTPStatus.BAD_GATEWAY, f"The provider can't be reached. {error}")
        except ProviderBrokeOff:
            progress.failure = ProviderFailure.CUT
            return self._broken_off(side, HTTPStatus.BAD_GATEWAY, "The provider broke off its answer.")
        finally:
            progress.reader.end()
            await self._end(asked, progress)

    async def _pass(self, asked: Asked, side: AgentSide, progress: _Progress) -> CallRefusal | None:
        async with self._upstream.call(asked.method, asked.target, asked.headers, asked.body) as (head, body):
            progress.status = head.status
            headers = answered_headers(head.headers)
            if 300 <= head.status < 400 and head.status != HTTPStatus.NOT_MODIFIED:
                progress.failure = failure_of(head.status)
                return CallRefusal(
                    status=HTTPStatus.BAD_GATEWAY,
                    message="The provider sends its callers elsewhere, which is not followed.",
                )
            progress.reader = UsageReader(self._api.wire, is_stream=_is_stream(headers))
            await side.begin_answer(head.status, headers)
            async for chunk in body:
                await side.pass_on(chunk)
                progress.received += len(chunk)
                progress.reader.feed(chunk)
        progress.failure = failure_of(head.status)
        await side.end_answer()
        return None

    def _broken_off(self, side: AgentSide, status: HTTPStatus, message: str) -> CallRefusal:
        if side.has_begun_to_answer:
            raise ConnectionAbortedError(message)
        return CallRefusal(status=status, message=message)

    async def _end(self, asked: Asked, progress: _Progress) -> None:
        usage = progress.reader.usage
        failure = progress.failure
        if failure is None and progress.reader.has_error and progress.status == HTTPStatus.OK:
            failure = ProviderFailure.BROKEN
        call = ProviderCall(
            agent_id=self._policy.agent_id,
            group=self._policy.group,
            provider_host=self._upstream.host,
            method=asked.method,
            path=asked.target.path,
            status=progress.status,
            at=progress.began_at,
            duration_s=self._clock.monotonic() - progress.began,
            bytes_sent=len(asked.body),
            bytes_received=progress.received,
            model=usage.model or asked.model,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            failure=failure,
        )
        self._on_end(call)
        _log_call(call)
        # An agent that ends right after its answer closes this door: what it used is counted all the same.
        await asyncio.shield(self._parts.tasks.create_task(self._record(call), name="record egress use"))

    async def _record(self, call: ProviderCall) -> None:
        try:
            await self._parts.meter.record(call)
        except Exception:
            # A meter that fails must not end the ways out of all agents; the figures are in the log.
            _log.exception("egress.use_not_recorded", agent=call.agent_id, group=call.group)


def _is_stream(headers: Headers) -> bool:
    return any(
        name == b"content-type" and value.strip().lower().startswith(b"text/event-stream")
        for name, value in headers
    )


def _log_call(call: ProviderCall) -> None:
    _log.info(
        "egress.called",
        agent=call.agent_id,
        group=call.group,
        host=call.provider_host,
        method=call.method,
        path=call.path,
        status=call.status,
        bytes_sent=call.bytes_sent,
        bytes_received=call.bytes_received,
        duration_s=round(call.duration_s, 3),
        failure=call.failure,
    )
