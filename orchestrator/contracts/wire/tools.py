"""A request as a tool that a model may call: what its inputs mean, in words that need no others."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.wire.codec import Wire

CHAT_TOOLS: Final = "chat"
TASK_TOOLS: Final = "tasks"
GROUP_TOOLS: Final = "groups"
SPAWN_TOOLS: Final = "spawn"
PROGRESS_TOOLS: Final = "progress"
"""The sets of tools, by the names in which the host says which of them an agent is offered.

`progress` is the one tool of `spawn` that an agent has a use for which may start nobody.
"""


class Shape(Protocol):
    """What a model says in place of a request's own fields. A dataclass."""

    def as_request(self, chat: Jid) -> Wire:
        """The request that it stands for, of an agent whose chat is this."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInput:
    """One input. about: its meaning, unit and format. choices: the words it takes, if only these."""

    about: str
    example: object
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. Its inputs are fields of `request` by the same names; type and need are the field's own.

    shape: has the fields instead, where the request's own would be too much for a model.
    about: what it does and when to use it. done: what is told on success; `{names}` are of the result.
    doubt: what to do when no answer came, since the request may have been carried out all the same.
    only_reads: calling it again changes nothing. ends_something: what it undoes does not come back.
    """

    name: str
    request: type[Wire]
    about: str
    done: str
    doubt: str
    inputs: Mapping[str, ToolInput] = field(default_factory=dict)
    only_reads: bool = False
    ends_something: bool = False
    shape: type[Shape] | None = None
