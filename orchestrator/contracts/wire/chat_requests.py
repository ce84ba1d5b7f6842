"""What an agent may ask for in `messages/`. Source: contracts.md section 4."""

from dataclasses import dataclass
from typing import ClassVar, Final

from orchestrator.contracts.ids import Jid, RequestId
from orchestrator.contracts.wire.boxes import MESSAGES
from orchestrator.contracts.wire.codec import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessage(Wire):
    """Send a text to a chat on the agent's own account.

    chat_jid: the agent's own chat (main: any registered one). timestamp: ISO 8601, the agent's own.
    reply_to: id of the message to quote. sender: a role's name, shown before the text.
    """

    directory: ClassVar[str] = MESSAGES
    type_name: ClassVar[str] = "message"

    chat_jid: Jid
    text: str
    timestamp: str | None = None
    reply_to: str | None = None
    sender: str | None = None
    request_id: RequestId | None = None
    type: str = "message"


REQUESTS: Final = (SendMessage,)
"""The request types of this area."""
