"""What people say to Dovecote itself. Source: contracts.md section 6."""

from dataclasses import dataclass

from orchestrator.contracts.ids import Jid, MessageId


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenWord:
    """A word such as `/stop`, as somebody said it. seq: of the message that it is.

    name: without its slash. argument: what follows it.
    """

    seq: int
    chat_jid: Jid
    message_id: MessageId
    sender_jid: Jid
    name: str
    argument: str
