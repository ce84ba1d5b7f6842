"""What an agent may ask for in `tasks/` about groups. Source: contracts.md section 4."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from orchestrator.contracts.ids import GroupFolder, Jid, RequestId
from orchestrator.contracts.wire.boxes import TASKS
from orchestrator.contracts.wire.codec import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshGroups(Wire):
    """Ask the chat networks again which groups there are."""

    directory: ClassVar[str] = TASKS
    type_name: ClassVar[str] = "refresh_groups"

    group_folder: GroupFolder | None = None
    request_id: RequestId | None = None
    type: str = "refresh_groups"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterGroup(Wire):
    """Register a chat as a group. It can never be main, and gets no more rights than the caller has."""

    directory: ClassVar[str] = TASKS
    type_name: ClassVar[str] = "register_group"

    jid: Jid
    name: str
    folder: str
    trigger_pattern: str | None = None
    requires_trigger: bool = True
    assistant_name: str | None = None
    group_folder: GroupFolder | None = None
    request_id: RequestId | None = None
    type: str = "register_group"


REQUESTS: Final = (RefreshGroups, RegisterGroup)
"""The request types of this area."""

OLD_SPELLINGS: Final[Mapping[str, str]] = {"trigger": "triggerPattern"}
"""Keys that agents made for NanoClaw 1.x write, and ours."""
