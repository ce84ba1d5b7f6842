"""What an agent of a storm runs: many requests at once into its box, each noted before and after.

`python3 -c` with this text in the agent's workspace, so nothing of ours is imported. Its own ledger is a file
`burst-{n}` there, of lines `{note} {request}`: `?` it is about to be delivered, `!` it lies in the box,
`=` it was answered as done.
"""

import json
import os
import sys
import time
from pathlib import Path
from random import Random

_COUNTS = (3, 6, 12, 30, 80, 80)
"""So many at once; the last have more files than one batch of the intake, which then calls its clerk."""
_COPIES = 10
"""Files of a request that is asked again and again: the same effect, once."""
_ANSWERED_WITHIN_S = 3.0
_LOOK_S = 0.02


def main() -> None:
    """One burst for the chat of the first word, drawn from the second. It ends early when its box is gone."""
    folder, seed = sys.argv[1:]
    box = Path(os.environ.get("DOVECOTE_BOX", "/workspace/ipc"))
    number, ledger = _own_ledger()
    random = Random(f"{seed} {folder} {number}")
    count = random.choice(_COUNTS)
    names = [
        f"{folder}.{number}.{at}.{random.choice(('plain', 'named', 'again', 'spoilt'))}"
        for at in range(count)
    ]
    try:
        _deliver(box, folder, names, ledger)
        _hear(box, [name for name in names if name.endswith((".named", ".again"))], ledger)
    except FileNotFoundError:
        return


def _own_ledger() -> tuple[int, int]:
    """The first number that no burst of this workspace has, and the open file."""
    number = 0
    while True:
        try:
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND
            return number, os.open(f"burst-{number}", flags, 0o644)
        except FileExistsError:
            number += 1


def _note(ledger: int, note: str, name: str) -> None:
    os.write(ledger, f"{note} {name}\n".encode())


def _deliver(box: Path, folder: str, names: list[str], ledger: int) -> None:
    """All are written first, so that they come at once."""
    ready: list[tuple[str, Path, Path]] = []
    for name in names:
        for _ in range(_COPIES if name.endswith(".again") else 1):
            target = box / "messages" / f"{time.monotonic_ns():020d}-{name}.json"
            temporary = target.with_name(f".{target.name}.tmp")
            temporary.write_text(_body(folder, name), encoding="utf-8")
            ready.append((name, temporary, target))
    for name, temporary, target in ready:
        _note(ledger, "?", name)
        temporary.rename(target)
        _note(ledger, "!", name)


def _body(folder: str, name: str) -> str:
    if name.endswith(".spoilt"):
        return "{no request"
    body = {"type": "message", "chatJid": f"file:{folder}", "text": f"burst: {name}"}
    return json.dumps(body if name.endswith(".plain") else body | {"requestId": name})


def _hear(box: Path, names: list[str], ledger: int) -> None:
    """Note which are answered, as far as answers come in time."""
    ends = time.monotonic() + _ANSWERED_WITHIN_S
    while names and time.monotonic() < ends:
        for name in list(names):
            reply = box / "replies" / f"{name}.json"
            if reply.exists():
                names.remove(name)
                if json.loads(reply.read_bytes())["ok"]:
                    _note(ledger, "=", name)
        time.sleep(_LOOK_S)


if __name__ == "__main__":
    main()
