"""What was said and what the network saw of it: nothing here is the orchestrator's word."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.soak.mix import ANSWERS, BOX, Kind, Message
from tests.torture.script import marks_in


@dataclass(kw_only=True)
class Ledger:
    """Of a whole run. Times are monotonic seconds.

    took_s: from saying to the first answer, of those that called since the last look. planned: answers that
    tell of a task. others: texts that no agent wrote.
    """

    said_at_s: dict[int, float] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    answers: Counter[int] = field(default_factory=Counter)
    box_texts: Counter[str] = field(default_factory=Counter)
    took_s: list[float] = field(default_factory=list)
    planned: int = 0
    others: list[str] = field(default_factory=list)
    chatter: set[int] = field(default_factory=set)

    def said(self, message: Message, at_s: float) -> None:
        """Somebody has just written this."""
        self.said_at_s[message.number] = at_s
        self.open.add(message.number)
        if message.kind is Kind.CHATTER:
            self.chatter.add(message.number)

    def seen(self, text: str, at_s: float) -> None:
        """The network took this text."""
        kind, _, answered = text.partition(": ")
        if kind == BOX:
            self.box_texts[answered] += 1
        elif kind in ANSWERS:
            self._answered(answered, at_s)
            self.planned += kind == "planned"
            if kind == "boxed":
                self.box_texts[answered] -= 1
        else:
            self.others.append(text)

    def _answered(self, text: str, at_s: float) -> None:
        for number in marks_in(text):
            self.answers[number] += 1
            if number in self.open and number not in self.chatter:
                self.took_s.append(at_s - self.said_at_s[number])
            self.open.discard(number)

    def take_times(self) -> list[float]:
        """The seconds that answers took since the last call."""
        taken, self.took_s = self.took_s, []
        return taken

    def faults(self) -> Iterator[str]:
        """All that was lost, doubled or met with silence."""
        if self.open:
            yield f"{len(self.open)} messages were not answered: {_some(sorted(self.open))}"
        doubled = sorted(number for number, count in self.answers.items() if count > 1)
        if doubled:
            yield f"{len(doubled)} messages were answered twice: {_some(doubled)}"
        unknown = sorted(self.answers.keys() - self.said_at_s.keys())
        if unknown:
            yield f"answers name messages that nobody wrote: {_some(unknown)}"
        for text, balance in self.box_texts.items():
            if balance:
                what = "sent once more than its turn was answered" if balance > 0 else "never sent by the box"
                yield f"{text!r} was {what}"


def _some(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:20])) + (" …" if len(numbers) > 20 else "")
