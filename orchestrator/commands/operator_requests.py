"""What the operator asks by HTTP or the command line just as a box would."""

from collections.abc import Mapping

from orchestrator.commands.catalog import CATALOG
from orchestrator.commands.command import Command, Context
from orchestrator.commands.operator_advice import for_operator
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import new_id
from orchestrator.contracts.wire.codec import Wire
from orchestrator.core.authority import allow
from orchestrator.store.transaction import Transaction


async def ask_as_operator(services: Services, request: Wire) -> Mapping[str, object]:
    """Do what a request says, by the operator's right. Raises what the command refuses."""
    command = CATALOG[type(request)]
    context = Context(
        services=services, caller=OperatorCaller(), at=services.clock.now(), key=new_id("operator")
    )

    try:
        return await _done(services, command, context, request)
    except DovecoteError as error:
        raise for_operator(error) from None


async def _done(
    services: Services, command: Command, context: Context, request: Wire
) -> Mapping[str, object]:
    prepared = await command.prepare(services, context.caller, request)

    def body(tx: Transaction) -> Mapping[str, object]:
        allow(context.caller, command.name, command.target(tx, request))
        return command.run(tx, context, prepared)

    try:
        result = await services.db.run(body)
    except DovecoteError:
        await command.release(services, prepared)
        raise
    await command.finish(services, result)
    return result
