"""`dovecote messages` and `dovecote errors`: what people wrote, what was sent, what was refused of agents."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from orchestrator.cli.home import open_home_to_ask
from orchestrator.cli.labels import instant
from orchestrator.cli.place import ask_or_look
from orchestrator.cli.table import columns
from orchestrator.commands.recent import recent_messages, recent_texts, refused_requests
from orchestrator.contracts.ids import Jid
from orchestrator.core.chat.slash_words import slash_word
from orchestrator.core.text_cleaning import clean_name, clean_text
from orchestrator.store.refusals import ERRORS

Rows = Sequence[Mapping[str, Any]]


_BECAME: Final[Mapping[str, str]] = {
    "pending": "waits",
    "dispatched": "at work",
    "settled": "answered",
    "partial": "broke off",
    "failed": "failed",
    "skipped": "passed over",
}
_CONTEXT: Final = "context"
_ABOUT_CONTEXT: Final = (
    "context: not for the assistant, or of somebody who may not set it off; read along with the next message."
)


def became_of(message: Mapping[str, Any]) -> str:
    """What became of a message, in words. What sets nothing off is context, read or not."""
    status = str(message["status"])
    if status == "skipped" and slash_word(str(message["text"]), None) is not None:
        return "done"
    return _CONTEXT if status in ("pending", "settled") and not message["isTrigger"] else _BECAME[status]


def show_messages(home_option: Path | None, *, chat: str | None, count: int, as_json: bool) -> None:
    """One line a message, the newest last."""
    wanted = {"count": str(count)} | ({} if chat is None else {"chat": chat})
    found: Rows = asyncio.run(
        ask_or_look(
            open_home_to_ask(home_option),
            lambda client: client.call("GET", "/api/v1/messages", query=wanted),
            lambda services: recent_messages(services, None if chat is None else Jid(chat), count=count),
            nothing=[],
        )
    )
    if as_json:
        print(json.dumps(found, indent=2))
    elif not found:
        print("No messages.")
    else:
        heads = ("SENT", "STATUS", "CHAT", "FROM", "TEXT")
        rows = [(m["sentAt"], became_of(m), m["chatJid"], m["sender"], m["text"]) for m in found]
        for line in columns(heads, rows):
            print(line)
        if any(row[1] == _CONTEXT for row in rows):
            print(f"\n{_ABOUT_CONTEXT}")


def show_sent(home_option: Path | None, *, chat: str | None, count: int, as_json: bool) -> None:
    """One line a text, the newest last."""
    wanted = {"count": str(count)} | ({} if chat is None else {"chat": chat})
    found: Rows = asyncio.run(
        ask_or_look(
            open_home_to_ask(home_option),
            lambda client: client.call("GET", "/api/v1/messages/sent", query=wanted),
            lambda services: recent_texts(services, None if chat is None else Jid(chat), count=count),
            nothing=[],
        )
    )
    if as_json:
        print(json.dumps(found, indent=2))
    elif not found:
        print("Nothing was sent.")
    else:
        for line in columns(("WRITTEN", "CHAT", "BY", "TEXT"), [_sent_row(each) for each in found]):
            print(line)


def _sent_row(sent: Mapping[str, Any]) -> tuple[str, ...]:
    by = "Dovecote" if sent["isNotice"] else "agent"
    # An orchestrator of an earlier version names no files.
    named = f"[{name}]" if (name := sent.get("file")) else ""
    text = " ".join(each for each in (named, sent["text"]) if each)
    return (sent["createdAt"], sent["chatJid"], by, text)


def show_errors(home_option: Path | None, *, box: str | None, count: int, as_json: bool) -> None:
    """Each refused request with its reason, the newest first."""
    home = open_home_to_ask(home_option)
    wanted = {"count": str(count)} | ({} if box is None else {"box": box})
    found: Rows = asyncio.run(
        ask_or_look(
            home,
            lambda client: client.call("GET", "/api/v1/errors", query=wanted),
            lambda services: refused_requests(services, box, count=count),
            nothing=[],
        )
    )
    if as_json:
        print(json.dumps(found, indent=2))
        return
    if not found:
        print("Nothing was refused.")
    for each in found:
        what = f"{each.get('directory') or ''}/{each.get('name') or ''}".strip("/")
        head = (instant(str(each.get("refusedAt") or "")), each.get("box"), each.get("code"), what)
        times = "" if each.get("count", 1) == 1 else f"  ({each['count']} times within an hour)"
        print("  ".join(clean_name(str(word)) for word in head if word) + times)
        for text in (each.get("message"), each.get("suggestion")):
            if text:
                print(f"    {clean_text(' '.join(str(text).split()))}")
        if each.get("file"):
            print(f"    {clean_text(str(home.paths.ipc / ERRORS / str(each['file'])))}")
