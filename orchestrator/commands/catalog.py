"""The contents page of what a box may ask for: request type to command."""

from collections.abc import Mapping
from typing import Final

from orchestrator.commands import group_requests, lineage, progress, sending, spawning, stopping, tasks
from orchestrator.commands.command import Command
from orchestrator.contracts.wire.codec import Wire

CATALOG: Final[Mapping[type[Wire], Command]] = {
    command.request: command
    for command in (
        *sending.COMMANDS,
        *tasks.COMMANDS,
        *group_requests.COMMANDS,
        *spawning.COMMANDS,
        *lineage.COMMANDS,
        *stopping.COMMANDS,
        *progress.COMMANDS,
    )
}
