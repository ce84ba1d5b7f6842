"""What a model is to answer: rules, first that fits, each with the steps of one answer."""

import asyncio
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Discriminator, Field, TypeAdapter
from pydantic.dataclasses import dataclass

# A misspelt member of a script must not be a rule that never fits.
_STRICT: Final = ConfigDict(extra="forbid")


class Stop(StrEnum):
    """Why an answer is over. An answer with a tool call is over for that reason, whatever is said here."""

    END = "end"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Usage:
    """The tokens that an answer says it cost. input_tokens: without those of the cache, in every format."""

    input_tokens: int = 100
    output_tokens: int = 20
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class Gate:
    """Where an answer waits until the test lets it go on."""

    def __init__(self) -> None:
        self._reached = asyncio.Event()
        self._opened = asyncio.Event()

    async def reached(self) -> None:
        """Until an answer stands here."""
        await self._reached.wait()

    def open(self) -> None:
        """Let it go on, and every later one too."""
        self._opened.set()

    async def pass_through(self) -> None:
        """The server's side: stand here until it is opened."""
        self._reached.set()
        await self._opened.wait()


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Say:
    """Text, streamed in so many pieces; an empty one only begins the answer. pause_s: before each piece but
    the first."""

    text: str
    pieces: int = 1
    pause_s: float = 0.0
    step: Literal["say"] = "say"


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Think:
    """What the model thinks before it speaks."""

    text: str
    step: Literal["think"] = "think"


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class CallTool:
    """A call of a tool that the request offers.

    tool: its name, or the end of it: `add` is also `mcp__lab__add`, `mcp_lab_add` and `lab_add`. A request
    that offers tools but not this one is refused with the names that it offers.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    step: Literal["call_tool"] = "call_tool"


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Fail:
    """An error in the provider's own shape: the HTTP answer as a first step, an event of the stream later.

    code: in place of the usual word for this status. is_context_overflow: as the provider says that the
    conversation is too long; status, message and code are then the provider's.
    """

    status: int = 500
    message: str | None = None
    code: str | None = None
    retry_after_s: int | None = None
    is_context_overflow: bool = False
    step: Literal["fail"] = "fail"


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Pause:
    """A slow provider."""

    seconds: float
    step: Literal["pause"] = "pause"


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Wait:
    """Nothing more until the test opens the server's gate of this name."""

    gate: str
    step: Literal["wait"] = "wait"


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Cut:
    """The connection ends here, without an end of the answer. in_event: in the middle of an event."""

    in_event: bool = False
    step: Literal["cut"] = "cut"


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Hang:
    """Nothing more, until the connection ends: the client goes, or the server closes."""

    step: Literal["hang"] = "hang"


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Answer:
    """An HTTP answer that is no model's: a redirect, a page of a proxy. Only as the first step.

    pieces: how many the body is sent in; more than one are sent without its length in front.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    pieces: int = 1
    step: Literal["answer"] = "answer"


Step = Say | Think | CallTool | Fail | Pause | Wait | Cut | Hang | Answer


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Rule:
    """These steps are the answer to a request that fits.

    text: part of the last thing a person said, if the model has not spoken since. tool_result: part of what a
    tool has answered since then. model: the model's name. has_tools: whether tools are offered; a program's
    side calls, such as those for a title, offer none. path: the path of the request; with it the rule is for
    any request, without it for calls of a model only. skip: how many that fit it leaves to others first;
    times: how many it answers.
    A rule that calls a tool fits only requests that offer some.
    """

    steps: tuple[Annotated[Step, Discriminator("step")], ...] = Field(min_length=1)
    text: str | None = None
    tool_result: str | None = None
    model: str | None = None
    has_tools: bool | None = None
    path: str | None = None
    skip: int = 0
    times: int | None = None
    usage: Usage = field(default_factory=Usage)
    stop: Stop = Stop.END

    def __post_init__(self) -> None:
        """Raises ValueError when a step stands where it cannot be taken."""
        if any(isinstance(step, Answer) for step in self.steps[1:]):
            raise ValueError("steps: an answer that is no model's can only be the first step")


_RULES: Final = TypeAdapter(tuple[Rule, ...])


def read_rules(text: str | bytes) -> tuple[Rule, ...]:
    """A script in a file: a JSON list of rules, each step with its name in the member `step`.

    Raises ValueError, naming the place and what may stand there.
    """
    return _RULES.validate_json(text)
