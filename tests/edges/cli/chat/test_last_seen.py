"""Which texts of a chat were seen, as its notes have it from one chat to the next."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator.cli.last_seen import LastSeen
from orchestrator.contracts.ids import Jid

CHAT = Jid("console:main")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """The file of all chats."""
    return tmp_path / "chat_seen.json"


def seen(notes: Path, *, of: int = 20) -> list[int]:
    """The ids that were."""
    chat = LastSeen(notes, CHAT)
    return [number for number in range(1, of + 1) if chat.has(number)]


def test_the_first_chat_that_takes_notes_has_missed_nothing(notes: Path) -> None:
    assert LastSeen(notes, CHAT).begin(7) == 7
    assert seen(notes) == [1, 2, 3, 4, 5, 6, 7]


def test_what_one_chat_showed_is_seen_and_what_came_before_it_is_still_missed(notes: Path) -> None:
    LastSeen(notes, CHAT).begin(3)
    LastSeen(notes, CHAT).note(5, 6)
    LastSeen(notes, CHAT).note(6, 8)

    assert LastSeen(notes, CHAT).begin(9) == 3
    assert seen(notes) == [1, 2, 3, 6, 7, 8]


def test_chats_that_take_notes_at_once_lose_none_of_each_other(notes: Path) -> None:
    LastSeen(notes, CHAT).begin(0)
    chats = [Jid(f"console:{number}") for number in range(4)]

    def watch(chat: Jid) -> None:
        for text_id in range(100):
            LastSeen(notes, chat).note(text_id, text_id + 1)

    with ThreadPoolExecutor(max_workers=len(chats)) as pool:
        list(pool.map(watch, chats))

    kept = json.loads(notes.read_text())
    assert {chat: kept.get(chat) for chat in chats} == {chat: [[0, 100]] for chat in chats}


def test_who_is_shown_what_was_missed_has_seen_all(notes: Path) -> None:
    LastSeen(notes, CHAT).begin(3)
    LastSeen(notes, CHAT).note(5, 8)
    LastSeen(notes, CHAT).note(3, 9)

    assert LastSeen(notes, CHAT).begin(9) == 9
    assert json.loads(notes.read_text()) == {CHAT: [[0, 9]]}


def test_what_an_earlier_version_noted_holds(notes: Path) -> None:
    notes.write_text(json.dumps({CHAT: 4, "console:other": 2}))

    assert LastSeen(notes, CHAT).begin(9) == 4
    assert LastSeen(notes, Jid("console:other")).begin(9) == 2


def test_ids_that_a_restored_store_gives_again_were_not_seen(notes: Path) -> None:
    LastSeen(notes, CHAT).begin(3)
    LastSeen(notes, CHAT).note(5, 8)

    assert LastSeen(notes, CHAT).begin(2) == 2
    assert seen(notes) == [1, 2]


@pytest.mark.parametrize("text", ["", "[]", "nonsense", '{"console:main": [[1]]}', '{"console:main": true}'])
def test_notes_that_cannot_be_read_are_begun_anew(notes: Path, text: str) -> None:
    notes.write_text(text)

    assert LastSeen(notes, CHAT).begin(5) == 5
