"""The clock and checkpoints of production, and what a test puts in the place of real parts."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from orchestrator.channels.base import ChannelParts
from orchestrator.contracts.egress_seams import SecretValues, UsageMeter
from orchestrator.contracts.records.launch import AGENT_RUNNER_COMMAND
from orchestrator.contracts.seams import Channel, Checkpoints, Clock, Runner


class SystemClock:
    """The real time."""

    def now(self) -> datetime:
        """This instant, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()


class NoCheckpoints:
    """Production: nothing happens at a checkpoint."""

    def reached(self, name: str) -> None:
        """Go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacements:
    """What a test puts in the place of a real part; None keeps the real one."""

    clock: Clock | None = None
    checkpoints: Checkpoints | None = None
    runner: tuple[Runner, str] | None = None
    networks: Callable[[ChannelParts], Sequence[Channel]] | None = None
    channels: Sequence[Channel] = ()
    watches: bool = True
    agent_command: tuple[str, ...] = AGENT_RUNNER_COMMAND
    serves_api: bool = True
    secrets: SecretValues | None = None
    meter: UsageMeter | None = None
