"""What the rig and the network know of a run against what the orchestrator says of it."""

from collections.abc import Iterator
from typing import Any, Final

from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from tests.support.home_on_disk import HomeOnDisk
from tests.torture.bursts import bursts
from tests.torture.far_end import CLASSES, FarEnd, far_end_of
from tests.torture.leftovers import leftovers
from tests.torture.nights import nights
from tests.torture.plan import CHATS, DISK_FAULTS, Deed, DeedKind, FaultKind, Wish
from tests.torture.play import Rig
from tests.torture.script import ASKED, DONE, mark, marks_in

_BROKEN: Final = (Say.PARTIAL, Say.FAILED, Say.TIMED_OUT, Say.HELD_TOO_LONG, Say.OVER_BUDGET_BOX)
_ENDS: Final = frozenset({"settled", "partial", "failed"})


def faults_of(rig: Rig) -> list[str]:
    """All that is wrong after a run; none if every promise was kept."""
    far = far_end_of(rig.home)
    return [
        *_messages(rig, far),
        *_repeats(rig, far),
        *_outbox(rig.home, far),
        *_requests(rig, far),
        *bursts(rig.home, far),
        *_slots(rig, far),
        *([] if (change := rig.plan.summer_time) is None else nights(rig.home, change, rig.ledger.faults)),
        *leftovers(rig),
    ]


def _deeds(rig: Rig, *kinds: DeedKind) -> list[Deed]:
    return [deed for deed in rig.ledger.deeds if deed.kind in kinds]


def _messages(rig: Rig, far: FarEnd) -> Iterator[str]:
    """Each message that the network handed over is stored once, and each that called has an outcome."""
    found = {row["message_id"]: row for row in rig.home.rows("SELECT * FROM messages")}
    for deed in _deeds(rig, DeedKind.ASK, DeedKind.CHATTER):
        row = found.get(f"n{deed.number}")
        if row is None:
            yield f"message {deed.number} was lost"
        elif deed.kind is DeedKind.ASK and row["status"] not in _ENDS:
            yield f"message {deed.number} is {row['status']}"
        elif deed.kind is DeedKind.ASK and row["status"] == "settled":
            yield from _settled(rig, far, deed)
    refused = [each.name for each in (rig.home.channel / "refused").iterdir()]
    if refused:
        yield f"the channel was told never to bring these again: {refused}"
    for chat in CHATS:
        yield from _broken_turns(rig, far, chat)


def _settled(rig: Rig, far: FarEnd, deed: Deed) -> Iterator[str]:
    """Somebody saw an answer, or that there is none, or the network would not have it."""
    if far.with_mark(deed.number) or _notices(rig, far, deed.chat, Say.EMPTY_ANSWER, Say.MAYBE_UNANSWERED):
        return
    refused = [row["text"] for row in rig.home.rows("SELECT text FROM outbox WHERE status = 'failed'")]
    if not any(deed.number in marks_in(text) for text in refused):
        yield f"message {deed.number} is settled, and nobody saw an answer"


def _notices(rig: Rig, far: FarEnd, chat: str, *sentences: Say) -> int:
    """How many of Dovecote's sentences were tried in a chat.

    Also those that the network refused, and those that it never saw: the orchestrator was killed on the way
    to it twice, and they are known as failed.
    """
    said = {ENGLISH[each] for each in sentences}
    tried = {each.outbox_id for each in far.texts.values() if each.chat == chat and _bare(each.text) in said}
    failed = rig.home.rows(
        "SELECT id, text FROM outbox WHERE chat_jid = ? AND status = 'failed'", f"file:{chat}"
    )
    return len(tried | {row["id"] for row in failed if row["text"] in said})


def _bare(text: str) -> str:
    """Without the time that an old text begins with."""
    return text.partition("] ")[2] if text.startswith("[from ") else text


def _broken_turns(rig: Rig, far: FarEnd, chat: str) -> Iterator[str]:
    """Whoever called and was not answered was told so, turn by turn, unless people stopped it."""
    found = rig.home.rows(
        "SELECT DISTINCT agent_id, turn_id FROM messages"
        " WHERE chat_jid = ? AND is_trigger AND status IN ('partial', 'failed')",
        f"file:{chat}",
    )
    stops = [deed for deed in _deeds(rig, DeedKind.STOP) if deed.chat == chat]
    told = _notices(rig, far, chat, *_BROKEN)
    if told < len(found) and not stops:
        yield f"{len(found)} turns broke off in {chat}, {told} were told: {found}"


def _repeats(rig: Rig, far: FarEnd) -> Iterator[str]:
    """No output has its effect twice, unless people edited the message or asked for it again."""
    for deed in _deeds(rig, DeedKind.ASK, DeedKind.CHATTER):
        edits = sum(each.number == deed.number for each in _deeds(rig, DeedKind.EDIT))
        again = sum(each.chat == deed.chat for each in _deeds(rig, DeedKind.RETRY))
        outputs = far.with_mark(deed.number)
        for kind in CLASSES:
            seen = [each for each in outputs if each.kind == kind]
            if len(seen) > 1 + edits + again:
                yield f"message {deed.number} has {len(seen)} outputs {kind!r}: {seen}"


def _outbox(home: HomeOnDisk, far: FarEnd) -> Iterator[str]:
    """Each text left once, or again with the note; each is sent or failed; in order within its chat."""
    rows = {row["id"]: row for row in home.rows("SELECT * FROM outbox")}
    for seen in far.texts.values():
        row = rows.get(seen.outbox_id)
        if row is None:
            yield f"the network has a text that is not in the outbox: {seen}"
        elif seen.accepted - seen.noted > 1 or seen.noted > 1:
            yield f"said twice without the note: {seen}"
        elif seen.noted and not row["was_resent"]:
            yield f"the outbox does not know that it sent this again: {seen}"
    for row in rows.values():
        seen_of = far.texts.get(row["id"])
        if row["chat_jid"].startswith("file:") and (
            row["status"] not in ("sent", "failed")
            or (row["status"] == "sent" and not (seen_of and seen_of.accepted))
            or (row["status"] == "failed" and not row["error"])
        ):
            yield f"outbox {row['id']} is {row['status']}, the network has {seen_of}: {row}"
    for chat, order in far.orders.items():
        if order != sorted(order):
            yield f"{chat} saw its texts in the order {order}"


def _requests(rig: Rig, far: FarEnd) -> Iterator[str]:
    """Each request that an agent knows to be delivered had its effect; none had one that was not asked."""
    # The agent's own ledger misses a line where its disk fails, or the program that writes it is killed.
    is_sure = not any(fault.kind in DISK_FAULTS | {FaultKind.AGENT_KILLED} for fault in rig.ledger.faults)
    unseen = rig.home.rows("SELECT id, chat_jid, text FROM outbox WHERE status = 'failed'")
    for chat in CHATS:
        effects = {
            Wish.BY_BOX: _sent_or_failed(far, unseen, chat, "box"),
            Wish.LEFT_IN_BOX: _sent_or_failed(far, unseen, chat, "left"),
            Wish.GARBAGE: len([*(rig.home.path / "data" / "ipc" / "errors" / chat).glob("*.reason.json")]),
            Wish.PLANS: _planned(rig.home, chat),
        }
        for wish, count in effects.items():
            asked, done = (_lines(rig.home, chat, f"{wish}{ending}") for ending in (ASKED, DONE))
            if not (done <= count and (not is_sure or count <= asked)):
                yield f"requests {wish!r} of {chat}: {asked} asked, {done} known as done, {count} effects"


def _sent_or_failed(far: FarEnd, unseen: list[dict[str, Any]], chat: str, kind: str) -> int:
    """How many texts of a class there are, whether the network took them or not."""
    failed = {
        row["id"]
        for row in unseen
        if row["chat_jid"] == f"file:{chat}" and row["text"].startswith(f"{kind}:")
    }
    return len(failed | {each.outbox_id for each in far.outputs(kind, chat)})


def _planned(home: HomeOnDisk, chat: str) -> int:
    query = "SELECT 1 FROM tasks WHERE folder = ? AND prompt LIKE 'laterwork%'"
    return len(home.rows(query, chat))


def _lines(home: HomeOnDisk, chat: str, name: str) -> int:
    path = home.workspace(chat) / name
    return path.stat().st_size if path.exists() else 0


def _slots(rig: Rig, far: FarEnd) -> Iterator[str]:
    """Each slot had its effect once, or is known as missed, broken off or not sent, and that was told."""
    for number in range(len(rig.plan.once_at_s)):
        name = f"slot-{number}"
        runs = rig.home.rows("SELECT status FROM task_runs WHERE task_id = ?", name)
        statuses = [row["status"] for row in runs]
        seen = [each for each in far.texts.values() if each.kind == "slot" and mark(number) in each.text]
        told = [each for each in far.texts.values() if f"“Slot {number}”" in each.text]
        query = "SELECT 1 FROM outbox WHERE status = 'failed' AND told_with_seq IS NOT NULL AND text LIKE ?"
        is_known_as_unsent = bool(rig.home.rows(query, f"slot: %{mark(number)}%"))
        if len(seen) > 1 or len(statuses) != 1:
            yield f"{name} has the runs {statuses} and the outputs {seen}"
        elif statuses == ["succeeded"] and not seen and not is_known_as_unsent:
            yield f"{name} succeeded, and nobody saw it"
        elif statuses != ["succeeded"] and not told:
            yield f"{name} ended as {statuses}, and nobody was told"
