"""Who may do what to whom: one table. Source: contracts.md section 4.

A command or caller that the table does not name may nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.contracts.callers import AgentCaller, Caller, HostCaller, OperatorCaller
from orchestrator.contracts.errors import ErrorCode, Forbidden, NotFound
from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.rights import Rights


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a command touches. is_registered: whether the chat or group it names is registered."""

    chat_jid: Jid | None
    group: GroupFolder | None
    is_registered: bool


class _Kind(StrEnum):
    """Callers with the same rights."""

    HOST = "host"
    OPERATOR = "operator"
    MAIN_AGENT = "main agent"
    AGENT = "agent"


def _anything(caller: Caller, target: Target) -> None:
    """Whether the target exists is the command's own to find out."""


def _any_registered_chat(caller: Caller, target: Target) -> None:
    if not target.is_registered:
        if isinstance(caller, AgentCaller) or target.chat_jid is None:
            raise NotFound(
                f"No group is registered for the chat {target.chat_jid!r}.",
                code=ErrorCode.NOT_REGISTERED,
                suggestion="Use the chat id of a registered group.",
            )
        raise not_registered(target.chat_jid)


def _own_chat(caller: Caller, target: Target) -> None:
    # Asked first: whether a foreign chat is registered is nothing that an agent may find out.
    if not isinstance(caller, AgentCaller) or target.chat_jid != caller.chat_jid:
        raise Forbidden(
            f"The chat {target.chat_jid!r} is not this agent's own.",
            suggestion="Send to your own chat; only the main group's agent may send to others.",
        )
    _any_registered_chat(caller, target)


def _own_group(caller: Caller, target: Target) -> None:
    if (
        isinstance(caller, AgentCaller)
        and target.group in (None, caller.group)
        and target.chat_jid in (None, caller.chat_jid)
    ):
        return
    raise Forbidden(
        f"The group {target.group!r} is not this agent's own.",
        suggestion="Leave groupFolder out; only the main group's agent may name others.",
    )


_Rule = Callable[[Caller, Target], None]
_OWN_TASKS: Final[Mapping[_Kind, _Rule]] = {
    _Kind.HOST: _anything,
    _Kind.OPERATOR: _anything,
    _Kind.MAIN_AGENT: _anything,
    _Kind.AGENT: _own_group,
}
_RULES: Final[Mapping[str, Mapping[_Kind, _Rule]]] = {
    "send_message": {
        _Kind.HOST: _any_registered_chat,
        _Kind.OPERATOR: _any_registered_chat,
        _Kind.MAIN_AGENT: _any_registered_chat,
        _Kind.AGENT: _own_chat,
    },
    "post_message": {_Kind.HOST: _any_registered_chat, _Kind.OPERATOR: _any_registered_chat},
    **dict.fromkeys(
        (
            "schedule_task",
            "update_task",
            "pause_task",
            "resume_task",
            "cancel_task",
            "run_task",
            "list_tasks",
        ),
        _OWN_TASKS,
    ),
    "manage_groups": {_Kind.HOST: _anything, _Kind.OPERATOR: _anything},
}


def allow(caller: Caller, command: str, target: Target, *, rights: Rights = Rights.OPERATOR) -> None:
    """Return if `caller` may do this to `target`. Raises Forbidden, or NotFound with NOT_REGISTERED.

    rights: of those whose words an agent was given; an effect beyond its own chat and group needs an
    operator's.
    """
    kind = _kind(caller)
    rule = _RULES.get(command, {}).get(kind)
    if rule is None:
        raise Forbidden(f"The {kind} may not use {command}.", suggestion="Ask the operator to do it.")
    rule(caller, target)
    if isinstance(caller, AgentCaller) and rights is not Rights.OPERATOR and _is_beyond(caller, target):
        raise Forbidden(
            f"{command} beyond the own chat needs an operator's word, and others wrote in this conversation.",
            suggestion="Ask an operator to do it.",
        )


def _is_beyond(caller: AgentCaller, target: Target) -> bool:
    return target.chat_jid not in (None, caller.chat_jid) or target.group not in (None, caller.group)


def not_registered(chat: Jid) -> NotFound:
    """The error for people: with the command that registers the chat."""
    return NotFound(
        f"No group is registered for the chat {chat!r}.",
        code=ErrorCode.NOT_REGISTERED,
        suggestion=f"Register it: dovecote group add FOLDER --jid {chat}",
    )


def _kind(caller: Caller) -> _Kind:
    match caller:
        case HostCaller():
            return _Kind.HOST
        case OperatorCaller():
            return _Kind.OPERATOR
        case AgentCaller():
            return _Kind.MAIN_AGENT if caller.is_main else _Kind.AGENT
