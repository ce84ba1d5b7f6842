"""A chat network in a directory: what came in and what went out survives a kill -9 of the orchestrator.

| file | what it holds |
|---|---|
| `in/*.json` | messages to take in, in name order; one is removed only after it is stored |
| `sends.jsonl` | every attempt to send: chat, text, outbox_id, attempt, reply_to, file, accepted |
| `files/{outbox_id}-{attempt}` | the bytes of the file that an attempt had |
| `refusals.jsonl` | every message that could not be stored when it was handed in: it stays in `in/` |
| `refused/*.json` | messages that will never be taken |
| `typing.jsonl` | every change of the typing indicator: chat, is_typing |
| `groups.json` | the group chats of the account, each `[jid, name]`; `null` when the network is away |
| `down` | while it is there, nothing is taken in and nothing leaves |
| `behaviour.json` | a list of rules; the first one that fits a text and has times left decides |

A rule is `{"match": part of the text, "outcome": an Outcome, "times": how often, "delay_s": seconds,
"until": the name of a file whose coming is waited for}`.
"""

import asyncio
import contextlib
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from orchestrator.contracts.errors import DovecoteError, Unavailable
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.groups import Chat
from orchestrator.contracts.records.messages import (
    Change,
    ChangeKind,
    InboundMessage,
    OutboundMessage,
    Quoted,
    Receipt,
    ReceivedFile,
)
from orchestrator.contracts.seams import Inbox, SendRefused, SendUnavailable, SendUnknown

PREFIX: Final = "file:"
_LOOK_S: Final = 0.02
_AGAIN_S: Final = 0.2


class Outcome(StrEnum):
    """What becomes of one attempt to send."""

    ACCEPT = "accept"
    UNAVAILABLE = "unavailable"
    REFUSE = "refuse"
    UNKNOWN_BEFORE = "unknown, not taken"
    UNKNOWN_AFTER = "unknown, taken"


class FileChannel:
    """Owns the chats `file:*`."""

    name = "file"

    def __init__(self, directory: Path, *, max_text_chars: int = 4_000) -> None:
        self._directory = directory
        self._max_text_chars = max_text_chars
        self._inbox: Inbox | None = None
        self._taking: asyncio.Task[None] | None = None
        self._attempts = Counter[int](line["outbox_id"] for line in read_lines(self._sends))
        for name in ("in", "refused", "files"):
            (directory / name).mkdir(parents=True, exist_ok=True)

    def owns(self, jid: Jid) -> bool:
        """Whether `jid` is a chat of this directory."""
        return jid.startswith(PREFIX) and len(jid) > len(PREFIX)

    @property
    def max_text_chars(self) -> int:
        """As it was made."""
        return self._max_text_chars

    @property
    def is_connected(self) -> bool:
        """From `connect` to `close`."""
        return self._inbox is not None

    async def connect(self, inbox: Inbox) -> None:
        """Hand on what lies in `in/`, from now on."""
        self._inbox = inbox
        self._taking = asyncio.create_task(  # noqa: TID251 - `connect` returns; `close` ends the task
            self._take(inbox), name="file channel"
        )

    async def send(self, message: OutboundMessage) -> Receipt:
        """Write it down as sent, unless a rule of `behaviour.json` says otherwise."""
        if self._inbox is None or self._is_down():
            raise SendUnavailable("the channel is closed")
        if len(message.text) > self._max_text_chars:
            raise SendRefused("the text is too long for one message")
        rule = self._decide(message.text)
        outcome = Outcome(rule.get("outcome", Outcome.ACCEPT))
        await asyncio.sleep(float(rule.get("delay_s", 0.0)))
        while not (self._directory / rule.get("until", "")).exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(_LOOK_S)
        attempt = self._attempts[message.outbox_id] + 1
        accepted = outcome in (Outcome.ACCEPT, Outcome.UNKNOWN_AFTER)
        file = message.file
        if file is not None:
            copy = self._directory / "files" / f"{message.outbox_id}-{attempt}"
            try:
                copy.write_bytes(file.path.read_bytes())
            except FileNotFoundError as error:
                raise SendUnavailable("the copy is gone") from error
        line = {
            "chat": message.chat_jid,
            "text": message.text,
            "outbox_id": message.outbox_id,
            "attempt": attempt,
            "reply_to": message.reply_to,
            "file": None if file is None else [file.name, file.media_type, file.size_bytes],
            "accepted": accepted,
        }
        _append(self._sends, line)
        self._attempts[message.outbox_id] = attempt
        match outcome:
            case Outcome.UNAVAILABLE:
                raise SendUnavailable("the network is away")
            case Outcome.REFUSE:
                raise SendRefused("the network will not have it")
            case Outcome.UNKNOWN_BEFORE | Outcome.UNKNOWN_AFTER:
                raise SendUnknown("the answer was lost")
            case Outcome.ACCEPT:
                del self._attempts[message.outbox_id]  # it is not sent again, and a day has many texts
                return Receipt(message_id=MessageId(f"out-{message.outbox_id}-{attempt}"))

    async def set_typing(self, chat: Jid, *, is_typing: bool) -> None:
        """Write it down."""
        _append(self._directory / "typing.jsonl", {"chat": chat, "is_typing": is_typing})

    async def fetch_groups(self) -> Sequence[Chat]:
        """What `groups.json` lists; none without the file."""
        path = self._directory / "groups.json"
        listed = json.loads(path.read_bytes()) if path.exists() else []
        if listed is None:
            raise Unavailable("the network is away")
        return [Chat(jid=Jid(jid), channel=self.name, name=name, is_group=True) for jid, name in listed]

    async def close(self) -> None:
        """Take and send no more."""
        self._inbox = None
        if self._taking is not None:
            self._taking.cancel()
            await asyncio.wait({self._taking})
            self._taking = None

    def _is_down(self) -> bool:
        return (self._directory / "down").exists()

    @property
    def _sends(self) -> Path:
        return self._directory / "sends.jsonl"

    def _decide(self, text: str) -> Mapping[str, Any]:
        """The rule for this attempt, empty without one; a rule that is used has one time less."""
        path = self._directory / "behaviour.json"
        rules: list[dict[str, Any]] = json.loads(path.read_bytes()) if path.exists() else []
        for rule in rules:
            if rule.get("match", "") in text and rule.get("times", 1) > 0:
                rule["times"] = rule.get("times", 1) - 1
                write_json(path, rules)
                return rule
        return {}

    async def _take(self, inbox: Inbox) -> None:
        while True:
            for path in [] if self._is_down() else sorted((self._directory / "in").glob("*.json")):
                try:
                    await inbox(_message(json.loads(path.read_bytes())))
                except Unavailable as error:
                    _append(self._directory / "refusals.jsonl", {"name": path.name, "why": error.message})
                    await asyncio.sleep(_AGAIN_S)  # a network keeps what was not taken, and tries again
                    break
                except DovecoteError:
                    path.rename(self._directory / "refused" / path.name)
                else:
                    path.unlink()
            await asyncio.sleep(_LOOK_S)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file, one a line; none without a file. A half-written last line is left out."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def write_json(path: Path, plain: object) -> None:
    """Put it there in one step."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(json.dumps(plain), encoding="utf-8")
    temporary.rename(path)


def _append(path: Path, plain: Mapping[str, object]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(plain) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _message(plain: Mapping[str, Any]) -> InboundMessage:
    values = dict(plain)
    with contextlib.suppress(KeyError):
        values["quoted"] = Quoted(**values["quoted"])
    with contextlib.suppress(KeyError):
        change = values["change"]
        values["change"] = Change(**{**change, "kind": ChangeKind(change["kind"])})
    values["files"] = tuple(_received(each) for each in values.get("files", ()))
    values["sent_at"] = datetime.fromisoformat(
        values.get("sent_at", datetime(2026, 1, 1, tzinfo=UTC).isoformat())
    )
    return InboundMessage(**values)


def _received(plain: Mapping[str, Any]) -> ReceivedFile:
    values = dict(plain)
    source = None if values["source"] is None else Path(values["source"])
    return ReceivedFile(**{**values, "source": source})
