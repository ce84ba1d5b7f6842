"""Files that come after their message was given to an agent. Source: contracts.md section 6."""

import hashlib
from typing import Final

from orchestrator.contracts.ids import MessageId
from orchestrator.contracts.records.messages import MessageStatus, StoredMessage

_CAME: Final = "[The file of the quoted message has come]"


def late_file_id(message_id: MessageId) -> MessageId:
    """The id of the message that a late file becomes, of any length of the other's."""
    return MessageId(f"late-file:{hashlib.sha256(message_id.encode()).hexdigest()[:32]}")


def late_file_note(text: str) -> str:
    """How such a message begins."""
    return f"{_CAME}\n{text}"


def is_replaceable(stored: StoredMessage) -> bool:
    """Whether nobody has seen the message yet, so that it can simply have its file."""
    return stored.status is MessageStatus.PENDING and stored.revision == 0


def is_taken_back(stored: StoredMessage) -> bool:
    """Whether its sender took it back: then nobody wants its file."""
    return stored.status is MessageStatus.SKIPPED and not stored.text
