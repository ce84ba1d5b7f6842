"""How far an agent says it is with its task. Source: agents.md section 2."""

from collections.abc import Mapping
from typing import Final

from orchestrator.commands.agents.event_writing import note_progress_of
from orchestrator.commands.command import Command, Context
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.errors import Forbidden, InvalidRequest
from orchestrator.contracts.wire.agent_requests import ReportProgress
from orchestrator.core.authority import Target
from orchestrator.store import agents
from orchestrator.store.transaction import Transaction

_MOST: Final = 100


def report_progress(tx: Transaction, context: Context, request: ReportProgress) -> Mapping[str, object]:
    """Tell whoever watches its tree. Raises InvalidRequest outside of 0 to 100."""
    caller = context.caller
    agent = agents.get(tx, caller.agent_id) if isinstance(caller, AgentCaller) else None
    if agent is None:
        raise Forbidden("Only an agent reports its progress.", suggestion="Ask for its status instead.")
    if not 0 <= request.progress <= _MOST:
        raise InvalidRequest(
            f"progress is {request.progress:g}, but must be from 0 to {_MOST}.",
            suggestion="Give it in percent.",
        )
    note_progress_of(tx, agent, request.progress, request.description, at=context.at)
    return {"progress": request.progress}


def _target(tx: Transaction, request: ReportProgress) -> Target:
    """The caller itself."""
    return Target(chat_jid=None, group=None, is_registered=True)


COMMANDS: Final = (
    Command(request=ReportProgress, name="report_progress", target=_target, run=report_progress),
)
"""The requests of this area."""
