"""Wishes beyond the own chat that an operator has to confirm. Source: contracts.md section 4."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from orchestrator.commands.command import Command, Context
from orchestrator.commands.saying.operator_alerts import tell_operators
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.errors import ConfirmationNeeded, Forbidden, LimitExceeded
from orchestrator.contracts.records.proposals import Proposal
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.codec import Wire, to_json, to_plain
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.proposal import PROPOSAL
from orchestrator.core.wish_text import MAX_WISH_CHARS, request_facts, wish_text
from orchestrator.core.wish_words import wish_of
from orchestrator.store import groups, proposals, tasks
from orchestrator.store.transaction import Transaction

MAX_OPEN: Final = 3
"""A group has no more that wait at once."""
LASTS: Final = timedelta(hours=24)
_VARYING: Final = ("request_id", "timestamp", "idempotency_key")
"""What is different each time the same is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What an agent asked for and may not have at once. prepared: what its command made of the request."""

    context: Context
    command: Command
    request: Wire
    prepared: Any


def propose(tx: Transaction, wish: Wish) -> ConfirmationNeeded:
    """Ask the operators about it; the answer for the agent. The same wish again is the same question.

    Raises what the command would refuse, so that nobody is asked in vain, LimitExceeded, and Forbidden
    for what an operator said no to within a day.
    """
    context, caller = wish.context, wish.context.caller
    assert isinstance(caller, AgentCaller)
    text = to_json(_without_ids(wish.request))
    waiting = proposals.open_of_group(tx, caller.group)
    for known in waiting:
        if (known.command, known.request) == (wish.command.name, text):
            return _answer(known.number)
    _refuse_declined(tx, caller, wish.command.name, text, since=context.at - LASTS)
    if len(waiting) >= MAX_OPEN:
        raise LimitExceeded(
            f"{MAX_OPEN} wishes of this group wait for an operator, which is the most.",
            suggestion="Wait until he has answered them; after 24 hours they lapse.",
        )
    effect = wish_shown(tx, wish.request)
    tx.rehearse(lambda: wish.command.run(tx, context, wish.prepared))
    proposal = proposals.add(
        tx,
        caller=caller,
        command=wish.command.name,
        request=text,
        rights=context.rights,
        effect=effect,
        status=PROPOSAL.start,
        at=context.at,
        expires_at=context.at + LASTS,
    )
    _ask(tx, context.services, proposal, at=context.at)
    return _answer(proposal.number)


def _ask(tx: Transaction, services: Services, proposal: Proposal, *, at: datetime) -> None:
    group = groups.by_folder(tx, proposal.group)
    tell_operators(
        tx,
        services,
        what=Say.PROPOSAL_ASKED,
        alert=Say.PROPOSAL_ALERT,
        incident=f"proposal:{proposal.number}",
        at=at,
        words_of=proposal.agent_id,
        number=proposal.number,
        group=proposal.group if group is None else group.name,
        effect=proposal.effect,
        wish=wish_of(proposal.command),
    )


def _answer(number: int) -> ConfirmationNeeded:
    return ConfirmationNeeded(
        f"Others than operators wrote in this conversation, so the operator was asked, as number {number}.",
        suggestion="Tell the people here that it waits for his answer, and do not ask again.",
        details={"number": number},
    )


def _refuse_declined(
    tx: Transaction, caller: AgentCaller, command: str, text: str, *, since: datetime
) -> None:
    declined = proposals.declined_since(tx, caller.group, command, text, since=since)
    if declined is not None:
        raise Forbidden(
            f"The operator said no to this, as number {declined.number}.",
            suggestion="Tell the people here, and do not ask again.",
        )


def wish_shown(tx: Transaction, request: Wire) -> str:
    """The whole of what would happen, and to what. Raises what can't be shown whole."""
    if isinstance(request, SendMessage) and request.attachments:
        raise Forbidden(
            "A file for another chat can't be shown to the operator before it is sent.",
            suggestion="Send the text without files, or ask an operator to have it sent.",
        )
    facts = request_facts(to_plain(request)) + _known_facts(tx, request)
    text = wish_text(facts)
    if len(text) > MAX_WISH_CHARS:
        raise LimitExceeded(
            f"The operator would have to read {len(text)} characters before he could confirm this; "
            f"{MAX_WISH_CHARS} is the most.",
            suggestion="Make it shorter.",
        )
    return text


def _known_facts(tx: Transaction, request: Wire) -> list[tuple[str, str]]:
    """What the ids of a request stand for: people know names."""
    facts: list[tuple[str, str]] = []
    chat, folder, task_id = (getattr(request, name, None) for name in ("chat_jid", "group_folder", "task_id"))
    group = groups.by_jid(tx, chat) if chat else groups.by_folder(tx, folder) if folder else None
    task = tasks.get(tx, task_id) if task_id else None
    if group is not None:
        facts.append(("that is", f"{group.name} ({group.folder}, {group.jid})"))
    if task is not None:
        facts += [
            ("the task is", f"{task.title} ({task.group})"),
            ("it says now", task.prompt),
            ("and runs", f"{task.kind} {task.schedule_value} ({task.timezone})"),
        ]
    return facts


def _without_ids(request: Wire) -> Wire:
    """The request without what is different each time it is made."""
    varying = {name: None for name in _VARYING if hasattr(request, name)}
    changed: Wire = replace(request, **varying)  # type: ignore[type-var]  # every Wire is a dataclass
    return changed
