"""The directories of a box and the files in them. Source: contracts.md sections 1 and 3."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.wire.codec import Wire

MESSAGES: Final = "messages"
TASKS: Final = "tasks"
AGENTS: Final = "agents"
MAIL: Final = "mail"
INPUT: Final = "input"
ACKS: Final = "acks"
REPLIES: Final = "replies"

REQUEST_DIRECTORIES: Final = (MESSAGES, TASKS, AGENTS, MAIL)
"""Nothing may be asked in `mail` so far: what lies there is refused, with that reason."""
WRITABLE_DIRECTORIES: Final = (*REQUEST_DIRECTORIES, INPUT, ACKS)
"""What the container may write in; `replies` and the snapshots are the host's alone."""
BOX_DIRECTORIES: Final = (*WRITABLE_DIRECTORIES, REPLIES)

TASKS_SNAPSHOT: Final = "current_tasks.json"
GROUPS_SNAPSHOT: Final = "available_groups.json"
"""What an agent may read of its tasks and of the groups, in the box itself. The host's alone."""

KEEP_REPLIES: Final = timedelta(hours=1)
"""From an answer on: its file in the box, and the row by which the same request is answered so again."""
KEEP_REFUSED: Final = timedelta(days=7)
"""What was refused: the file of a box that was put away with its reason, and the row of a refused spawn: both
are what `dovecote errors` shows."""

CLOSE_FILE_1X: Final = "_close"
"""The empty sentinel that agents made for NanoClaw 1.x look for."""


def temporary_name(name: str) -> str:
    """The name under which a file is written before it is renamed to `name`."""
    return f".{name}.tmp"


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp(Wire):
    """A later message for a running agent. `content` and `text` are the same XML in both spellings.

    ids: the messages it holds. triggers: those of them that ask for an answer; the rest is context.
    turn_id: names the turn only if this file starts one.
    """

    content: str
    text: str
    ids: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    turn_id: TurnId | None = None
    type: str = "message"


class AnswerStatus(StrEnum):
    """What became of a question. Expired: nobody answered in time. Refused: it was never asked."""

    ANSWERED = "answered"
    EXPIRED = "expired"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Wire):
    """What people say to a question that the agent asked by `waiting_input`.

    text: the words of a person or of the option; of a refused question why. option: its place in the
    question's options, from 0; absent for words of one's own.
    """

    question_id: str
    status: AnswerStatus = AnswerStatus.ANSWERED
    text: str = ""
    option: int | None = None
    type: str = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Close(Wire):
    """Finish the turn, take no more, exit 0."""

    type: str = "_close"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAck(Wire):
    """`acks/{turnId}.json` while the turn runs; a `TurnEnded` object replaces it at the end."""

    turn_id: TurnId
    inputs: tuple[str, ...] = ()
    status: str = "started"
