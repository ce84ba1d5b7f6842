"""What every command may use, passed as one value."""

import asyncio
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field

from orchestrator.commands.sender_book import SenderBook
from orchestrator.contracts.agent_control import AgentControl
from orchestrator.contracts.egress_seams import SecretValues
from orchestrator.contracts.ids import AgentId, Jid
from orchestrator.contracts.records.agents import QueueReason
from orchestrator.contracts.records.egress import Secret
from orchestrator.contracts.seams import Checkpoints, Clock, Wakeups
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings
from orchestrator.store.database import Database


class NoSecrets:
    """Where no credential is kept."""

    async def get(self, ref: str) -> Secret | None:
        """There is none."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts a command works with. text_limit: the longest text a chat's channel takes.

    troubles: of each part that is being started again: why. senders: who may set the assistant off.
    secrets: the credentials of providers. words_in_hand: numbers of the words that are being done.
    voice_turns: how many voice messages are listened to at once. queued_by: what keeps each agent
    that waits for a place from it.
    """

    db: Database
    clock: Clock
    wakeups: Wakeups
    checkpoints: Checkpoints
    settings: Settings
    paths: Paths
    text_limit: Callable[[Jid], int]
    control: AgentControl
    troubles: MutableMapping[str, str] = field(default_factory=dict)
    senders: SenderBook = field(default_factory=SenderBook)
    secrets: SecretValues = field(default_factory=NoSecrets)
    words_in_hand: set[int] = field(default_factory=set)
    queued_by: MutableMapping[AgentId, QueueReason] = field(default_factory=dict)
    voice_turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
