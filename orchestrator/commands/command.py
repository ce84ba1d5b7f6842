"""What a command is: one operation with its request type, its authority and its function."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from orchestrator.commands.services import Services
from orchestrator.contracts.callers import Caller
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.wire.codec import Wire
from orchestrator.core.authority import Target
from orchestrator.store.transaction import Transaction


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A request that was not carried out. error: why, for its caller."""

    caller: Caller
    prepared: Any
    error: DovecoteError
    at: datetime


async def as_it_is(services: Services, caller: Caller, request: Any) -> Any:
    """Nothing to prepare: the command takes the request itself."""
    return request


def never_long(request: Any) -> bool:
    """Preparing takes no time worth speaking of."""
    return False


async def nothing_to_release(services: Services, prepared: Any) -> None:
    """What was prepared holds nothing but memory."""


def nothing_to_note(tx: Transaction, services: Services, refusal: Refusal) -> None:
    """A refusal leaves nothing behind but its answer."""


async def nothing_to_finish(services: Services, result: Mapping[str, object]) -> None:
    """The store has the whole effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One operation: its request type, its name for authority, whom it touches, and what it does.

    prepare: what can be worked out from the request alone, outside of the store's thread; it refuses
    nothing. run: a plain function of the transaction and of what was prepared, so that no await can
    stand in it. release: gives up what was prepared, where `run` was not carried out with it.
    takes_long: whether preparing a request is so much work that others are not to wait for it.
    finish: what is left to do outside of the store, given the result; it may come again after a crash.
    refused: what is written down about a refusal, when all that was done for it is undone.
    """

    request: type[Wire]
    name: str
    target: Callable[[Transaction, Any], Target]
    run: Callable[[Transaction, Context, Any], Mapping[str, object]]
    prepare: Callable[[Services, Caller, Any], Awaitable[Any]] = as_it_is
    release: Callable[[Services, Any], Awaitable[None]] = nothing_to_release
    takes_long: Callable[[Any], bool] = never_long
    finish: Callable[[Services, Mapping[str, object]], Awaitable[None]] = nothing_to_finish
    refused: Callable[[Transaction, Services, Refusal], None] = nothing_to_note
