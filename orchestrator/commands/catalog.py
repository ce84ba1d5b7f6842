"""The contents page of what a box may ask for: request type to command.

By directory of the box: `messages` is `sending`; `tasks` is `tasks` and `group_requests`; `agents` is
`spawning`, `agent_views`, `stopping` and `progress`.
"""

from collections.abc import Mapping
from typing import Final

from orchestrator.commands.agents import agent_views, progress
from orchestrator.commands.command import Command
from orchestrator.commands.groups import group_requests
from orchestrator.commands.running import stopping
from orchestrator.commands.saying import sending
from orchestrator.commands.spawning import spawning
from orchestrator.commands.tasks import tasks
from orchestrator.contracts.wire.codec import Wire

CATALOG: Final[Mapping[type[Wire], Command]] = {
    command.request: command
    for command in (
        *sending.COMMANDS,
        *tasks.COMMANDS,
        *group_requests.COMMANDS,
        *spawning.COMMANDS,
        *agent_views.COMMANDS,
        *stopping.COMMANDS,
        *progress.COMMANDS,
    )
}
