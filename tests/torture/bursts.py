"""The bursts of requests that agents of a storm write, and whether each request had its one effect.

Each request has a name of its own, so what an agent's ledger lacks (it was killed) makes no other uncertain.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Final

from orchestrator.contracts.ids import Jid
from tests.support.home_on_disk import HomeOnDisk
from tests.torture.far_end import FarEnd
from tests.torture.plan import CHATS

BURST: Final = "burst"
ABOUT, LIES, ANSWERED = "?", "!", "="
"""Notes in a ledger of `burst_program`."""
_SPOILT: Final = ".spoilt"


def noted(home: HomeOnDisk, chat: str, note: str) -> list[str]:
    """The requests with a note, as often as they have it: what is asked again has more files."""
    ledgers = sorted(home.workspace(chat).glob(f"{BURST}-*"))
    lines = [line for each in ledgers for line in each.read_text(encoding="utf-8").splitlines(keepends=True)]
    whole = [line.split() for line in lines if line.endswith("\n")]
    return [words[1] for words in whole if words[0] == note]


def bursts(home: HomeOnDisk, far: FarEnd) -> Iterator[str]:
    """What is wrong: a request lost or done twice, an answer without an effect, an effect of nobody's."""
    for chat in CHATS:
        about, lies, answered = (set(noted(home, chat, note)) for note in (ABOUT, LIES, ANSWERED))
        done, refused = _effects(home, far, chat), _quarantined(home, chat)
        for name in sorted(lies | answered):
            if not (name in refused if name.endswith(_SPOILT) else done[name]):
                yield f"request {name} lay in the box without effect, answered: {name in answered}"
        for name, count in done.items():
            if name not in about or count > 1:
                yield f"request {name} was done {count} times, asked: {name in about}"
        if others := sorted(name for name in refused if not name.endswith(_SPOILT)):
            yield f"good requests of {chat} were refused: {others}"


def _effects(home: HomeOnDisk, far: FarEnd, chat: str) -> Counter[str]:
    """How many texts each request became, whether the network took them or they are known as failed."""
    texts = {each.outbox_id: each.text for each in far.outputs(BURST, chat)}
    failed = home.rows(
        "SELECT id, text FROM outbox WHERE status = 'failed' AND chat_jid = ?", Jid(f"file:{chat}")
    )
    texts |= {row["id"]: row["text"] for row in failed if row["text"].startswith(f"{BURST}: ")}
    return Counter(text.removeprefix(f"{BURST}: ") for text in texts.values())


def _quarantined(home: HomeOnDisk, chat: str) -> set[str]:
    """The requests of bursts in `errors`, by the names of their files."""
    reasons = (home.path / "data" / "ipc" / "errors" / chat).glob("*.reason.json")
    files = [str(json.loads(each.read_bytes())["name"]) for each in reasons]
    names = [file.removesuffix(".json").partition("-")[2] for file in files]
    return {name for name in names if name.startswith(f"{chat}.")}
