"""What a command is: one operation with its request type, its authority and its function."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from orchestrator.commands.services import Services
from orchestrator.contracts.callers import Caller
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.wire.codec import Wire
from orchestrator.core.authority import Target
from orchestrator.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a command knows beside its request. key: the same each time this request is met.

    rights: of all whose words the caller was given.
    """

    services: Services
    caller: Caller
    at: datetime
    key: str
    rights: Rights = Rights.OPERATOR


async def as_it_is(services: Services, request: Any) -> Any:
    """Nothing to prepare: the command takes the request itself."""
    return request


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One operation: its request type, its name for authority, whom it touches, and what it does.

    prepare: what can be worked out from the request alone, outside of the store's thread; it refuses
    nothing. run: a plain function of the transaction and of what was prepared, so that no await can
    stand in it.
    """

    request: type[Wire]
    name: str
    target: Callable[[Transaction, Any], Target]
    run: Callable[[Transaction, Context, Any], Mapping[str, object]]
    prepare: Callable[[Services, Any], Awaitable[Any]] = as_it_is
