"""What is said between us and one WhatsApp child, from its start to its end."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Final, assert_never

import structlog

from orchestrator.channels.base import IsRead
from orchestrator.channels.whatsapp.fetching import Fetching, FetchRule
from orchestrator.channels.whatsapp.lanes import Lanes, Taker
from orchestrator.channels.whatsapp.lines import (
    MAX_UNCONFIRMED,
    VERSION,
    Beat,
    ChildLine,
    Confirm,
    Fate,
    Fetched,
    GroupIs,
    GroupLine,
    GroupsEnd,
    Heard,
    Hello,
    Keep,
    LineError,
    LinkState,
    ListGroups,
    MarkRead,
    NotSent,
    PairingCode,
    ParentLine,
    PassedOver,
    QrCode,
    Quarantined,
    Send,
    Sent,
    SetAside,
    StateIs,
    Taken,
    Typing,
    Unlinked,
    child_line,
)
from orchestrator.channels.whatsapp.patience import Patience
from orchestrator.channels.whatsapp.port import LinePort
from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import OutboundMessage, Receipt
from orchestrator.contracts.seams import SendRefused, SendUnavailable, SendUnknown
from orchestrator.core.chat.attachments import upload_limit_s

_log = structlog.get_logger(__name__)
_BREATH_EVERY: Final = 100
_SET_ASIDE: Final = "It lies in bad/ of the spool; tell us how it came about."


class ConversationOver(Exception):
    """The child can't be talked to any further. The text says why, for operators."""


@dataclass(slots=True)
class _Wish:
    """A send that waits for its answer. is_taken: the child was about to give it to the library."""

    answer: "asyncio.Future[Sent | NotSent]"
    is_taken: bool = False


@dataclass(slots=True)
class _Question:
    """Which groups there are. groups: those that were named so far."""

    answer: "asyncio.Future[GroupsEnd]"
    groups: list[GroupLine] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Tally:
    """What was counted of all children. passed_over: by reason. late: lines of earlier generations.

    asked: of each row whose file is under way, how many of them were asked for it.
    """

    heard: int = 0
    passed_over: dict[str, int] = field(default_factory=dict)
    quarantined: int = 0
    late: int = 0
    asked: dict[str, int] = field(default_factory=dict)


class Conversation:
    """One generation. `listen` runs until it is over; the wishes may be uttered meanwhile."""

    def __init__(
        self,
        port: LinePort,
        *,
        generation: int,
        tally: Tally,
        on_state: Callable[[StateIs], None],
        is_read: IsRead,
        fetch: FetchRule,
    ) -> None:
        self._port = port
        self._generation = generation
        self._tally = tally
        self._on_state = on_state
        self._is_read = is_read
        self._fetch = fetch
        self._numbers = count(1)
        self._wishes: dict[int, _Wish] = {}
        self._questions: dict[int, _Question] = {}
        self._is_met = False
        self._files: Fetching | None = None
        self.state = LinkState.CONNECTING

    async def listen(self, take: Taker, *, silence_s: float, connect_within_s: float) -> StateIs:
        """Hand messages to `take` until the child says that it gives up; that last state.

        silence_s: the longest time without any line. Raises ConversationOver.
        """
        last: StateIs | None = None
        why = ""
        try:
            async with asyncio.TaskGroup() as tasks:
                asked = self._tally.asked
                files = Fetching(tasks, self._fetch, say=self._say, is_read=self._is_read, asked=asked)
                self._files = files
                lanes = Lanes(
                    tasks, take, files, confirm=self._confirm, keep=self._keep, set_aside=self._set_aside
                )
                try:
                    last = await self._hear(lanes, silence_s=silence_s, connect_within_s=connect_within_s)
                finally:
                    lanes.stop()
        except* ConversationOver as group:
            why = str(group.exceptions[0])
        finally:
            self._end_wishes()
        if last is None:
            # Not raised above: what leaves an `except*` is a group in some versions.
            raise ConversationOver(why)
        return last

    async def _hear(self, lanes: Lanes, *, silence_s: float, connect_within_s: float) -> StateIs:
        loop = asyncio.get_running_loop()
        patience = Patience(connect_within_s, now=loop.time())
        for number in count():
            if number % _BREATH_EVERY == 0:
                await asyncio.sleep(0)  # a flood of lines must not keep others from running
            line = await self._next(silence_s)
            if line.generation != self._generation:
                self._tally.late += 1
                continue
            self._check_first(line)
            self._take(line, lanes)
            if isinstance(line, StateIs):
                patience.note(line)
                if line.state in _GIVEN_UP:
                    return line
            if patience.is_over(loop.time()):
                raise ConversationOver(f"it was not connected within {connect_within_s:g} s")
        raise AssertionError  # `count` has no end

    async def send(self, message: OutboundMessage, *, within_s: float) -> Receipt:
        """Send it once, within this and the time its file may take. Raises as `Channel.send` does."""
        if self.state is not LinkState.OPEN:
            raise SendUnavailable("WhatsApp is not connected")
        number = next(self._numbers)
        wish = _Wish(asyncio.get_running_loop().create_future())
        self._wishes[number] = wish
        try:
            if message.file is None:
                line = Send(id=number, message=message)
            else:
                upload_s = upload_limit_s(message.file.size_bytes)
                line = Send(id=number, message=message, upload_within_s=upload_s)
                within_s += upload_s
            await self._say(line)
            async with asyncio.timeout(within_s):
                answer = await wish.answer
        except LineError as error:
            raise SendRefused(str(error)) from error
        except TimeoutError:
            # It may be taken in a moment: a child that is slow is not a child that is dead.
            raise SendUnknown(f"WhatsApp did not answer within {within_s:g} s") from None
        finally:
            self._wishes.pop(number, None)
        return _receipt(answer)

    async def set_typing(self, chat: Jid, *, is_typing: bool) -> None:
        """Show or hide the typing indicator, if we are connected."""
        if self.state is LinkState.OPEN:
            await self._say(Typing(chat=chat, is_typing=is_typing))

    async def groups(self, *, within_s: float) -> tuple[GroupLine, ...]:
        """All group chats of the account. Raises Unavailable."""
        number = next(self._numbers)
        question = self._questions[number] = _Question(asyncio.get_running_loop().create_future())
        try:
            await self._say(ListGroups(id=number))
            async with asyncio.timeout(within_s):
                said = await question.answer
        except TimeoutError:
            raise _away("it did not answer in time") from None
        finally:
            self._questions.pop(number, None)
        if said.why is not None:
            raise _away(said.why)
        return tuple(question.groups)

    async def _say(self, line: ParentLine) -> None:
        await self._port.write(line)

    async def mark_read(self, line: MarkRead) -> None:
        """Show the sender that a message was read, if we are connected."""
        if self.state is LinkState.OPEN:
            await self._say(line)

    async def _confirm(self, spool: str) -> None:
        await self._say(Confirm(spool=spool))

    async def _keep(self, spool: str) -> None:
        await self._say(Keep(spool=spool))

    async def _set_aside(self, spool: str, why: str) -> None:
        await self._say(SetAside(spool=spool, why=why))

    async def _next(self, silence_s: float) -> ChildLine:
        try:
            async with asyncio.timeout(silence_s):
                raw = await self._port.read()
            if raw is None:
                raise ConversationOver("it is gone")
            return child_line(raw)
        except TimeoutError:
            raise ConversationOver(f"it has said nothing for {silence_s:g} s") from None
        except LineError as error:
            raise ConversationOver(f"it said what is no line of ours: {error}") from None

    def _check_first(self, line: ChildLine) -> None:
        """The first line names the version, before anything else is believed."""
        if isinstance(line, Hello) and line.version != VERSION:
            raise ConversationOver(f"it speaks version {line.version}, we speak {VERSION}")
        if isinstance(line, Hello) == self._is_met:
            raise ConversationOver("its first line does not name its version, or a later one does")
        self._is_met = True

    def _take(self, line: ChildLine, lanes: Lanes) -> None:
        match line:
            case Hello():
                _log.info("whatsapp.child_ready", generation=self._generation, library=line.library)
            case StateIs():
                self.state = line.state
                self._on_state(line)
            case Heard():
                if lanes.count >= MAX_UNCONFIRMED:
                    raise ConversationOver(f"it did not wait after {MAX_UNCONFIRMED} messages")
                self._tally.heard += 1
                lanes.take(line)
            case Fetched():
                if self._files is not None:
                    self._files.answer(line)
            case PassedOver():
                counted = self._tally.passed_over
                counted[line.reason] = counted.get(line.reason, 0) + 1
            case Quarantined():
                self._tally.quarantined += 1
                suggestion = "It lies in bad/ of the spool; tell us how it came about."
                _log.error(
                    "whatsapp.event_quarantined", spool=line.spool, why=line.why, suggestion=suggestion
                )
            case Taken():
                if (wish := self._wishes.get(line.id)) is not None:
                    wish.is_taken = True
            case Sent() | NotSent():
                self._answer(line)
            case GroupIs():
                if (question := self._questions.get(line.id)) is not None:
                    question.groups.append(line.group)
            case GroupsEnd():
                question = self._questions.get(line.id)
                if question is not None and not question.answer.done():
                    question.answer.set_result(line)
            case Beat() | QrCode() | PairingCode() | Unlinked():
                pass
            case _:
                assert_never(line)

    def _answer(self, line: Sent | NotSent) -> None:
        wish = self._wishes.get(line.id)
        if wish is not None and not wish.answer.done():
            wish.answer.set_result(line)

    def _end_wishes(self) -> None:
        """The child is gone: what it was about to send is unknown, what it had not begun was not sent."""
        self.state = LinkState.FAILED
        for number, wish in self._wishes.items():
            if not wish.answer.done():
                fate = Fate.UNKNOWN if wish.is_taken else Fate.UNAVAILABLE
                why = "the WhatsApp process ended before it answered"
                wish.answer.set_result(NotSent(generation=self._generation, id=number, fate=fate, why=why))
        for number, question in self._questions.items():
            if not question.answer.done():
                end = GroupsEnd(generation=self._generation, id=number, why="it is gone")
                question.answer.set_result(end)


_GIVEN_UP: Final = (LinkState.AUTH_REQUIRED, LinkState.FAILED)


def _away(why: str) -> Unavailable:
    return Unavailable(f"WhatsApp cannot be asked now: {why}.", code=ErrorCode.CHANNEL_UNAVAILABLE)


def _receipt(answer: Sent | NotSent) -> Receipt:
    if isinstance(answer, Sent):
        return Receipt(message_id=answer.message_id, sent_at=answer.sent_at)
    match answer.fate:
        case Fate.REFUSED:
            raise SendRefused(answer.why)
        case Fate.UNAVAILABLE:
            raise SendUnavailable(answer.why)
        case Fate.UNKNOWN:
            raise SendUnknown(answer.why)
