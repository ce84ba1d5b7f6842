"""What the operator does where an agent calls a tool: advice names the one or the other, by who reads it."""

import re
from typing import Final

from orchestrator.contracts.errors import DovecoteError

OPERATOR_STEPS: Final = {
    "schedule_task": "`dovecote task add`",
    "list_tasks": "`dovecote task list`",
    "pause_task": "`dovecote task pause`",
    "resume_task": "`dovecote task resume`",
    "cancel_task": "`dovecote task cancel`",
    "run_task": "`dovecote task run`",
    "update_task": "PATCH /api/v1/tasks/ID",  # no command changes a task
}
"""For each tool of tasks, what does the same for the operator."""

_TOOL: Final = re.compile(rf"\b({'|'.join(OPERATOR_STEPS)})\b")


def for_operator(error: DovecoteError) -> DovecoteError:
    """The same error, its advice in the operator's words."""
    if error.suggestion is not None:
        error.suggestion = _TOOL.sub(lambda found: OPERATOR_STEPS[found[1]], error.suggestion)
    return error
