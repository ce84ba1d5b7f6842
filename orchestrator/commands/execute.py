"""The way in for requests of boxes: authorise, run, remember the answer, commit, wake.

Operators' requests come by `operator_requests`, to the same commands under the same authority;
nothing is remembered of them, since whoever asks waits for the answer.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

import structlog

from orchestrator.commands.catalog import CATALOG
from orchestrator.commands.command import Context, Refusal
from orchestrator.commands.proposals import Wish, propose
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.errors import ConfirmationNeeded, DovecoteError, InvalidRequest, Unavailable
from orchestrator.contracts.ids import AgentId, BoxName, RequestId
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.wire.codec import Wire
from orchestrator.contracts.wire.replies import Reply, ReplyError
from orchestrator.core.authority import allow
from orchestrator.store import agents, groups, requests
from orchestrator.store.requests import Answered, RequestKey
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request file: who asks for what. key: what the store knows the file by."""

    caller: AgentCaller
    request: Wire
    key: RequestKey
    request_id: RequestId | None


async def execute_request(
    services: Services,
    caller: AgentCaller,
    request: Wire,
    *,
    key: RequestKey,
    request_id: RequestId | None,
) -> Reply:
    """As `execute_requests`, of one. Raises what keeps it from being done."""
    asked = Asked(caller=caller, request=request, key=key, request_id=request_id)
    (outcome,) = await execute_requests(services, [asked])
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


async def execute_requests(
    services: Services,
    batch: Sequence[Asked],
    *,
    gone: Sequence[RequestKey] = (),
    on_way_out: Mapping[BoxName, int] = MappingProxyType({}),
) -> list[Reply | Exception]:
    """Do what request files ask, in order, each once, and give the answers; durable when it returns.

    Met again, by its key or by its id with the same body, one gives the stored answer. A refusal is
    an answer. An exception, in its place, says that this one had no effect and is not remembered:
    Unavailable that its file must stay, any other that our own code failed on it.
    Raises Unavailable when the store cannot commit: then all of the files must stay.
    gone: files of earlier batches that are removed; what bears such a name now is another request.
    on_way_out: how many files of a box are done and about to be removed; none of them is in the batch.
    """
    prepared = await _prepare(services, batch)
    at = services.clock.now()

    def body(tx: Transaction) -> list[_Answer | Exception]:
        requests.close_all(tx, gone)
        return _answer_all(tx, services, at, batch, prepared, on_way_out)

    try:
        outcomes = await services.db.run(body)
    # Not after a cancellation: the batch may be committed, and what it then needs stays. What nothing needs
    # is swept at the next start.
    except Exception:
        for asked, each in zip(batch, prepared, strict=True):
            await _release(services, asked, each)
        raise
    return [
        await _finished(services, asked, each, outcome)
        for asked, each, outcome in zip(batch, prepared, outcomes, strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unprepared:
    """Why a command could make nothing of its request."""

    fault: Exception


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """is_done: whether the command was carried out for it."""

    reply: Reply
    is_done: bool


_Attempt = Callable[[Callable[[], _Answer]], _Answer | Exception]


async def _prepare(services: Services, batch: Sequence[Asked]) -> list[Any]:
    """What each command makes of its request; those that take long do so together."""
    prepared: list[Any] = [None] * len(batch)

    async def prepare(number: int, asked: Asked) -> None:
        try:
            prepare_one = CATALOG[type(asked.request)].prepare
            prepared[number] = await prepare_one(services, asked.caller, asked.request)
        # A fault of ours on this one is nothing that the others of the batch may suffer for.
        except Exception as fault:
            prepared[number] = _Unprepared(fault=fault)

    async with asyncio.TaskGroup() as long_ones:
        for number, asked in enumerate(batch):
            if CATALOG[type(asked.request)].takes_long(asked.request):
                long_ones.create_task(prepare(number, asked), name="prepare request")
            else:
                await prepare(number, asked)
    return prepared


async def _release(services: Services, asked: Asked, prepared: Any) -> None:
    """Give up what was prepared. A fault in that is logged: it may not hide why it had to be given up."""
    if isinstance(prepared, _Unprepared):
        return
    try:
        await CATALOG[type(asked.request)].release(services, prepared)
    # What stays of it is swept at the next start, like that of a crash.
    except Exception as fault:
        _log.error("request.not_released", box=asked.key.box, file=asked.key.name, exc_info=fault)


async def _finished(
    services: Services, asked: Asked, prepared: Any, outcome: "_Answer | Exception"
) -> Reply | Exception:
    """The answer, once the rest of the effect is done outside of the store."""
    try:
        if isinstance(outcome, Exception):
            await _release(services, asked, prepared)
            return outcome
        if not outcome.is_done:
            await _release(services, asked, prepared)
        if outcome.reply.result is not None:
            await CATALOG[type(asked.request)].finish(services, outcome.reply.result)
    # As in `_prepare`; the request is known by its key when it is met again.
    except Exception as fault:
        return fault
    return outcome.reply


def _answer_all(
    tx: Transaction,
    services: Services,
    at: datetime,
    batch: Sequence[Asked],
    prepared: Sequence[Any],
    on_way_out: Mapping[BoxName, int],
) -> "list[_Answer | Exception]":
    """As `_Batch.answer_all`: first as if none would fail half-way, since a savepoint each costs a third."""
    quick = _Batch(tx, services, at, on_way_out, is_careful=False)
    outcomes = tx.attempt(lambda: quick.answer_all(batch, prepared))
    if isinstance(outcomes, Exception):  # also of what was written together: now it is seen whose it is
        return _Batch(tx, services, at, on_way_out, is_careful=True).answer_all(batch, prepared)
    return outcomes


class _Batch:
    """Requests that share a transaction; what is refused is undone alone.

    is_careful: so is what fails half-way, since each has a savepoint and is written by itself.
    """

    def __init__(
        self,
        tx: Transaction,
        services: Services,
        at: datetime,
        on_way_out: Mapping[BoxName, int],
        *,
        is_careful: bool,
    ) -> None:
        self._tx = tx
        self._is_careful = is_careful
        self._attempt: _Attempt = tx.attempt if is_careful else tx.attempt_unsaved
        self._services = services
        self._at = at
        self._rights: dict[AgentId, Rights] = {}
        self._without_chat: frozenset[AgentId] = frozenset()
        known = requests.open_boxes(tx)
        self._open_boxes = {box for box, count in known.items() if count > on_way_out.get(box, 0)}
        self._effects: Counter[AgentId] = Counter()
        self._answered: dict[RequestKey, Answered] = {}
        self._by_id: dict[tuple[AgentId, RequestId], tuple[Reply, bytes]] = {}

    def answer_all(self, batch: Sequence[Asked], prepared: Sequence[Any]) -> "list[_Answer | Exception]":
        """Of each, in order, the answer, or what our own code failed with.

        Behind one that has to wait the others of its box wait as well: order is the agent's order.
        """
        # Asked for once: no request changes them.
        callers = {asked.caller.agent_id for asked in batch}
        self._rights = agents.rights_of(self._tx, callers)
        self._without_chat = agents.without_chat(self._tx, callers)
        ids = [(asked.caller.agent_id, asked.request_id) for asked in batch if asked.request_id is not None]
        self._by_id = requests.by_ids(self._tx, ids) if ids else {}
        groups.know_registered(self._tx, {asked.caller.chat_jid for asked in batch})  # last: see `recall`
        outcomes: list[_Answer | Exception] = []
        held: set[BoxName] = set()
        for asked, each in zip(batch, prepared, strict=True):
            if asked.key.box in held:
                outcome: _Answer | Exception = Unavailable("An earlier request of its box waits.")
            else:
                outcome = self._answer(asked, each)
            if isinstance(outcome, Unavailable):
                held.add(asked.key.box)
            outcomes.append(outcome)
        requests.add_all(self._tx, list(self._answered.values()), at=self._at)
        agents.count_effects(self._tx, self._effects)
        return outcomes

    def _answer(self, asked: Asked, prepared: Any) -> "_Answer | Exception":
        if isinstance(prepared, _Unprepared):
            return prepared.fault
        outcome = self._attempt(lambda: self._known(asked) or self._run(asked, prepared))
        if isinstance(outcome, DovecoteError) and not isinstance(outcome, Unavailable):
            # Whatever the command had written is undone; only the answer stays, and what is noted of it.
            refusal = Refusal(caller=asked.caller, prepared=prepared, error=outcome, at=self._at)
            CATALOG[type(asked.request)].refused(self._tx, self._services, refusal)
            return self._keep(asked, _refusal(asked.request_id, outcome), is_done=False)
        return outcome

    def _known(self, asked: Asked) -> _Answer | None:
        """The stored answer, if there is one."""
        if (known := self._find(asked.key)) is not None:
            return _Answer(reply=known, is_done=False)
        if asked.request_id is None:
            return None
        earlier = self._by_id.get((asked.caller.agent_id, asked.request_id))
        if earlier is None:
            return None
        reply, sha256 = earlier
        if sha256 != asked.key.sha256:
            raise _same_id_other_body(asked.request_id)
        return self._keep(asked, reply, is_done=False)

    def _find(self, key: RequestKey) -> Reply | None:
        """The answer given to the very file; of most boxes the store knows none that may be met again."""
        if key in self._answered:
            return self._answered[key].reply
        return requests.find(self._tx, key) if key.box in self._open_boxes else None

    def _keep(self, asked: Asked, reply: Reply, *, is_done: bool) -> _Answer:
        """Remember the answer with the key of the file; it is stored with those of the others."""
        agent_id, request_id = asked.caller.agent_id, asked.request_id
        answered = Answered(key=asked.key, reply=reply, agent_id=agent_id, request_id=request_id)
        self._answered[asked.key] = answered
        if request_id is not None:
            self._by_id.setdefault((agent_id, request_id), (reply, asked.key.sha256))
        return _Answer(reply=reply, is_done=is_done)

    def _run(self, asked: Asked, prepared: Any) -> _Answer:
        command = CATALOG[type(asked.request)]
        context = Context(
            services=self._services,
            caller=asked.caller,
            at=self._at,
            key=_text_key(asked.key),
            rights=self._rights.get(asked.caller.agent_id, Rights.BOT),
        )
        try:
            allow(
                asked.caller,
                command.name,
                command.target(self._tx, asked.request),
                rights=context.rights,
                register_from=self._services.settings.register_group_from,
                may_chat=asked.caller.agent_id not in self._without_chat,
            )
        except ConfirmationNeeded:
            # Unlike a refusal it leaves something behind, so it must not undo the transaction.
            wish = Wish(context=context, command=command, request=asked.request, prepared=prepared)
            error = propose(self._tx, wish)
            self._write_if_careful()
            refused = self._keep(asked, _refusal(asked.request_id, error), is_done=False)
            self._effects[asked.caller.agent_id] += 1
            return refused
        result = command.run(self._tx, context, prepared)
        self._write_if_careful()
        reply = Reply(request_id=asked.request_id or RequestId(""), ok=True, result=result)
        done = self._keep(asked, reply, is_done=True)
        self._effects[asked.caller.agent_id] += 1
        return done

    def _write_if_careful(self) -> None:
        """Before its answer is kept: this may be what fails."""
        if self._is_careful:
            self._tx.write_gathered()


async def unwritten_replies(services: Services) -> list[tuple[BoxName, Reply]]:
    """Answers whose reply file may not have been written before a crash."""
    async with services.db.reader() as reader:
        return await requests.unwritten_replies(reader)


def _text_key(key: RequestKey) -> str:
    return f"{key.box}/{key.directory}/{key.name}/{key.inode}/{key.ctime_ns}"


def _same_id_other_body(request_id: RequestId | None) -> InvalidRequest:
    return InvalidRequest(
        f"requestId {request_id!r} was used before for another request.",
        suggestion="Give each request an id of its own; repeat an id only with the same body.",
    )


def _refusal(request_id: RequestId | None, error: DovecoteError) -> Reply:
    return Reply(
        request_id=request_id or RequestId(""),
        ok=False,
        error=ReplyError(
            code=error.code.value,
            message=error.message,
            suggestion=error.suggestion,
            details=error.details or None,
        ),
    )
