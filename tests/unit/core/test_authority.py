"""Who may do what: the whole matrix."""

import pytest

from orchestrator.contracts.callers import AgentCaller, Caller, HostCaller, OperatorCaller
from orchestrator.contracts.errors import DovecoteError, ErrorCode, Forbidden
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid
from orchestrator.contracts.records.rights import Rights
from orchestrator.core.authority import Target, allow

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


def agent(*, is_main: bool) -> AgentCaller:
    return AgentCaller(
        agent_id=AgentId("agent-1"),
        box=BoxName("own"),
        group=GroupFolder("own"),
        chat_jid=OWN,
        is_main=is_main,
    )


CALLERS: dict[str, Caller] = {
    "host": HostCaller(),
    "operator": OperatorCaller(),
    "main agent": agent(is_main=True),
    "agent": agent(is_main=False),
}
TARGETS = {
    "own chat": Target(chat_jid=OWN, group=None, is_registered=True),
    "own chat, unregistered": Target(chat_jid=OWN, group=None, is_registered=False),
    "other chat": Target(chat_jid=OTHER, group=None, is_registered=True),
    "unregistered chat": Target(chat_jid=OTHER, group=None, is_registered=False),
    "own group": Target(chat_jid=None, group=GroupFolder("own"), is_registered=True),
    "other group": Target(chat_jid=None, group=GroupFolder("other"), is_registered=True),
}
YES, NO, GONE = "", "FORBIDDEN", "NOT_REGISTERED"
MATRIX = {
    ("send_message", "host"): [YES, GONE, YES, GONE, YES, YES],
    ("send_message", "operator"): [YES, GONE, YES, GONE, YES, YES],
    ("send_message", "main agent"): [YES, GONE, YES, GONE, YES, YES],
    ("send_message", "agent"): [YES, GONE, NO, NO, NO, NO],
    ("post_message", "host"): [YES, GONE, YES, GONE, YES, YES],
    ("post_message", "operator"): [YES, GONE, YES, GONE, YES, YES],
    ("post_message", "main agent"): [NO, NO, NO, NO, NO, NO],
    ("post_message", "agent"): [NO, NO, NO, NO, NO, NO],
    ("manage_groups", "host"): [YES, YES, YES, YES, YES, YES],
    ("manage_groups", "operator"): [YES, YES, YES, YES, YES, YES],
    ("manage_groups", "main agent"): [NO, NO, NO, NO, NO, NO],
    ("manage_groups", "agent"): [NO, NO, NO, NO, NO, NO],
    **{(name, "host"): [YES, YES, YES, YES, YES, YES] for name in TASK_COMMANDS},
    **{(name, "operator"): [YES, YES, YES, YES, YES, YES] for name in TASK_COMMANDS},
    **{(name, "main agent"): [YES, YES, YES, YES, YES, YES] for name in TASK_COMMANDS},
    **{(name, "agent"): [YES, YES, NO, NO, YES, NO] for name in TASK_COMMANDS},
    ("no_such_command", "host"): [NO, NO, NO, NO, NO, NO],
    ("no_such_command", "operator"): [NO, NO, NO, NO, NO, NO],
    ("no_such_command", "main agent"): [NO, NO, NO, NO, NO, NO],
    ("no_such_command", "agent"): [NO, NO, NO, NO, NO, NO],
}


def verdict(caller: Caller, command: str, target: Target) -> str:
    try:
        allow(caller, command, target)
    except DovecoteError as error:
        return error.code.value if error.suggestion else "no way out given"
    return YES


@pytest.mark.parametrize(("command", "caller"), list(MATRIX))
def test_each_caller_may_exactly_this(command: str, caller: str) -> None:
    verdicts = [verdict(CALLERS[caller], command, target) for target in TARGETS.values()]

    assert dict(zip(TARGETS, verdicts, strict=True)) == dict(
        zip(TARGETS, MATRIX[command, caller], strict=True)
    )


def test_an_agent_cannot_find_out_which_foreign_chats_are_registered() -> None:
    messages = []
    for target in (TARGETS["other chat"], TARGETS["unregistered chat"]):
        with pytest.raises(Forbidden) as caught:
            allow(CALLERS["agent"], "send_message", target)
        messages.append((caught.value.code, caught.value.message))

    assert messages[0] == messages[1]
    assert messages[0][0] is ErrorCode.FORBIDDEN


@pytest.mark.parametrize("rights", [Rights.BOT, Rights.MEMBER])
@pytest.mark.parametrize("command", ["send_message", *TASK_COMMANDS])
def test_main_reaches_beyond_its_own_chat_only_on_an_operators_word(command: str, rights: Rights) -> None:
    main = CALLERS["main agent"]
    beyond = TARGETS["other chat"] if command == "send_message" else TARGETS["other group"]
    own = TARGETS["own chat"] if command == "send_message" else TARGETS["own group"]

    with pytest.raises(DovecoteError) as caught:
        allow(main, command, beyond, rights=rights)

    assert caught.value.suggestion
    allow(main, command, own, rights=rights)
    allow(main, command, beyond, rights=Rights.OPERATOR)
