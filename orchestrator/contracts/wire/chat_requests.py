"""What an agent may ask for in `messages/`. Source: contracts.md section 4."""

from dataclasses import dataclass
from typing import ClassVar, Final

from orchestrator.contracts.ids import Jid, RequestId
from orchestrator.contracts.wire.boxes import MESSAGES
from orchestrator.contracts.wire.codec import Wire
from orchestrator.contracts.wire.tools import Tool, ToolInput


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

TOOLS: Final = (
    Tool(
        name="send_message",
        request=SendMessage,
        about=(
            "Send a text to the chat now, on your own account, as a message of its own. Use it while you "
            "are still working (progress, a first result) or to say something besides your answer. What "
            "you answer at the end of your turn is sent by itself: do not send it with this tool as well. "
            "There is no way to take a message back."
        ),
        inputs={
            "text": ToolInput(
                about=(
                    "The message: plain text, line breaks allowed, at least one visible character. What "
                    "goes beyond 64 KiB is cut; a long text arrives as several messages."
                ),
                example="The report is half done, ten more minutes.",
            )
        },
        done="Queued: it goes to the chat in its turn, before anything you say later.",
        doubt="Do not send it again, or the chat may get it twice; go on, and mention it in your answer.",
    ),
)
"""What a model is offered of this area."""
