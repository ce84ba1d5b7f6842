"""Keeps one WhatsApp child running: started again when it ends, never two at once, given up never."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from orchestrator.channels.base import IsRead
from orchestrator.channels.whatsapp.conversation import Conversation, ConversationOver, Tally
from orchestrator.channels.whatsapp.fetching import FetchRule
from orchestrator.channels.whatsapp.lanes import Taker
from orchestrator.channels.whatsapp.lines import GroupLine, LinkState, MarkRead, StateIs
from orchestrator.channels.whatsapp.process import ChildCommand, ChildProcess
from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import OutboundMessage, Receipt
from orchestrator.contracts.seams import Clock, SendUnavailable
from orchestrator.core.reconnects import Reconnects, RetryRule

_log = structlog.get_logger(__name__)
_NOT_LINKED: Final = "no WhatsApp account is linked"


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeRule:
    """How long what may take. silence_s: without any line. send_within_s: below the outbox's own limit."""

    retry: RetryRule = field(default_factory=RetryRule)
    silence_s: float = 60.0
    connect_within_s: float = 180.0
    stop_within_s: float = 5.0
    send_within_s: float = 40.0
    fetch: FetchRule = field(default_factory=FetchRule)
    look_s: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeState:
    """How the link stands. why: for operators. is_tripped: it failed so often that somebody is told."""

    link: LinkState
    why: str = ""
    is_tripped: bool = False
    me: tuple[Jid, ...] = ()


class Bridge:
    """The parent's side of the WhatsApp child.

    linked_as: the account of the session on the disk; without one no child is started. on_state: told
    each change, one after another; must not raise. is_read: whether a message's file is worth fetching.
    """

    def __init__(
        self,
        command: ChildCommand,
        *,
        clock: Clock,
        linked_as: Callable[[], str | None],
        on_state: Callable[[BridgeState], Awaitable[None]],
        is_read: IsRead,
        rule: BridgeRule | None = None,
    ) -> None:
        self._command = command
        self._clock = clock
        self._linked_as = linked_as
        self._on_state = on_state
        self._is_read = is_read
        self._rule = rule or BridgeRule()
        self._reconnects = Reconnects()
        self._talk: Conversation | None = None
        self._untold: asyncio.Queue[BridgeState] = asyncio.Queue()
        self.tally = Tally()
        self.generation = 0
        self.state = BridgeState(link=LinkState.CONNECTING)

    async def run(self, take: Taker) -> None:
        """Keep a child running until cancelled; it is gone when this returns."""
        refused: str | None = None
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._tell_states(), name="whatsapp states")
            tasks.create_task(self._forget_failures(), name="whatsapp failures")
            while True:
                account = await asyncio.to_thread(self._linked_as)
                if account is None and refused is not None:
                    refused = ""  # it is unlinked here too: linked again it may have its old name
                if account is None or account == refused:
                    if refused is None:
                        self._show(LinkState.AUTH_REQUIRED, _NOT_LINKED)
                    await asyncio.sleep(self._rule.look_s)
                    continue
                last = await self._one_child(take)
                if last.state is LinkState.AUTH_REQUIRED:
                    refused, self._reconnects = account, Reconnects()
                    self._show(LinkState.AUTH_REQUIRED, last.why)
                else:
                    await self._pause(last)

    async def send(self, message: OutboundMessage) -> Receipt:
        """Send it once. Raises SendRefused, SendUnavailable or SendUnknown."""
        if self._talk is None:
            raise SendUnavailable("WhatsApp is not connected")
        return await self._talk.send(message, within_s=self._rule.send_within_s)

    async def set_typing(self, chat: Jid, *, is_typing: bool) -> None:
        """Show or hide the typing indicator, if it is connected."""
        if self._talk is not None:
            await self._talk.set_typing(chat, is_typing=is_typing)

    async def mark_read(self, line: MarkRead) -> None:
        """Show the sender that a message was read, if it is connected."""
        if self._talk is not None:
            await self._talk.mark_read(line)

    async def groups(self) -> tuple[GroupLine, ...]:
        """All group chats of the account. Raises Unavailable."""
        if self._talk is None or self._talk.state is not LinkState.OPEN:
            raise Unavailable("WhatsApp is not connected.", code=ErrorCode.CHANNEL_UNAVAILABLE)
        return await self._talk.groups(within_s=self._rule.send_within_s)

    async def _one_child(self, take: Taker) -> StateIs:
        """One child from start to end; the state that it left us in."""
        self.generation += 1
        self._show(LinkState.CONNECTING, self.state.why)
        try:
            child = await ChildProcess.start(self._command, self.generation)
        except OSError as error:
            return self._failed(f"the WhatsApp process cannot be started: {error.strerror}")
        _log.info("whatsapp.child_started", generation=self.generation, pid=child.pid)
        self._talk = Conversation(
            child.port,
            generation=self.generation,
            tally=self.tally,
            on_state=self._note_state,
            is_read=self._is_read,
            fetch=self._rule.fetch,
        )
        within_s = self._rule.stop_within_s
        last, over = None, ""
        try:
            last = await self._talk.listen(
                take, silence_s=self._rule.silence_s, connect_within_s=self._rule.connect_within_s
            )
        except ConversationOver as error:
            within_s, over = 0.0, str(error)  # nobody to ask
        finally:
            self._talk = None
            how = await _surely(child.end(within_s=within_s))
        return last or self._failed(f"the WhatsApp process was given up: {over}; {how}")

    def _failed(self, why: str) -> StateIs:
        return StateIs(generation=self.generation, state=LinkState.FAILED, why=why)

    async def _pause(self, last: StateIs) -> None:
        """Wait before the next child, longer each time."""
        self._reconnects = self._reconnects.failed(self._clock.monotonic(), self._rule.retry)
        pause_s = max(self._reconnects.pause_s(self._rule.retry), last.retry_after_s)
        _log.warning(
            "whatsapp.child_ended",
            generation=self.generation,
            why=last.why,
            pause_s=pause_s,
            heard=self.tally.heard,
            passed_over=dict(self.tally.passed_over),
            quarantined=self.tally.quarantined,
            late=self.tally.late,
        )
        self._show(LinkState.FAILED, last.why)
        await asyncio.sleep(pause_s)

    def _note_state(self, line: StateIs) -> None:
        """What the child says of its link. Raises ConversationOver when it lost it too often."""
        if line.state is LinkState.OPEN:
            self._reconnects = self._reconnects.opened()
            self._show(LinkState.OPEN, "", me=line.me)
        elif line.state is LinkState.CONNECTING and self.state.link is LinkState.OPEN:
            self._reconnects = self._reconnects.failed(self._clock.monotonic(), self._rule.retry)
            self._show(LinkState.CONNECTING, line.why)
            if self._reconnects.is_tripped and not line.is_holding:
                raise ConversationOver(f"the connection was lost too often: {line.why or 'no reason given'}")

    def _show(self, link: LinkState, why: str, *, me: tuple[Jid, ...] = ()) -> None:
        state = BridgeState(link=link, why=why, me=me, is_tripped=self._reconnects.is_tripped)
        if state != self.state:
            self.state = state
            self._untold.put_nowait(state)

    async def _tell_states(self) -> None:
        while True:
            await self._on_state(await self._untold.get())

    async def _forget_failures(self) -> None:
        """An open link that keeps open is well again."""
        while True:
            await asyncio.sleep(self._rule.look_s)
            if self.state.link is LinkState.OPEN:
                self._reconnects = self._reconnects.held(self._clock.monotonic(), self._rule.retry)
                self._show(LinkState.OPEN, "", me=self.state.me)


async def _surely(work: Coroutine[Any, Any, str]) -> str:
    """Do bounded clean-up to its end, also while we are being cancelled; the cancellation is passed on."""
    task = asyncio.ensure_future(work)  # noqa: TID251 - awaited below, whatever happens to us
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
    return task.result()
