"""What the chat network of a run saw, from its own files; nothing of it is the orchestrator's word."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from tests.support.file_channel import PREFIX, read_lines
from tests.support.home_on_disk import NOTE_OF_A_RESENT, HomeOnDisk
from tests.torture.plan import CHATS
from tests.torture.script import marks_in

CLASSES: Final = ("re", "two", "box", "left", "slot", "helped", "later", "burst")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One text as the network knows it. accepted: how often it took it; noted: how often with the note."""

    outbox_id: int
    chat: str
    text: str
    accepted: int
    noted: int
    attempts: int

    @property
    def kind(self) -> str:
        """The class of an agent's output; empty for a sentence of Dovecote's."""
        word = self.text.partition(":")[0]
        return word if word in CLASSES else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FarEnd:
    """All texts of a run, by their number in the outbox."""

    texts: dict[int, Seen]
    orders: dict[str, list[int]]

    def outputs(self, kind: str, chat: str) -> list[Seen]:
        """The texts of a class in a chat; of each text only those that were taken."""
        return [each for each in self.accepted() if each.kind == kind and each.chat == chat]

    def accepted(self) -> list[Seen]:
        """What people see."""
        return [each for each in self.texts.values() if each.accepted]

    def with_mark(self, number: int) -> list[Seen]:
        """Outputs of agents that people see and that answer message or task `number`."""
        return [each for each in self.accepted() if each.kind and number in marks_in(each.text)]


def far_end_of(home: HomeOnDisk) -> FarEnd:
    """What the files of the channel hold."""
    by_id: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for line in read_lines(home.channel / "sends.jsonl"):
        by_id[line["outbox_id"]].append(line)
    texts = {outbox_id: _seen(outbox_id, lines) for outbox_id, lines in by_id.items()}
    orders = {chat: _order(home, chat) for chat in CHATS}
    return FarEnd(texts=texts, orders=orders)


def _seen(outbox_id: int, lines: list[dict[str, Any]]) -> Seen:
    taken = [line for line in lines if line["accepted"]]
    return Seen(
        outbox_id=outbox_id,
        chat=str(lines[0]["chat"]).removeprefix(PREFIX),
        text=str(lines[0]["text"]).removesuffix(NOTE_OF_A_RESENT),
        accepted=len(taken),
        noted=sum(str(line["text"]).endswith(NOTE_OF_A_RESENT) for line in taken),
        attempts=len(lines),
    )


def _order(home: HomeOnDisk, chat: str) -> list[int]:
    """The numbers of the texts of a chat, by when each was first taken."""
    return list(dict.fromkeys(line["outbox_id"] for line in home.sends(f"{PREFIX}{chat}")))
