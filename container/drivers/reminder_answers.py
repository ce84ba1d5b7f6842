"""What the built-in driver answers about reminders: it acts by requests and says what it understood."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, tzinfo
from typing import Final

from container.drivers.asking_back import AskedBack, Told
from container.drivers.reminder_words import Asked, Change, answered, asked_in, change_in, number_in
from container.drivers.reminders import Reminder, Reminders
from container.drivers.shown_text import short
from container.drivers.time_meaning import (
    CRON,
    Schedule,
    meaning_of,
    moment_in_words,
    schedule_in_words,
    with_clock,
)
from container.drivers.time_words import Moment, Unclear
from orchestrator.contracts.errors import InvalidRequest

_MOST_LISTED: Final = 50
_WHEN: Final = (
    "When? For example: `remind me in 10 minutes to {text}`, or `remind me tomorrow at 9 to {text}`"
)
_WHAT: Final = "What shall I remind you of? For example: `remind me in 10 minutes to water the plants`"
_NEW: Final = "What shall it become? For example: `change reminder 1 to tomorrow at 9`, or `… to buy milk`"
_WHICH: Final = "Which reminder? Say its number, as in `{verb} reminder 1`; `list reminders` shows them."
_NONE: Final = "There are no reminders. Make one with `remind me tomorrow at 9 to …`."


class ReminderAnswers:
    """Answers in sentences; times are those of the group's zone. zone_name: as the host knows it."""

    def __init__(
        self, reminders: Reminders, *, zone: tzinfo, zone_name: str, now: Callable[[], datetime]
    ) -> None:
        self._reminders = reminders
        self._zone = zone
        self._zone_name = zone_name
        self._now = now

    async def remind(self, sentence: str) -> Told:
        """Schedule what the sentence says, or ask back."""
        return await self._schedule(asked_in(sentence))

    async def _schedule(self, asked: Asked) -> Told:
        async def go_on(answer: str) -> Told | None:
            whole = answered(asked, answer)
            return None if whole is None else await self._schedule(whole)

        if asked.when is None:
            question = _WHEN.format(text=short(asked.text).replace("`", "'") or "water the plants")
            return AskedBack(text=question, go_on=go_on)
        schedule = meaning_of(asked.when, now=self._now(), zone=self._zone)
        if isinstance(schedule, Unclear):
            return AskedBack(text=schedule.question, go_on=go_on)
        if not asked.text:
            return AskedBack(text=_WHAT, go_on=go_on)
        return f"Got it. {self._shown(await self._reminders.add(asked.text, schedule))}."

    async def list(self, _: str) -> Told:
        """All of them with their numbers and next times."""
        found = await self._reminders.all()
        if not found:
            return _NONE
        lines = [f"- {self._shown(reminder)}" for reminder in found[:_MOST_LISTED]]
        if len(found) > _MOST_LISTED:
            lines.append(f"- … and {len(found) - _MOST_LISTED} more")
        return f"Our reminders ({self._zone_name}):\n" + "\n".join(lines)

    async def pause(self, which: str) -> Told:
        """Let one rest."""
        return await self._with(which, "pause", self._pause, go_on=self.pause)

    async def resume(self, which: str) -> Told:
        """Let one come again."""
        return await self._with(which, "resume", self._resume, go_on=self.resume)

    async def cancel(self, which: str) -> Told:
        """End one for good."""
        return await self._with(which, "cancel", self._cancel, go_on=self.cancel)

    async def change(self, words: str) -> Told:
        """Give one another time, another text, or both."""
        change = change_in(words)
        if change is None or not (change.text or change.when):
            return _NEW

        return await self._change_one(change.which, change)

    async def _change_one(self, which: str, change: Change) -> Told:
        async def act(reminder: Reminder) -> str:
            return await self._change(reminder, change)

        async def go_on(answer: str) -> Told:
            return await self._change_one(answer, change)

        return await self._with(which, "change", act, go_on=go_on)

    async def _pause(self, reminder: Reminder) -> str:
        if reminder.is_paused:
            return f"It rests already. {self._shown(reminder)}."
        paused = await self._reminders.pause(reminder)
        return f"{self._shown(paused)}. Say `resume reminder {paused.number}` to go on."

    async def _resume(self, reminder: Reminder) -> str:
        if not reminder.is_paused:
            return f"It is not paused. {self._shown(reminder)}."
        return f"It goes on. {self._shown(await self._reminders.resume(reminder))}."

    async def _cancel(self, reminder: Reminder) -> str:
        await self._reminders.cancel(reminder)
        return f"Done, reminder {reminder.number} is cancelled: **{short(reminder.text)}**"

    async def _change(self, reminder: Reminder, change: Change) -> str:
        schedule = None if change.when is None else self._new_schedule(reminder, change)
        if isinstance(schedule, Unclear):
            return schedule.question
        changed = await self._reminders.change(reminder, text=change.text, schedule=schedule)
        return f"Changed. {self._shown(changed)}."

    def _new_schedule(self, reminder: Reminder, change: Change) -> Schedule | Unclear:
        assert change.when is not None
        words = change.when
        if isinstance(words, Moment) and words.day is None and words.clock and reminder.kind == CRON:
            # Only a time of day: the days stay as they are.
            same_days = with_clock(reminder.value, words.clock)
            if same_days is not None:
                return same_days
        return meaning_of(words, now=self._now(), zone=self._zone)

    async def _with(
        self,
        which: str,
        verb: str,
        act: Callable[[Reminder], Awaitable[str]],
        *,
        go_on: Callable[[str], Awaitable[Told]],
    ) -> Told:
        """Do something with the one reminder that is meant, or say why that is not clear."""
        everything = await self._reminders.all()
        if not everything:
            return _NONE
        found = _meant(which, everything)
        if not which.strip() and len(found) > 1:
            return AskedBack(text=_WHICH.format(verb=verb), go_on=go_on)
        if not found:
            raise InvalidRequest(
                f"There is no reminder **{short(which)}**.", suggestion="`list reminders` shows them."
            )
        if len(found) > 1:
            lines = [f"- {self._shown(reminder)}" for reminder in found[:_MOST_LISTED]]
            return AskedBack(text="Which one? Say its number:\n" + "\n".join(lines), go_on=go_on)
        return await act(found[0])

    def _shown(self, reminder: Reminder) -> str:
        """`Reminder 3: **water the plants**, every day at 09:00, next …`."""
        words = [f"Reminder {reminder.number}: **{short(reminder.text)}**"]
        often = schedule_in_words(reminder.kind, reminder.value)
        if often:
            words.append(often)
        if reminder.is_paused:
            words.append("paused")
        elif reminder.next_at is not None:
            moment = moment_in_words(reminder.next_at, now=self._now(), zone=self._zone)
            words.append(f"{'next ' if often else ''}{moment} ({self._zone_name})")
        return ", ".join(words)


def _meant(which: str, reminders: Sequence[Reminder]) -> list[Reminder]:
    """Those that `which` may name: by number, else by their whole text, else by words of it."""
    number = number_in(which)
    if number is not None:
        return [reminder for reminder in reminders if reminder.number == number]
    words = " ".join(which.split()).casefold()
    texts = [" ".join(reminder.text.split()).casefold() for reminder in reminders]
    whole = [reminder for reminder, text in zip(reminders, texts, strict=True) if text == words]
    return whole or [reminder for reminder, text in zip(reminders, texts, strict=True) if words in text]
