"""Settings of the channel `whatsapp`."""

from pydantic import Field

from orchestrator.settings.section import Number, Section


class WhatsAppSettings(Section):
    """The account that is linked, and how it behaves."""

    enabled: bool = Field(False, description="connect to WhatsApp; link first: `dovecote whatsapp link`")
    has_owner: bool = Field(
        False, description="whether a person writes from the linked account as well, as with your own number"
    )
    chat_per_minute: Number = Field(
        20, ge=1, le=10_000, description="texts a minute into one chat; accounts that write faster get barred"
    )
    all_per_minute: Number = Field(60, ge=1, le=10_000, description="texts a minute into all chats together")
    max_age_s: Number = Field(
        86_400,
        ge=60,
        le=30 * 86_400,
        description="what was sent longer before a start is passed over",
    )
    media_wait_s: Number = Field(
        30, ge=0, le=600, description="a message waits so long for its file; a later one follows it"
    )
    read_receipts: bool = Field(
        False, description="whether senders in registered chats see that their messages were read"
    )
