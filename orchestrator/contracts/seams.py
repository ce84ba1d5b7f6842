"""The Protocols by which the parts of the host meet without knowing each other.

Obligations are in the docstrings; those of channels, runners and hints are suites in `tests/agreement`, which
run over every implementation.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.ids import AgentId, BoxName, Jid, MessageId, TurnId
from orchestrator.contracts.records.agents import ExitStatus
from orchestrator.contracts.records.groups import Chat
from orchestrator.contracts.records.launch import LaunchPlan
from orchestrator.contracts.records.messages import InboundMessage, OutboundMessage, Receipt, ReceivedFile
from orchestrator.contracts.wire.boxes import Answer, FollowUp
from orchestrator.contracts.wire.replies import Reply


class Clock(Protocol):
    """Where the time comes from. The only implementation that reads the real clock is in `app`."""

    def now(self) -> datetime:
        """This instant, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only grow, for durations."""
        ...


class Checkpoints(Protocol):
    """Named points of the work. Nothing in production; a test harness stops the process there."""

    def reached(self, name: str) -> None: ...


class Topic(StrEnum):
    """What somebody may wait for. A wake-up carries no data that the store does not have."""

    WORK = "work"
    """There may be something to start or to end: a trigger, a due task, a spawn. For the router."""
    OUTBOX = "outbox"
    """A text may be sent, or became of it what becomes of texts. For the outbox sender."""
    ALARM = "alarm"
    """Something is due at another time than before. For the alarm."""
    SNAPSHOTS = "snapshots"
    """Tasks or groups changed. For what tells agents of them."""
    ALERTS = "alerts"
    """Operators are to be told. For the operator alerts."""
    CHATS = "chats"
    """There is another chat, or it bears another name. For the chat directory."""
    CHAT_VIEW = "chat_view"
    """What somebody who looks at a chat would see changed. For open chats."""
    EVENTS = "events"
    """The event log grew. For the event feed."""
    AGENTS = "agents"
    """The life of an agent went on. For the supervisor, and for who waits for one."""


class Listener(Protocol):
    """One waiter's ear for some topics."""

    async def wait(self, *, at_most_s: float) -> bool:
        """Wait for a wake; False when the time ran out first.

        A wake since the last `wait` counts, so none is missed between reading the store and waiting.
        """
        ...


class Wakeups(Protocol):
    """In-process signals: waking is fast, polling is certain. Used from the loop's thread only."""

    def wake(self, topic: Topic) -> None:
        """Let everybody who listens to `topic` go on."""
        ...

    def listen(self, *topics: Topic) -> Listener:
        """An ear for these topics; made before the store is read, waited on after."""
        ...


Inbox = Callable[[InboundMessage], Awaitable[None]]
"""What a channel calls with a message; it returns once the message is stored.

Raises Unavailable when it can't be stored now: the network is to keep it. Any other DovecoteError means
that it will never be taken: the channel goes on with the next one.
"""


class SendRefused(Exception):
    """The network will never take this text. The text of the error is for the operator."""


class SendUnavailable(Exception):
    """The text was certainly not taken; trying later may help."""


class SendUnknown(Exception):
    """The text may or may not have been taken; the answer was lost."""


class Channel(Protocol):
    """A chat network. `connect` returns when it is usable or raises; `close` never raises."""

    name: str

    def owns(self, jid: Jid) -> bool:
        """Whether `jid` is a chat of this network."""
        ...

    @property
    def max_text_chars(self) -> int:
        """The longest text one message may hold."""
        ...

    @property
    def is_connected(self) -> bool: ...

    async def connect(self, inbox: Inbox) -> None: ...

    async def send(self, message: OutboundMessage) -> Receipt:
        """Send it once: the text, or the file with the text as its caption.

        Raises SendRefused, SendUnavailable or SendUnknown.
        """
        ...

    async def set_typing(self, chat: Jid, *, is_typing: bool) -> None:
        """Show or hide the typing indicator. Best effort; never raises."""
        ...

    async def fetch_groups(self) -> Sequence[Chat]:
        """The group chats that this account is in now, as the network says; none where it has none.

        Raises Unavailable when it can't be asked now.
        """
        ...

    async def close(self) -> None: ...


class ConsoleDoor(Protocol):
    """The terminal's side of the console channel: people come in here, over HTTP or in-process."""

    @property
    def sender(self) -> Jid:
        """As whom everybody at the terminal writes."""
        ...

    def owns(self, jid: Jid) -> bool:
        """Whether `jid` is a console chat."""
        ...

    def is_typing(self, chat: Jid) -> bool:
        """Whether the assistant is at work in `chat`."""
        ...

    async def receive(
        self,
        chat: Jid,
        text: str,
        *,
        message_id: MessageId | None = None,
        sender_name: str | None = None,
        files: Sequence[ReceivedFile] = (),
    ) -> MessageId:
        """Take in what the operator wrote, with files of the operator's own; stored when this returns its id.

        The same message_id again is the same message. Raises Unavailable before `connect`.
        """
        ...


class AgentHandle(Protocol):
    """A started agent. Every method may be called again, and after its end."""

    @property
    def process_ref(self) -> str:
        """What `Runner.stop_leftovers` needs to find the process after a crash."""
        ...

    @property
    def is_legacy(self) -> bool:
        """Whether the image knows only the seed document: no `ready`, no events."""
        ...

    async def check_walls(self, reported: Mapping[str, str]) -> None:
        """Compare what is mounted with the plan, after `ready` and before input. Raises StartFailed.

        reported: container path to `device:inode`, as the agent says in `ready`; it counts where the
        host may not look for itself. Empty from a legacy agent.
        """
        ...

    async def write_input(self, line: bytes) -> None:
        """Write standard input and close it; the caller bounds the wait. Raises StartFailed if it is gone."""
        ...

    def output(self) -> AsyncIterator[bytes]:
        """Standard output in chunks until its end; iterated once. Reading slowly slows the agent.

        Of an adopted one an empty chunk comes when all has been given that it had said by its adoption.
        """
        ...

    def log_output(self) -> AsyncIterator[bytes]:
        """Standard error in chunks until its end. May be iterated once."""
        ...

    async def wait(self) -> ExitStatus:
        """How it ended, once it has."""
        ...

    async def terminate(self) -> None:
        """Ask it to stop (SIGTERM to the agent runner). No error if it is gone."""
        ...

    async def kill(self) -> None:
        """End it and everything inside at once. No error if it is gone."""
        ...

    async def is_gone(self) -> bool:
        """Whether nothing of it runs any more, looked up, not assumed."""
        ...

    async def close(self) -> None:
        """Give back descriptors, threads and the container. The process is dead by then, or is killed."""
        ...


class Runner(Protocol):
    """Starts walled processes. Holds no agent that it did not hand out."""

    name: str

    async def why_not(self) -> str | None:
        """None when it can start agents now; else why not, with the command that mends it."""
        ...

    async def start(self, plan: LaunchPlan) -> AgentHandle:
        """Start it; the walls stand when this returns. Raises StartFailed or Unavailable (engine away)."""
        ...

    async def adopt(self, instance_id: str, agent_id: AgentId, ref: str) -> AgentHandle | None:
        """At a start: an agent that outlived an earlier process of this instance; its output comes again from
        its first byte. None where this runner can't go on with it. Raises Unavailable."""
        ...

    async def stop_leftovers(
        self,
        instance_id: str,
        refs: Sequence[tuple[AgentId, str | None]],
        *,
        spare: Collection[AgentId] = (),
    ) -> list[AgentId]:
        """At a start: kill what an earlier process of this instance left but for `spare`, and remove it.

        refs: agents that the store believes alive, with their `process_ref`; None: the runner finds it by
        label if it can. Returns those that could not be verified dead.
        """
        ...

    async def close(self) -> None: ...


class BoxPort(Protocol):
    """The host's hand on one box; opened once, safe against everything a container can do in it."""

    name: BoxName

    async def stage_follow_up(self, follow_up: FollowUp, *, file_stem: str) -> None:
        """Write `input/` file under its temporary name; it is not seen by the agent yet."""
        ...

    async def publish_follow_up(self, file_stem: str) -> None:
        """Rename the staged file in."""
        ...

    async def discard_follow_up(self, file_stem: str) -> None:
        """Remove a staged file that will not be published. No error if it is gone."""
        ...

    async def unread_inputs(self) -> list[str]:
        """Stems of the files that still lie in `input/`; what the agent made unreadable counts as none."""
        ...

    async def write_answer(self, answer: Answer, *, file_stem: str) -> None:
        """Put the answer to a question of the agent into `input/`, in one step."""
        ...

    async def write_close(self, *, for_legacy: bool) -> None: ...

    async def write_reply(self, reply: Reply) -> None: ...

    async def write_snapshot(self, name: str, raw: bytes) -> None:
        """Put a file into the box itself, in one step; its agent can read it, and nobody but us write it."""
        ...

    async def read_acks(self) -> dict[TurnId, object]:
        """The `TurnAck` or `TurnEnded` of `acks/*.json` as JSON types, by turn id; others are left out."""
        ...


class Boxes(Protocol):
    """Makes, drains and removes boxes; what lies in them is hostile."""

    async def make(self, name: BoxName, *, uid: int | None, gid: int | None) -> BoxPort:
        """The box, empty and with the right owner and modes; leftovers of an earlier run are removed."""
        ...

    async def reopen(self, name: BoxName) -> BoxPort | None:
        """A box that an earlier process left; None if there is none."""
        ...

    def path_of(self, name: BoxName) -> str:
        """Where it lies on the host."""
        ...

    async def set_aside(self, name: BoxName) -> None:
        """Move a box that no agent is known for to `errors/`, with all that is in it."""
        ...

    def watch(self, caller: AgentCaller, box: BoxPort) -> None:
        """Take its requests from now on, by the rights of that agent."""
        ...

    def set_turn(self, box: BoxName, turn_id: TurnId | None) -> None:
        """Requests taken from now on belong to that turn; None: to the run outside of any turn."""
        ...

    async def take_waiting_texts(self, box: BoxName, *, at_most_s: float) -> None:
        """Take requests in `messages/` now, before a text is; waits `at_most_s` for those over the rate."""
        ...

    async def drain(self, caller: AgentCaller, box: BoxPort) -> None:
        """Take the requests left, by the rights the agent had; what is beyond one burst is refused."""
        ...

    async def remove(self, name: BoxName) -> None:
        """Stop watching it and remove it with all that is in it."""
        ...

    async def names(self) -> list[BoxName]:
        """The boxes that lie on the disk."""
        ...
