"""The verdict finds what it is there to find: a clean run is clean, and one lie at a time is seen."""

import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from tests.support.file_channel import read_lines
from tests.support.home_on_disk import NOTE_OF_A_RESENT
from tests.support.store_template import lay_store
from tests.torture.plan import Deed, DeedKind, Plan, Wish
from tests.torture.play import Rig, rig_in
from tests.torture.script import ASKED, DONE
from tests.torture.verdict import faults_of

_MESSAGE = (
    "INSERT INTO messages (chat_jid, message_id, sender_jid, sender_name, sender_role, text, sent_ms,"
    " received_ms, is_trigger, status, agent_id, turn_id)"
    " VALUES ('file:kitchen', ?, 'file:ada', 'Ada', 'member', 'x', 0, 0, 1, ?, 'a', ?)"
)
_OUTBOX = (
    "INSERT INTO outbox (id, chat_jid, text, source, source_key, part, parts, status, created_ms)"
    " VALUES (?, 'file:kitchen', ?, 'pair', ?, 1, 1, 'sent', 0)"
)
_PLAN = Plan(seed=0, runner="process", max_running=1, lives=(), once_at_s=(), has_hourly=False)


@pytest.fixture
async def rig(open_path: Path) -> AsyncIterator[Rig]:
    """A run that was: message 1 was asked and answered, message 2 asked by box and answered; one request came
    in a burst, again and again."""
    with rig_in(open_path, _PLAN) as rig:
        paths = rig.home.opened().paths
        paths.ensure()
        lay_store(paths.database)
        for name in ("in", "refused"):
            (rig.home.channel / name).mkdir(exist_ok=True)
        for number, wish in ((1, Wish.PLAIN), (2, Wish.BY_BOX)):
            rig.ledger.note(Deed(at_s=0, kind=DeedKind.ASK, chat="kitchen", number=number, wish=wish))
            write(rig, _MESSAGE, f"n{number}", "settled", f"turn-{number}")
        for number, text in ((1, "re: #1#"), (2, "box: #2#"), (3, "re: #2#")):
            write(rig, _OUTBOX, number, text, str(number))
            send(rig, number, text)
        for ending in (ASKED, DONE):
            (rig.home.workspace() / f"{Wish.BY_BOX}{ending}").write_text("x", encoding="ascii")
        write(rig, _OUTBOX, 8, "burst: kitchen.0.0.again", "8")
        send(rig, 8, "burst: kitchen.0.0.again")
        note_burst(rig, "".join(f"{note} kitchen.0.0.again\n" for note in "?!!="))
        yield rig


def write(rig: Rig, query: str, *values: object) -> None:
    """Change what the orchestrator says of the run."""
    path = rig.home.path / "data" / "store" / "dovecote.db"
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        store.execute(query, values)


def send(rig: Rig, number: int, text: str) -> None:
    """The network took a text once more."""
    line = {"chat": "file:kitchen", "text": text, "outbox_id": number, "attempt": 1, "accepted": True}
    with (rig.home.channel / "sends.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def unsend(rig: Rig, number: int) -> None:
    """The network never took a text."""
    path = rig.home.channel / "sends.jsonl"
    kept = [json.dumps(line) for line in read_lines(path) if line["outbox_id"] != number]
    path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def note_burst(rig: Rig, lines: str) -> None:
    """The agent's own ledger of its first burst has more lines."""
    with (rig.home.workspace() / "burst-0").open("a", encoding="utf-8") as file:
        file.write(lines)


def refuse(rig: Rig, name: str) -> None:
    """The request that lay in a file `name` was put aside."""
    leave_file(rig, "ipc", "errors", "kitchen", "1-messages.reason.json")
    path = rig.home.path / "data" / "ipc" / "errors" / "kitchen" / "1-messages.reason.json"
    path.write_text(json.dumps({"name": name}), encoding="utf-8")


def swap(rig: Rig) -> None:
    """The network took the texts in another order."""
    unsend(rig, 1)
    send(rig, 1, "re: #1#")


def leave_file(rig: Rig, *names: str) -> None:
    """Something lies below `data` that nobody removed."""
    path = rig.home.path.joinpath("data", *names)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


LIES: dict[str, tuple[Callable[[Rig], object], str]] = {
    "a message is lost": (lambda rig: write(rig, "DELETE FROM messages WHERE seq = 1"), "was lost"),
    "a message waits for ever": (
        lambda rig: write(rig, "UPDATE messages SET status = 'pending' WHERE seq = 1"),
        "message 1 is pending",
    ),
    "an answer never left": (lambda rig: unsend(rig, 1), "nobody saw an answer"),
    "a turn broke off in silence": (
        lambda rig: write(rig, "UPDATE messages SET status = 'partial' WHERE seq = 1"),
        "1 turns broke off in kitchen, 0 were told",
    ),
    "a text was said twice": (lambda rig: send(rig, 1, "re: #1#"), "said twice without the note"),
    "a text was said again unknown": (
        lambda rig: send(rig, 1, f"re: #1#{NOTE_OF_A_RESENT}"),
        "does not know that it sent this again",
    ),
    "a text came from nowhere": (lambda rig: send(rig, 9, "re: #1#"), "not in the outbox"),
    "a message was answered twice": (lambda rig: send(rig, 9, "re: #1#"), "has 2 outputs 're'"),
    "a text is stuck": (
        lambda rig: write(rig, "UPDATE outbox SET status = 'sending' WHERE id = 1"),
        "outbox 1 is sending",
    ),
    "texts changed places": (swap, "saw its texts in the order"),
    "a request was lost": (lambda rig: unsend(rig, 2), "1 known as done, 0 effects"),
    "a request was done twice": (lambda rig: send(rig, 9, "box: #7#"), "1 asked, 1 known as done, 2 effects"),
    "a request of a burst was lost": (
        lambda rig: note_burst(rig, "? kitchen.0.1.plain\n! kitchen.0.1.plain\n"),
        "kitchen.0.1.plain lay in the box without effect, answered: False",
    ),
    "an answer to a request of a burst was a lie": (
        lambda rig: note_burst(rig, "? kitchen.0.1.again\n= kitchen.0.1.again\n"),
        "kitchen.0.1.again lay in the box without effect, answered: True",
    ),
    "a request of a burst was done twice": (
        lambda rig: send(rig, 9, "burst: kitchen.0.0.again"),
        "kitchen.0.0.again was done 2 times",
    ),
    "a request of a burst is nobody's": (
        lambda rig: send(rig, 9, "burst: kitchen.0.7.plain"),
        "kitchen.0.7.plain was done 1 times, asked: False",
    ),
    "a request that is none left no trace": (
        lambda rig: note_burst(rig, "? kitchen.0.1.spoilt\n! kitchen.0.1.spoilt\n"),
        "kitchen.0.1.spoilt lay in the box without effect",
    ),
    "a good request was refused": (lambda rig: refuse(rig, "7-kitchen.0.0.again.json"), "were refused"),
    "a file was left": (lambda rig: leave_file(rig, "spool", "left"), "data/spool/left"),
    "descriptors are left": (
        lambda rig: setattr(rig.ledger, "descriptors", (30, 90)),
        "held 30 descriptors before its last work and 90 after it",
    ),
    "a box was left": (lambda rig: leave_file(rig, "ipc", "kitchen", "x"), "boxes still lie there"),
}


async def test_a_run_that_kept_every_promise_is_clean(rig: Rig) -> None:
    assert faults_of(rig) == []


@pytest.mark.parametrize(("lie", "finding"), LIES.values(), ids=LIES)
async def test_each_broken_promise_is_found(lie: Callable[[Rig], object], finding: str, rig: Rig) -> None:
    lie(rig)

    assert finding in "\n".join(faults_of(rig))


async def test_a_sentence_that_never_reached_the_network_is_known_as_failed_and_counts_as_said(
    rig: Rig,
) -> None:
    write(rig, "UPDATE messages SET status = 'partial' WHERE seq = 1")
    write(
        rig,
        "INSERT INTO outbox (id, chat_jid, text, source, source_key, part, parts, status, error, created_ms)"
        " VALUES (4, 'file:kitchen', ?, 'notice', 'broken', 1, 1, 'failed', 'twice no answer', 0)",
        ENGLISH[Say.PARTIAL],
    )

    assert faults_of(rig) == []
