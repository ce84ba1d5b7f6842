"""One way into every command: authorise, run, remember the answer, commit, wake."""

from dataclasses import dataclass
from typing import Any

from orchestrator.commands.catalog import CATALOG
from orchestrator.commands.command import Context
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.errors import DovecoteError, InvalidRequest, Unavailable
from orchestrator.contracts.ids import BoxName, RequestId
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.wire.codec import Wire
from orchestrator.contracts.wire.replies import Reply, ReplyError
from orchestrator.core.authority import allow
from orchestrator.store import agents, requests
from orchestrator.store.database import Transaction
from orchestrator.store.requests import RequestKey


async def execute_request(
    services: Services,
    caller: AgentCaller,
    request: Wire,
    *,
    key: RequestKey,
    request_id: RequestId | None,
) -> Reply:
    """Do what a request file asks, once, and give its answer; durable when it returns.

    Met again, by its key or by its id with the same body, it gives the stored answer. A refusal is
    an answer. Raises Unavailable when the store cannot commit: the file must stay.
    """
    asked = _Asked(
        services=services,
        caller=caller,
        request=request,
        prepared=await CATALOG[type(request)].prepare(services, request),
        key=key,
        request_id=request_id,
    )
    try:
        return await services.db.run(asked.answer)
    except Unavailable:
        raise
    except DovecoteError as refusal:
        # Whatever the command had written is undone with its transaction; only the answer stays.
        reply = _refusal(request_id, refusal)
        return await services.db.run(lambda tx: asked.keep(tx, reply))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One request file and what is known of it. prepared: what its command made of the request."""

    services: Services
    caller: AgentCaller
    request: Wire
    prepared: Any
    key: RequestKey
    request_id: RequestId | None

    def answer(self, tx: Transaction) -> Reply:
        """The stored answer, or the command's. Raises what the command refuses."""
        if (known := requests.find(tx, self.key)) is not None:
            return known
        if self.request_id is not None:
            earlier = requests.by_id(tx, self.caller.agent_id, self.request_id)
            if earlier is not None and earlier[1] != self.key.sha256:
                raise _same_id_other_body(self.request_id)
            if earlier is not None:
                return self.keep(tx, earlier[0])
        return self.keep(tx, self._run(tx))

    def keep(self, tx: Transaction, reply: Reply) -> Reply:
        """Remember the answer with the key of the file."""
        at = self.services.clock.now()
        requests.add(tx, self.key, reply, agent_id=self.caller.agent_id, request_id=self.request_id, at=at)
        return reply

    def _run(self, tx: Transaction) -> Reply:
        command = CATALOG[type(self.request)]
        agent = agents.get(tx, self.caller.agent_id)
        context = Context(
            services=self.services,
            caller=self.caller,
            at=self.services.clock.now(),
            key=_text_key(self.key),
            rights=Rights.BOT if agent is None else agent.rights,
        )
        allow(self.caller, command.name, command.target(tx, self.request), rights=context.rights)
        result = command.run(tx, context, self.prepared)
        agents.count_effect(tx, self.caller.agent_id)
        return Reply(request_id=self.request_id or RequestId(""), ok=True, result=result)


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
