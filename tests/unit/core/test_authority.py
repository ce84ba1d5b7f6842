"""Who may do what: the whole matrix."""

from datetime import UTC, datetime

import pytest

from orchestrator.commands.catalog import CATALOG
from orchestrator.contracts.callers import AgentCaller, Caller, HostCaller, OperatorCaller
from orchestrator.contracts.errors import DovecoteError, ErrorCode, Forbidden
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.rights import Rights
from orchestrator.core.authority import Target, allow, may_register
from orchestrator.core.wish_words import WISHES

OWN, OTHER = Jid("own@g.us"), Jid("other@g.us")
TASK_COMMANDS = (
    "schedule_task",
    "update_task",
    "pause_task",
    "resume_task",
    "cancel_task",
    "run_task",
    "list_tasks",
)


GROUP_COMMANDS = ("register_group", "refresh_groups")
AGENT_COMMANDS = ("spawn_agent", "get_agent_status", "terminate_agent", "report_progress")
OPERATORS_OWN = ("manage_groups", "manage_workspaces", "decide_proposal")


def agent(*, is_main: bool = False, folder: str = "own") -> AgentCaller:
    return AgentCaller(
        agent_id=AgentId("agent-1"),
        box=BoxName(folder),
        group=GroupFolder(folder),
        chat_jid=OWN,
        is_main=is_main,
    )


CALLERS: dict[str, Caller] = {
    "host": HostCaller(),
    "operator": OperatorCaller(),
    "main agent": agent(is_main=True),
    "registrar": agent(folder="trusted"),
    "agent": agent(),
}
REGISTER_FROM = frozenset({"trusted"})
TARGETS = {
    "own chat": Target(chat_jid=OWN, group=None, is_registered=True),
    "own chat, unregistered": Target(chat_jid=OWN, group=None, is_registered=False),
    "other chat": Target(chat_jid=OTHER, group=None, is_registered=True),
    "unregistered chat": Target(chat_jid=OTHER, group=None, is_registered=False),
    "own group": Target(chat_jid=None, group=GroupFolder("own"), is_registered=True),
    "other group": Target(chat_jid=None, group=GroupFolder("other"), is_registered=True),
    "no group at all": Target(chat_jid=None, group=None, is_registered=False),
}
YES, NO, GONE, NONE, ASK = "", "FORBIDDEN", "NOT_REGISTERED", "TASK_NOT_FOUND", "CONFIRMATION_NEEDED"
NAMED_TASK_COMMANDS = TASK_COMMANDS[1:-1]
ALWAYS, NEVER = [YES] * 7, [NO] * 7
IF_REGISTERED = [YES, GONE, YES, GONE, YES, YES, GONE]
# One column a target; the callers' own rights are an operator's.
MATRIX = {
    **{("send_message", who): IF_REGISTERED for who in ("host", "operator", "main agent")},
    **{("send_message", who): [YES, GONE, NO, NO, NO, NO, NO] for who in ("registrar", "agent")},
    **{("post_message", who): IF_REGISTERED for who in ("host", "operator")},
    **{("post_message", who): NEVER for who in ("main agent", "registrar", "agent")},
    **{(name, who): ALWAYS for name in OPERATORS_OWN for who in ("host", "operator")},
    **{(name, who): NEVER for name in OPERATORS_OWN for who in ("main agent", "registrar", "agent")},
    **{(name, who): ALWAYS for name in AGENT_COMMANDS for who in CALLERS},
    **{(name, who): ALWAYS for name in TASK_COMMANDS for who in ("host", "operator", "main agent")},
    **{
        (name, who): [YES, YES, NO, NO, YES, NO, YES]
        for name in ("schedule_task", "list_tasks")
        for who in ("registrar", "agent")
    },
    **{
        (name, who): [YES, YES, YES, YES, YES, NONE, YES]
        for name in NAMED_TASK_COMMANDS
        for who in ("registrar", "agent")
    },
    **{(name, who): ALWAYS for name in GROUP_COMMANDS for who in ("host", "operator", "main agent")},
    ("register_group", "registrar"): [YES, YES, YES, YES, YES, NO, YES],
    ("refresh_groups", "registrar"): [YES, YES, NO, NO, YES, NO, YES],
    **{(name, "agent"): NEVER for name in GROUP_COMMANDS},
    **{("no_such_command", who): NEVER for who in CALLERS},
}
BEYOND = ("other chat", "unregistered chat", "other group")
"""The targets that lie beyond an agent's own chat and group."""
ONLY_LOOKS = ("list_tasks", "refresh_groups", "get_agent_status", "report_progress")


def verdict(caller: Caller, command: str, target: Target, rights: Rights = Rights.OPERATOR) -> str:
    try:
        allow(caller, command, target, rights=rights, register_from=REGISTER_FROM)
    except DovecoteError as error:
        return error.code.value if error.suggestion else "no way out given"
    return YES


def with_rights(caller: str, command: str, name: str, allowed: str, rights: Rights) -> str:
    """The matrix with the rule for rights: what an agent may do beyond its own needs an operator's word."""
    is_agent = isinstance(CALLERS[caller], AgentCaller)
    if allowed != YES or rights is Rights.OPERATOR or not is_agent or name not in BEYOND:
        return allowed
    return NO if command in ONLY_LOOKS else ASK


@pytest.mark.parametrize("rights", Rights)
@pytest.mark.parametrize(("command", "caller"), list(MATRIX))
def test_each_caller_may_exactly_this(command: str, caller: str, rights: Rights) -> None:
    own = GroupFolder("trusted") if caller == "registrar" else GroupFolder("own")
    targets = TARGETS | {"own group": Target(chat_jid=None, group=own, is_registered=True)}

    found = {name: verdict(CALLERS[caller], command, target, rights) for name, target in targets.items()}

    assert found == {
        name: with_rights(caller, command, name, allowed, rights)
        for name, allowed in zip(TARGETS, MATRIX[command, caller], strict=True)
    }


def test_the_matrix_names_every_command_of_the_catalogue_for_every_caller() -> None:
    commands = {command.name for command in CATALOG.values()}

    assert {(name, who) for name in commands for who in CALLERS} <= set(MATRIX)


def test_people_can_be_told_of_every_command_that_may_need_their_word() -> None:
    assert {command.name for command in CATALOG.values()} - set(ONLY_LOOKS) == set(WISHES)


@pytest.mark.parametrize(
    ("group", "is_main", "expected"),
    [("own", True, True), ("trusted", False, True), ("own", False, False)],
)
def test_the_tools_of_groups_are_for_whom_the_matrix_lets_register(
    group: str, is_main: bool, expected: bool
) -> None:
    found = Group(
        folder=GroupFolder(group),
        jid=OWN,
        name="Own",
        trigger="@Andy",
        assistant_name="Andy",
        is_main=is_main,
        added_at=datetime(2026, 1, 1, tzinfo=UTC),
        number=1,
    )

    assert may_register(found, REGISTER_FROM) is expected


def test_an_agent_cannot_find_out_which_foreign_chats_are_registered() -> None:
    messages = []
    for target in (TARGETS["other chat"], TARGETS["unregistered chat"]):
        with pytest.raises(Forbidden) as caught:
            allow(CALLERS["agent"], "send_message", target)
        messages.append((caught.value.code, caught.value.message))

    assert messages[0] == messages[1]
    assert messages[0][0] is ErrorCode.FORBIDDEN


@pytest.mark.parametrize("command", sorted(command.name for command in CATALOG.values()))
def test_an_agent_without_the_right_chat_may_only_what_concerns_agents(command: str) -> None:
    target, caller = TARGETS["own chat"], CALLERS["registrar"]

    try:
        allow(caller, command, target, register_from=REGISTER_FROM, may_chat=False)
    except Forbidden:
        assert command not in AGENT_COMMANDS
    else:
        assert command in AGENT_COMMANDS


@pytest.mark.parametrize(("rights", "expected"), [(Rights.OPERATOR, YES), (Rights.MEMBER, ASK)])
def test_a_spawn_in_a_directory_of_the_host_needs_an_operators_word(rights: Rights, expected: str) -> None:
    target = Target(chat_jid=None, group=None, is_registered=True, is_beyond=True)

    assert verdict(CALLERS["main agent"], "spawn_agent", target, rights) == expected
    assert verdict(CALLERS["agent"], "spawn_agent", target, rights) == expected


@pytest.mark.parametrize("command", NAMED_TASK_COMMANDS)
@pytest.mark.parametrize("task_of", ["own", "other", None])
def test_an_agent_that_says_a_task_is_another_groups_is_refused_whosever_it_is(
    command: str, task_of: str | None
) -> None:
    group = None if task_of is None else GroupFolder(task_of)
    target = Target(
        chat_jid=None, group=group, is_registered=True, task_id="t-1", asked_group=GroupFolder("other")
    )

    assert verdict(CALLERS["agent"], command, target) == NO
