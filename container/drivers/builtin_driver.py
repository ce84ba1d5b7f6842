"""The driver without a model: it understands a small set of plain commands and answers each by itself."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Final, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from container.drivers.addressing import Address, readings, to_answer
from container.drivers.asking_back import AskedBack, OpenQuestion, Told
from container.drivers.builtin_words import Wish, WishKind, tells_only, understand, understand_first
from container.drivers.child_answers import ChildAnswers
from container.drivers.counting import count_to
from container.drivers.driver import DriverContext, Turn, TurnResult
from container.drivers.file_list import FileList, list_files
from container.drivers.file_sending import FileSending
from container.drivers.notes_answers import NotesAnswers
from container.drivers.reminder_answers import ReminderAnswers
from container.drivers.reminders import Reminders
from container.drivers.shown_text import plain
from container.messages import AttachedFile, Message
from container.tools import ToolBelt
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.wire.tools import CHAT_TOOLS, TASK_TOOLS

T = TypeVar("T")

_TRIGGER_OPTION: Final = "trigger"
_POSITION_OPTION: Final = "trigger_position"
_ANYWHERE: Final = "anywhere"
_USUAL_TOOLS: Final = (CHAT_TOOLS, TASK_TOOLS)
_OF_CHILDREN: Final = (
    *(WishKind.SPAWN, WishKind.ASK_HELPER, WishKind.SHOW_TREE),
    *(WishKind.SHOW_HELPER, WishKind.STOP_HELPER, WishKind.STOP_HELPERS),
)
_HELP: Final = """\
I'm **{name}**. There is no language model behind me, but I'm quick and I never guess. Try:

- `time` or `date`: what the clock says here
- `remember buy milk`: I keep a note of it
- `recall`, or `recall milk`: I tell you what I kept
- `forget milk`, or `forget everything`
- `remind me in 10 minutes to water the plants`, `remind me tomorrow at 9 to …`, `at 2027-01-05 14:00 …`
- `every weekday at 9 stand-up`, `every monday at 18:30 …`, `every 2 hours drink water`
- `list reminders`, `pause reminder 1`, `resume reminder 1`, `cancel reminder 1`, `change reminder 1 to 18:30`
- `files`: what lies in our workspace
- `send file report.pdf`: I send you one of them
- `ask helper what time is it`: I start a helper and tell you what it says
- `spawn count to 60`: a helper works beside us; `show tree`, `show helper 1`, `stop helper 1`
- `echo hello`: I say it back"""
_LOST: Final = (
    "I'm a simple helper and didn't understand that. I can tell the **time**, **remember**, **recall** and "
    "**forget** things, **remind** you, list and **send** our **files**, **spawn** helpers and **echo** you. "
    "Say **help** for examples."
)


class BuiltinDriver:
    """Answers every message that triggered by a text of its own."""

    def __init__(self) -> None:
        self._open = OpenQuestion()
        self._answers: Mapping[WishKind, Callable[[str], Awaitable[Told]]] = {
            WishKind.HELP: self._help,
            WishKind.TIME: self._time,
            WishKind.DATE: self._date,
            WishKind.ECHO: self._echo,
            WishKind.REMEMBER: lambda words: self._notes.remember(words),
            WishKind.RECALL: lambda words: self._notes.recall(words),
            WishKind.FORGET: lambda words: self._notes.forget(words),
            WishKind.FORGET_ALL: lambda words: self._notes.forget_all(words),
            WishKind.FILES: self._files,
            WishKind.SEND_FILE: lambda words: self._sending.send(words),
            WishKind.REMIND: lambda words: self._reminders.remind(words),
            WishKind.LIST_REMINDERS: lambda words: self._reminders.list(words),
            WishKind.PAUSE_REMINDER: lambda words: self._reminders.pause(words),
            WishKind.RESUME_REMINDER: lambda words: self._reminders.resume(words),
            WishKind.CANCEL_REMINDER: lambda words: self._reminders.cancel(words),
            WishKind.CHANGE_REMINDER: lambda words: self._reminders.change(words),
            **{kind: partial(self._about_children, kind) for kind in _OF_CHILDREN},
            WishKind.COUNT: self._count,
            WishKind.HELLO: self._hello,
            WishKind.THANKS: self._thanks,
            WishKind.UNKNOWN: self._unknown,
        }

    async def start(self, context: DriverContext) -> None:
        """Learn the names it is called by, the time zone and where the notes are."""
        given = context.given
        options = (given.agent.options if given.agent is not None else None) or {}
        trigger = options.get(_TRIGGER_OPTION)
        self._name = given.assistant_name
        self._address = Address(
            name=given.assistant_name,
            word=trigger if isinstance(trigger, str) else None,
            is_anywhere=options.get(_POSITION_OPTION) == _ANYWHERE,
        )
        self._is_main = given.is_main
        self._now = context.now
        self._zone = await asyncio.to_thread(_zone, given.timezone or os.environ.get("TZ", ""))
        self._workspace = context.places.workspace
        self._notes = NotesAnswers(self._workspace)
        toolsets = _USUAL_TOOLS if given.agent is None else given.agent.toolsets or _USUAL_TOOLS
        belt = ToolBelt(
            box=context.places.box, chat=given.chat_jid, workspace=self._workspace, toolsets=toolsets
        )
        self._is_helper = CHAT_TOOLS not in toolsets or given.parent_agent_id is not None
        self._sending = FileSending(belt, self._workspace)
        self._children = ChildAnswers(belt, now=context.now, is_helper=self._is_helper)
        self._reminders = self._reminder_answers(context)
        self._is_due = given.is_task or given.is_scheduled_task

    async def run_turn(self, turn: Turn) -> TurnResult:
        """Answer the messages of the batch that are meant for it, in their order."""
        self._turn = turn
        if self._is_due:
            # A run of a task is one turn; what an older host sends behind it is chat.
            self._is_due = False
            await self._say_what_is_due(turn)
            return TurnResult()
        for message in to_answer(turn.messages, self._address, all_count=self._is_main):
            await turn.say(await self._reply(message))
        return TurnResult()

    async def _reply(self, message: Message) -> str:
        """The answer to a message, which may itself be the answer to what we asked its sender."""
        texts = readings(message.text, self._address)
        wish, who = understand_first(texts), message.sender_id or message.sender
        told = await self._tried(self._open.answer(who, texts[0], wish))
        if told is None:
            told = await self._answer(message, wish)
        if isinstance(told, str):
            return told
        self._open.put(told, who)
        return told.text

    async def _say_what_is_due(self, turn: Turn) -> None:
        for message in turn.messages:
            wish = understand(message.text)
            if tells_only(wish, message.text):
                told = await self._answer(message, wish)
                await turn.say(told if isinstance(told, str) else told.text)
            else:
                await turn.say(f"⏰ {message.text}")

    def _reminder_answers(self, context: DriverContext) -> ReminderAnswers:
        zone_name = self._zone_name(context.now().astimezone(self._zone))
        reminders = Reminders(context.box, context.given.group_folder, timezone=zone_name)
        return ReminderAnswers(reminders, zone=self._zone, zone_name=zone_name, now=context.now)

    def can_join(self, messages: Sequence[Message]) -> bool:
        """Never: a turn is over in no time."""
        return False

    async def join(self, messages: Sequence[Message]) -> bool:
        """Never; see `can_join`."""
        return False

    async def interrupt(self) -> None:
        """Nothing to ask: the turn is cancelled."""

    async def close(self) -> None:
        """Nothing is held."""

    async def _answer(self, message: Message, wish: Wish) -> Told:
        if message.attachments and wish.kind is WishKind.HELLO:
            return _thanks_for(message.attachments)
        return await self._tried(self._answers[wish.kind](wish.argument))

    async def _tried(self, answer: Awaitable[T]) -> T | str:
        try:
            return await answer
        except DovecoteError as error:
            return f"Sorry, that did not work. {error}"

    async def _about_children(self, kind: WishKind, words: str) -> Told:
        return await self._children.answer(kind, words)

    async def _count(self, words: str) -> Told:
        return await count_to(words, self._turn, is_helper=self._is_helper)

    async def _help(self, _: str) -> str:
        return _HELP.format(name=self._name)

    async def _time(self, _: str) -> str:
        now = self._now().astimezone(self._zone)
        return f"It's **{now:%H:%M}** on {_day(now)} ({self._zone_name(now)})."

    async def _date(self, _: str) -> str:
        now = self._now().astimezone(self._zone)
        return f"Today is **{_day(now)}** ({self._zone_name(now)})."

    def _zone_name(self, now: datetime) -> str:
        return self._zone.key if isinstance(self._zone, ZoneInfo) else str(now.tzname())

    async def _echo(self, words: str) -> Told:
        if words.strip():
            return words
        return AskedBack(text="Echo what? For example: `echo hello`", go_on=self._echo, takes_commands=True)

    async def _files(self, _: str) -> str:
        return _describe(await asyncio.to_thread(list_files, self._workspace))

    async def _hello(self, _: str) -> str:
        return f"Hello! I'm **{self._name}**. Say **help** to see what I can do."

    async def _thanks(self, _: str) -> str:
        return "You're welcome! 😊"

    async def _unknown(self, _: str) -> str:
        return _LOST


def _thanks_for(files: Sequence[AttachedFile]) -> str:
    kept = [f"{_code(file.name)} ({_size(file.size_bytes)})" for file in files if file.path is not None]
    lost = [_code(file.name) for file in files if file.path is None]
    sentences = []
    if kept:
        sentences.append(f"Thanks, I put {', '.join(kept)} into our workspace. `files` lists what is there.")
    if lost:
        sentences.append(f"Sorry, I could not keep {', '.join(lost)}.")
    return " ".join(sentences)


def _zone(name: str) -> tzinfo:
    """The time zone, UTC where this machine does not know it; the answer names the one that was used."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def _day(now: datetime) -> str:
    return f"{now:%A}, {now.day} {now:%B %Y}"


def _describe(found: FileList) -> str:
    if not found.files:
        return "Our workspace is empty so far."
    lines = [f"- {_code(file.path)} ({_size(file.size_bytes)})" for file in found.files]
    if found.more or not found.is_whole:
        lines.append(f"- … and {found.more} more" if found.is_whole else "- … and more")
    return "In our workspace:\n" + "\n".join(lines)


def _code(name: str) -> str:
    return "`" + plain(name).replace("`", "'") + "`"


def _size(size_bytes: int) -> str:
    amount, units = float(size_bytes), ("B", "kB", "MB", "GB")
    unit = 0
    while amount >= 1000 and unit < len(units) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} {units[unit]}" if unit == 0 or amount >= 10 else f"{amount:.1f} {units[unit]}"
