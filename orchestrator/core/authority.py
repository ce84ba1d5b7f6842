"""Who may do what to whom: one table. Source: contracts.md section 4.

A command or caller that the table does not name may nothing. Which agents one may see and stop is said by
`commands.agents.agent_sight`, how many one may spawn by `commands.spawning.spawn_rules`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.contracts.callers import AgentCaller, Caller, HostCaller, OperatorCaller
from orchestrator.contracts.errors import ConfirmationNeeded, ErrorCode, Forbidden, NotFound
from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.rights import Rights


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a command touches. is_registered: whether the chat or group it names is registered.

    task_id: of a task that is named by its id. asked_group: the group that is said to be its own.
    is_beyond: it reaches beyond the caller's own chat and group by what it names.
    """

    chat_jid: Jid | None
    group: GroupFolder | None
    is_registered: bool
    task_id: str | None = None
    asked_group: GroupFolder | None = None
    is_beyond: bool = False


class _Kind(StrEnum):
    """Callers with the same rights."""

    HOST = "host"
    OPERATOR = "operator"
    MAIN_AGENT = "main agent"
    REGISTRAR = "agent of a group that may register others"
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
    raise foreign_group(target.group)


def _own_folder(caller: Caller, target: Target) -> None:
    if not isinstance(caller, AgentCaller) or target.group not in (None, caller.group):
        raise foreign_group(target.group)


def _own_task(caller: Caller, target: Target) -> None:
    if not isinstance(caller, AgentCaller) or target.asked_group not in (None, caller.group):
        raise foreign_group(target.asked_group)
    # Whether another group has a task of that id is nothing that an agent may find out.
    if target.group not in (None, caller.group):
        raise no_such_task(target.task_id)


_Rule = Callable[[Caller, Target], None]
_OWN_TASKS: Final[Mapping[_Kind, _Rule]] = {
    _Kind.HOST: _anything,
    _Kind.OPERATOR: _anything,
    _Kind.MAIN_AGENT: _anything,
    _Kind.AGENT: _own_group,
}
_NAMED_TASKS: Final[Mapping[_Kind, _Rule]] = {**_OWN_TASKS, _Kind.AGENT: _own_task}
_RULES: Final[Mapping[str, Mapping[_Kind, _Rule]]] = {
    "send_message": {
        _Kind.HOST: _any_registered_chat,
        _Kind.OPERATOR: _any_registered_chat,
        _Kind.MAIN_AGENT: _any_registered_chat,
        _Kind.AGENT: _own_chat,
    },
    "post_message": {_Kind.HOST: _any_registered_chat, _Kind.OPERATOR: _any_registered_chat},
    **dict.fromkeys(("schedule_task", "list_tasks"), _OWN_TASKS),
    **dict.fromkeys(("update_task", "pause_task", "resume_task", "cancel_task", "run_task"), _NAMED_TASKS),
    **dict.fromkeys(
        ("spawn_agent", "get_agent_status", "terminate_agent", "report_progress"),
        dict.fromkeys((_Kind.HOST, _Kind.OPERATOR, _Kind.MAIN_AGENT, _Kind.AGENT), _anything),
    ),
    "manage_workspaces": {_Kind.HOST: _anything, _Kind.OPERATOR: _anything},
    "manage_groups": {_Kind.HOST: _anything, _Kind.OPERATOR: _anything},
    "decide_proposal": {_Kind.HOST: _anything, _Kind.OPERATOR: _anything},
    "register_group": {
        _Kind.HOST: _anything,
        _Kind.OPERATOR: _anything,
        _Kind.MAIN_AGENT: _anything,
        _Kind.REGISTRAR: _own_folder,
    },
    "refresh_groups": {
        _Kind.HOST: _anything,
        _Kind.OPERATOR: _anything,
        _Kind.MAIN_AGENT: _anything,
        _Kind.REGISTRAR: _own_group,
    },
}
_WITHOUT_EFFECT: Final = frozenset({"list_tasks", "refresh_groups", "get_agent_status", "report_progress"})
"""They only look: there is nothing that an operator could be asked to confirm."""
_WITHOUT_CHAT: Final = frozenset({"spawn_agent", "get_agent_status", "terminate_agent", "report_progress"})
"""What an agent may that may not speak in its group's chat: nothing that people would see there."""


def allow(
    caller: Caller,
    command: str,
    target: Target,
    *,
    rights: Rights = Rights.OPERATOR,
    register_from: Collection[str] = (),
    may_chat: bool = True,
) -> None:
    """Return if `caller` may do this to `target`. Raises Forbidden, NotFound or ConfirmationNeeded.

    rights: of those whose words an agent was given; an effect beyond its own chat and group needs an
    operator's. register_from: folders of the groups that may register others, as main may. may_chat: whether
    an agent has the right to speak in its group's chat.
    """
    kind = _kind(caller, register_from)
    rule = _rule(command, kind)
    if rule is None:
        raise Forbidden(f"The {kind} may not use {command}.", suggestion="Ask the operator to do it.")
    if isinstance(caller, AgentCaller) and not may_chat and command not in _WITHOUT_CHAT:
        raise Forbidden(
            f"This agent was started without the right chat, so it may not use {command}.",
            suggestion="Put it into your result: whoever started you gets it.",
        )
    rule(caller, target)
    if isinstance(caller, AgentCaller) and rights is not Rights.OPERATOR and _is_beyond(caller, target):
        refusal = Forbidden if command in _WITHOUT_EFFECT else ConfirmationNeeded
        raise refusal(
            f"{command} beyond the own chat needs an operator's word, and others wrote in this conversation.",
            suggestion="Ask an operator to do it.",
        )


def may_register(group: Group, register_from: Collection[str]) -> bool:
    """Whether the agents of a group may ask for chats to be registered."""
    kind = _agent_kind(group.folder, register_from, is_main=group.is_main)
    return _rule("register_group", kind) is not None


def _rule(command: str, kind: _Kind) -> _Rule | None:
    """What holds for callers of this kind; a registrar is an agent like any other, and may more."""
    rules = _RULES.get(command, {})
    return rules.get(kind, rules.get(_Kind.AGENT) if kind is _Kind.REGISTRAR else None)


def _is_beyond(caller: AgentCaller, target: Target) -> bool:
    if target.is_beyond:
        return True
    return target.chat_jid not in (None, caller.chat_jid) or target.group not in (None, caller.group)


def not_registered(chat: Jid) -> NotFound:
    """The error for people: with the command that registers the chat."""
    return NotFound(
        f"No group is registered for the chat {chat!r}.",
        code=ErrorCode.NOT_REGISTERED,
        suggestion=f"Register it: dovecote group add FOLDER --jid {chat}",
    )


def foreign_group(folder: str | None) -> Forbidden:
    """The error for an agent that names a group which is not its own."""
    return Forbidden(
        f"The group {folder!r} is not this agent's own.",
        suggestion="Leave groupFolder out; only the main group's agent may name others.",
    )


def no_such_task(task_id: str | None) -> NotFound:
    """The error for a task that is not there, or that the caller may not know of."""
    return NotFound(
        f"There is no task {task_id!r} here.",
        code=ErrorCode.TASK_NOT_FOUND,
        suggestion="See the ids of the tasks with list_tasks.",
    )


def _kind(caller: Caller, register_from: Collection[str]) -> _Kind:
    match caller:
        case HostCaller():
            return _Kind.HOST
        case OperatorCaller():
            return _Kind.OPERATOR
        case AgentCaller():
            return _agent_kind(caller.group, register_from, is_main=caller.is_main)


def _agent_kind(folder: GroupFolder, register_from: Collection[str], *, is_main: bool) -> _Kind:
    if is_main:
        return _Kind.MAIN_AGENT
    return _Kind.REGISTRAR if folder in register_from else _Kind.AGENT
