"""What every command may use, passed as one value."""

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.seams import AgentControl, Checkpoints, Clock, Wakeups
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings
from orchestrator.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts a command works with. text_limit: the longest text a chat's channel takes.

    troubles: of each part that is being started again: why.
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
