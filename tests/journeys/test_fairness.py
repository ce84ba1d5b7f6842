"""Who runs when many want to: a bounded number of turns, and nobody twice before another once."""

from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk

CHATS = [f"room{number}" for number in range(8)]
WAITS = {
    "rules": [{"match": "wait", "steps": [{"wait_for_file": "go"}, {"say": "waited"}]}],
    "default": [{"say": "re: {texts}"}],
}


def turns(home: HomeOnDisk) -> list[dict[str, int | str | None]]:
    """All turns in the order in which they began."""
    return home.rows("SELECT chat_jid, started_ms, ended_ms FROM turns ORDER BY started_ms, rowid")


async def test_eight_chats_share_two_places_the_first_two_begin_and_all_are_answered(
    home: HomeOnDisk,
) -> None:
    home.set(queue__max_running=2, queue__max_live=3)
    for chat in CHATS:
        await home.add_group(chat)
        home.play({"turns": [[{"delay_s": 0.1}, {"say": "done"}]]}, chat)

    async with home.running():
        for chat in CHATS:
            home.ask("one", chat=f"file:{chat}")
        await home.quiet(within_s=50)

    assert all(home.texts(f"file:{chat}") == ["done"] for chat in CHATS)
    assert {turn["chat_jid"] for turn in turns(home)[:2]} == {"file:room0", "file:room1"}
    spans = [(int(turn["started_ms"] or 0), int(turn["ended_ms"] or 0)) for turn in turns(home)]
    assert max(sum(begin <= at < end for begin, end in spans) for at, _ in spans) <= 2


async def test_who_was_served_longest_ago_comes_before_who_has_waited_longest(home: HomeOnDisk) -> None:
    home.set(queue__max_running=1)
    for chat in CHATS[:3]:
        await home.add_group(chat)
        home.play(WAITS, chat)

    async with home.running():
        home.ask("early", chat="file:room0")
        await home.quiet()
        first = home.ask("wait", chat="file:room2")
        in_turn = "SELECT 1 FROM messages WHERE message_id = ? AND is_in_turn = 1"
        await eventually(lambda: home.rows(in_turn, first), what=home.story)
        home.ask("again", chat="file:room0")
        last = home.ask("for the first time", chat="file:room1")
        await eventually(lambda: last in home.statuses("file:room1"))
        (home.workspace("room2") / "go").touch()
        await home.quiet(within_s=50)

    order = [turn["chat_jid"] for turn in turns(home)]
    assert order[-2:] == ["file:room1", "file:room0"], order
