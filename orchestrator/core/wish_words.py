"""What agents ask for, in the words of people: shown to operators who are asked about it."""

from collections.abc import Mapping
from typing import Final

WISHES: Final[Mapping[str, str]] = {
    "send_message": "send a message to another chat",
    "schedule_task": "plan a task for another group",
    "update_task": "change a task of another group",
    "pause_task": "pause a task of another group",
    "resume_task": "resume a task of another group",
    "cancel_task": "cancel a task of another group",
    "run_task": "run a task of another group",
    "register_group": "make a chat one of its groups",
    "spawn_agent": "start an agent in another directory of this machine",
    "terminate_agent": "stop an agent of another group",
}
"""What a command does, as the end of `wants to …`."""

_FIELD_WORDS: Final[Mapping[str, str]] = {
    "chatJid": "chat",
    "jid": "chat",
    "groupFolder": "group",
    "taskId": "task",
    "prompt": "what to do",
    "scheduleType": "kind of schedule",
    "scheduleValue": "when",
    "contextMode": "conversation",
    "catchUp": "missed runs",
    "notify": "tells the chat",
    "triggerPattern": "answers to",
    "requiresTrigger": "only when called",
    "assistantName": "name of the assistant",
    "replyTo": "answers message",
    "sender": "shown as",
    "task": "what to do",
    "workspacePath": "in the directory",
    "writablePaths": "may write there",
    "timeoutMs": "time in milliseconds",
    "onParentExit": "when who started it ends",
    "restartPolicy": "starts again",
    "permissions": "it may",
}


def wish_of(command: str) -> str:
    """What a command does, as the end of `wants to …`; of one that is not known here its name."""
    return WISHES.get(command, command)


def field_word(field: str) -> str:
    """What people call a field of a request: `when` for `scheduleValue`."""
    return _FIELD_WORDS.get(field, field)
