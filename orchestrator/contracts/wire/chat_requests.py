"""What an agent may ask for in `messages/`. Source: contracts.md section 4."""

from dataclasses import dataclass
from typing import ClassVar, Final

from orchestrator.contracts.ids import Jid, RequestId
from orchestrator.contracts.wire.boxes import MESSAGES
from orchestrator.contracts.wire.codec import Wire
from orchestrator.contracts.wire.tools import Tool, ToolInput


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessage(Wire):
    """Send a text, files or both to a chat on the agent's own account.

    chat_jid: the agent's own chat (main: any registered one). timestamp: ISO 8601, the agent's own.
    reply_to: id of the message to quote. sender: a role's name, shown before the text. attachments: paths
    in the agent's workspace; with one of them a short text is the file's caption.
    """

    directory: ClassVar[str] = MESSAGES
    type_name: ClassVar[str] = "message"

    chat_jid: Jid
    text: str
    timestamp: str | None = None
    reply_to: str | None = None
    sender: str | None = None
    attachments: tuple[str, ...] | None = None
    request_id: RequestId | None = None
    type: str = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class SendFile:
    """What a model says to send one file; it becomes a `message` request."""

    path: str
    caption: str | None = None

    def as_request(self, chat: Jid) -> SendMessage:
        """The request that it stands for."""
        return SendMessage(chat_jid=chat, text=self.caption or "", attachments=(self.path,))


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
    Tool(
        name="send_file",
        request=SendMessage,
        about=(
            "Send one file of your workspace to the chat, such as a report, a picture or a table that you "
            "made. The people there get a copy of the file as it is now; a path in a text would be of no "
            "use to them, since they cannot see your workspace. Write the file completely before you call "
            "this. One file a call; for several, call it once for each. Up to 16 MiB unless the operator "
            "allows more. There is no way to take a file back."
        ),
        shape=SendFile,
        inputs={
            "path": ToolInput(
                about=(
                    "The file: relative to your workspace, or absolute and inside of it "
                    "(/workspace/group/…). It has to be a regular file: no link, no directory. To send a "
                    "directory, pack it into one file first."
                ),
                example="report.pdf",
            ),
            "caption": ToolInput(
                about="A text that is shown with the file, up to 1,000 characters; leave it out for none.",
                example="The figures for November.",
            ),
        },
        done="Queued: the file goes to the chat in its turn, before anything you say later.",
        doubt="Do not send it again, or the chat may get it twice; go on, and mention it in your answer.",
    ),
)
"""What a model is offered of this area."""
