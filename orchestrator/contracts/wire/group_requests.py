"""What an agent may ask for in `tasks/` about groups. Source: contracts.md section 4."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from orchestrator.contracts.ids import GroupFolder, Jid, RequestId
from orchestrator.contracts.wire.boxes import TASKS
from orchestrator.contracts.wire.codec import Wire
from orchestrator.contracts.wire.tools import Tool, ToolInput


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterGroup(Wire):
    """Make a chat a group of its own, with a folder of its own. It never becomes main.

    trigger_pattern: a word such as @Andy, or a regular expression. assistant_name: absent means the
    installation's. group_folder: the caller's own, if it is said at all.
    """

    directory: ClassVar[str] = TASKS
    type_name: ClassVar[str] = "register_group"

    jid: Jid
    name: str
    folder: str
    trigger_pattern: str
    requires_trigger: bool = True
    assistant_name: str | None = None
    group_folder: GroupFolder | None = None
    request_id: RequestId | None = None
    type: str = "register_group"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshGroups(Wire):
    """Look again which chats could be registered; `available_groups.json` then has them."""

    directory: ClassVar[str] = TASKS
    type_name: ClassVar[str] = "refresh_groups"

    group_folder: GroupFolder | None = None
    request_id: RequestId | None = None
    type: str = "refresh_groups"


REQUESTS: Final = (RegisterGroup, RefreshGroups)
"""The request types of this area."""

OLD_SPELLINGS: Final[Mapping[str, str]] = {"trigger": "triggerPattern"}
"""Keys that agents made for NanoClaw 1.x write, and ours."""

TOOLS: Final = (
    Tool(
        name="register_group",
        request=RegisterGroup,
        about=(
            "Make a chat one that the assistant answers in, with its own folder, memory and conversation. "
            "Find the chat's id in the file available_groups.json in the directory of your box "
            "(/workspace/ipc); call refresh_groups first if it is not there. A chat or a folder that is "
            "registered already is refused, and the error names the group that has it. If people other "
            "than the operator wrote in this conversation, the error CONFIRMATION_NEEDED says that the "
            "operator was asked: tell the people here that it waits for his word, and do not call it again."
        ),
        inputs={
            "jid": ToolInput(
                about="The chat's id, exactly as available_groups.json has it.", example="120363025@g.us"
            ),
            "name": ToolInput(about="What people call the chat, up to 100 characters.", example="Family"),
            "folder": ToolInput(
                about=(
                    "The name of its new folder: 1 to 64 of a-z, 0-9, - and _, beginning with a letter or "
                    "digit. It must not exist yet."
                ),
                example="family",
            ),
            "trigger_pattern": ToolInput(
                about=(
                    "What a message has to begin with so that the assistant answers: a word such as @Andy, "
                    "or a regular expression."
                ),
                example="@Andy",
            ),
            "requires_trigger": ToolInput(
                about="true: only messages with the trigger are answered. false: every message is.",
                example=True,
            ),
            "assistant_name": ToolInput(
                about="What the assistant is called there; leave it out for its usual name.", example="Andy"
            ),
        },
        done="Registered {jid} as {folder}. Messages with {trigger} are answered there from now on.",
        doubt="Read available_groups.json to see whether the chat is registered before you try again.",
    ),
    Tool(
        name="refresh_groups",
        request=RefreshGroups,
        about=(
            "Ask the chat networks again which group chats there are. The answer comes at once; a few "
            "seconds later the file available_groups.json in the directory of your box (/workspace/ipc) "
            "has the chats with jid, name, folder, lastActivity and isRegistered, and lastSync tells when "
            "it was last done. It registers nothing."
        ),
        done="Asked. The file available_groups.json follows in a few seconds; last done: {lastSync}.",
        doubt="It changes nothing: try again in a minute.",
        only_reads=True,
    ),
)
"""What a model is offered of this area, where its group may register others."""
