"""One way into every command: authorise, run, remember the answer, commit, wake."""

from orchestrator.commands.catalog import CATALOG
from orchestrator.commands.command import Command, Context
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.errors import DovecoteError, ErrorCode, InvalidRequest, Unavailable
from orchestrator.contracts.ids import BoxName, RequestId
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
    command = CATALOG[type(request)]
    at = services.clock.now()

    def body(tx: Transaction) -> Reply:
        if (known := requests.find(tx, key)) is not None:
            return known
        earlier = requests.by_id(tx, caller.agent_id, request_id) if request_id is not None else None
        if earlier is not None and earlier[1] == key.sha256:
            reply = earlier[0]
        elif earlier is not None:
            reply = _refusal(request_id, _same_id_other_body(request_id))
        else:
            context = Context(services=services, caller=caller, at=at, key=_text_key(key))
            reply = _answer(tx, command, context, request, request_id)
        requests.add(tx, key, reply, agent_id=caller.agent_id, request_id=request_id, at=at)
        return reply

    return await services.db.run(body)


async def forget_request(services: Services, key: RequestKey) -> None:
    """The file is gone: what bears its name from now on is another request."""
    await services.db.run(lambda tx: requests.close(tx, key))


async def unwritten_replies(services: Services) -> list[tuple[BoxName, Reply]]:
    """Answers whose reply file may not have been written before a crash."""
    async with services.db.reader() as reader:
        return await requests.unwritten_replies(reader)


def _answer(
    tx: Transaction, command: Command, context: Context, request: Wire, request_id: RequestId | None
) -> Reply:
    tx.execute("SAVEPOINT command", {})
    try:
        allow(context.caller, command.name, command.target(tx, request))
        result = command.run(tx, context, request)
    except Unavailable:
        raise
    except DovecoteError as error:
        tx.execute("ROLLBACK TO command", {})
        tx.execute("RELEASE command", {})
        return _refusal(request_id, error)
    tx.execute("RELEASE command", {})
    if context.caller.turn_id is not None:
        agents.count_effect(tx, context.caller.agent_id, context.caller.turn_id, is_output=False)
    return Reply(request_id=request_id or RequestId(""), ok=True, result=result)


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


def is_trespass(reply: Reply) -> bool:
    """Whether the request named what is not the caller's to use: its file is kept as evidence."""
    return reply.error is not None and reply.error.code == ErrorCode.FORBIDDEN
