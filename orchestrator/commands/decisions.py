"""What operators say to the wishes of agents: yes, no, or nothing in time. Source: contracts.md section 4."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

import structlog

from orchestrator.commands.catalog import CATALOG
from orchestrator.commands.command import Command, Context
from orchestrator.commands.proposals import wish_shown
from orchestrator.commands.saying.outgoing import queue_notice
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller, Caller
from orchestrator.contracts.errors import Conflict, DovecoteError, InvalidRequest, NotFound, Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.proposals import Proposal, ProposalStatus
from orchestrator.contracts.wire.codec import Wire, WireError, from_json
from orchestrator.core.authority import Target, allow
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.proposal import PROPOSAL, ProposalEvent
from orchestrator.core.wish_words import wish_of
from orchestrator.store import groups, proposals
from orchestrator.store.times import shown_at
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)
_ANYWHERE: Final = Target(chat_jid=None, group=None, is_registered=True)
_SAID: Final[Mapping[ProposalStatus, tuple[Say, Say]]] = {
    ProposalStatus.CONFIRMED: (Say.PROPOSAL_DONE, Say.PROPOSAL_GRANTED_HERE),
    ProposalStatus.FAILED: (Say.PROPOSAL_FAILED, Say.PROPOSAL_FAILED_HERE),
    ProposalStatus.DECLINED: (Say.PROPOSAL_DECLINED, Say.PROPOSAL_DECLINED_HERE),
    ProposalStatus.EXPIRED: (Say.PROPOSAL_EXPIRED, Say.PROPOSAL_EXPIRED_HERE),
}
"""What came of it: said in the main chat, and in the chat whose agent asked."""


class _NotOpen(InvalidRequest):
    """Somebody was faster, or too slow."""


async def list_proposals(services: Services, *, count: int) -> list[Mapping[str, object]]:
    """What waits for an operator, then what is decided; each the newest first."""
    async with services.db.reader() as reader:
        return [_view(each) for each in await proposals.listed(reader, count=count)]


def _nothing(tx: Transaction) -> None:
    """Nothing goes with the decision."""


async def confirm_proposal(
    services: Services, caller: Caller, number: int, *, then: Callable[[Transaction], None] = _nothing
) -> Mapping[str, object]:
    """Carry it out, by the same command and as the agent that asked; once. Raises NotFound, InvalidRequest.

    Whether it may be done, and whether its target is still what was shown, is asked again; what is
    refused by then ends it as failed. What comes of it keeps the rights of those who had spoken to the agent.
    then: what is written down together with how it ended.
    """
    proposal = await _open(services, caller, number)
    try:
        return _view(await _carry_out(services, proposal, then))
    except (Unavailable, _NotOpen):
        raise
    except DovecoteError as refusal:
        event = ProposalEvent.WENT_WRONG
        return _view(await _ended(services, proposal, event, then, why=refusal.message))


async def decline_proposal(
    services: Services, caller: Caller, number: int, *, then: Callable[[Transaction], None] = _nothing
) -> Mapping[str, object]:
    """Drop it. then: as of `confirm_proposal`. Raises NotFound, InvalidRequest."""
    proposal = await _open(services, caller, number)
    return _view(await _ended(services, proposal, ProposalEvent.DECLINED, then))


def expire_proposals(tx: Transaction, services: Services, *, at: datetime) -> int:
    """End what nobody answered in time, and say so; how many."""
    found = proposals.lapsed(tx, now=at)
    for proposal in found:
        _end(tx, services, proposal, ProposalEvent.LAPSED, at=at)
    return len(found)


async def _open(services: Services, caller: Caller, number: int) -> Proposal:
    """The proposal, if it may still be decided."""
    allow(caller, "decide_proposal", _ANYWHERE)
    at = services.clock.now()

    def body(tx: Transaction) -> Proposal | None:
        found = proposals.get(tx, number)
        if found is None or found.status is not PROPOSAL.start or found.expires_at > at:
            return found
        return _end(tx, services, found, ProposalEvent.LAPSED, at=at)

    proposal = await services.db.run(body)
    if proposal is None:
        raise NotFound(f"There is no proposal {number}.", suggestion="See them all: dovecote proposal list")
    if proposal.status is not PROPOSAL.start:
        raise _not_open(proposal)
    return proposal


async def _carry_out(services: Services, proposal: Proposal, then: Callable[[Transaction], None]) -> Proposal:
    """Raises what the command, or the table of authority, refuses by now."""
    command, request = _wish_of(proposal)
    asker = await services.db.run(lambda tx: _asker(tx, proposal))
    prepared = await command.prepare(services, asker, request)

    def body(tx: Transaction) -> tuple[Proposal, Mapping[str, object]]:
        at = services.clock.now()
        key = f"proposal/{proposal.number}"
        context = Context(
            services=services, caller=_asker(tx, proposal), at=at, key=key, rights=proposal.rights
        )
        registrars = services.settings.register_group_from
        allow(context.caller, command.name, command.target(tx, request), register_from=registrars)
        _check_as_shown(tx, proposal, request)
        result = command.run(tx, context, prepared)
        then(tx)
        return _end(tx, services, proposal, ProposalEvent.CARRIED_OUT, at=at), result

    try:
        ended, result = await services.db.run(body)
    except DovecoteError:
        await command.release(services, prepared)
        raise
    try:
        await command.finish(services, result)
    except Unavailable as error:  # it is done and told; what is left is made up for when it is needed
        _log.error("proposal.not_finished", number=proposal.number, error=error.message)
    return ended


def _check_as_shown(tx: Transaction, proposal: Proposal, request: Wire) -> None:
    """Raises Conflict when the operator was shown something else: other words of a task, another group."""
    if wish_shown(tx, request) != proposal.effect:
        raise Conflict(
            "What it touches has changed since you were asked.",
            suggestion="Have it asked for again.",
        )


async def _ended(
    services: Services,
    proposal: Proposal,
    event: ProposalEvent,
    then: Callable[[Transaction], None],
    *,
    why: str | None = None,
) -> Proposal:
    at = services.clock.now()

    def body(tx: Transaction) -> Proposal:
        then(tx)
        return _end(tx, services, proposal, event, at=at, why=why)

    return await services.db.run(body)


def _end(
    tx: Transaction,
    services: Services,
    proposal: Proposal,
    event: ProposalEvent,
    *,
    at: datetime,
    why: str | None = None,
) -> Proposal:
    """Write down how it ended, once, and tell both chats. Raises InvalidRequest if it has ended before."""
    now = PROPOSAL.after(proposal.status, event)
    if not proposals.move(tx, proposal, now=now, at=at, error=why):
        raise _not_open(proposals.get(tx, proposal.number) or proposal)
    in_main, in_chat = _SAID[now]
    main, asking = groups.main(tx), groups.by_jid(tx, proposal.chat_jid)
    if main is not None:
        _tell(tx, services, main.jid, in_main, proposal, at=at, why=why)
    if asking is not None and not asking.is_main:
        _tell(tx, services, asking.jid, in_chat, proposal, at=at, why=why)
    ended = proposals.get(tx, proposal.number)
    assert ended is not None
    return ended


def _tell(
    tx: Transaction,
    services: Services,
    chat: Jid,
    what: Say,
    proposal: Proposal,
    *,
    at: datetime,
    why: str | None,
) -> None:
    queue_notice(
        tx,
        services,
        chat=chat,
        what=what,
        incident=f"proposal-ended:{proposal.number}:{chat}",
        at=at,
        number=proposal.number,
        wish=wish_of(proposal.command),
        why=why or "",
    )


def _wish_of(proposal: Proposal) -> tuple[Command, Wire]:
    """The command and the request of a stored proposal. Raises InvalidRequest if it is unknown."""
    try:
        for command in CATALOG.values():
            if command.name == proposal.command:
                return command, from_json(command.request, proposal.request)
    except WireError:
        pass
    raise InvalidRequest(
        f"Proposal {proposal.number} was made by another version of Dovecote and can't be read any more.",
        suggestion="Have it asked for again.",
    )


def _asker(tx: Transaction, proposal: Proposal) -> AgentCaller:
    """Who asked, with the place that its group has now. Raises NotFound if it has none any more."""
    group = groups.by_folder(tx, proposal.group)
    if group is None or group.jid != proposal.chat_jid:
        raise NotFound(
            f"The group {proposal.group!r}, which asked, is no longer registered.",
            suggestion="Register it again, or do by hand what it asked for.",
        )
    return AgentCaller(
        agent_id=proposal.agent_id,
        box=proposal.box,
        group=group.folder,
        chat_jid=group.jid,
        is_main=group.is_main,
    )


def _not_open(proposal: Proposal) -> _NotOpen:
    return _NotOpen(
        f"Proposal {proposal.number} is {proposal.status} already.",
        suggestion="See what waits: dovecote proposal list",
    )


def _view(proposal: Proposal) -> Mapping[str, object]:
    """A proposal as the command line and the API show it; times in ISO 8601."""
    return {
        "number": proposal.number,
        "group": proposal.group,
        "chatJid": proposal.chat_jid,
        "command": proposal.command,
        "wish": wish_of(proposal.command),
        "effect": proposal.effect,
        "rights": proposal.rights.value,
        "status": proposal.status.value,
        "createdAt": shown_at(proposal.created_at),
        "expiresAt": shown_at(proposal.expires_at),
        "endedAt": shown_at(proposal.ended_at),
        "error": proposal.error,
    }
