"""What readers of events are given, and what they are told of the rest."""

from collections.abc import Sequence
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.events import EventClass, LoggedEvent
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.live_events import Delivery, Gap, GapReason, Item
from orchestrator.core.events import MAX_GAPS, EventBuffer, Sight, with_holes

AT = datetime(2026, 1, 2, tzinfo=UTC)


def logged(position: int, tree: str = "tree-a", seq: int = 1, agent: str | None = "agent-1") -> LoggedEvent:
    return LoggedEvent(
        position=position,
        tree_id=TreeId(tree),
        seq=seq,
        event_class=EventClass.AGENT,
        type="agent.log",
        agent_id=None if agent is None else AgentId(agent),
        at=AT,
        body={},
    )


def delivery(event: LoggedEvent, text: str = "{}") -> Delivery:
    return Delivery(event=event, text=text)


def accounted(items: Sequence[Item]) -> dict[str, list[int]]:
    """Of each tree the numbers that a reader got or was told of, in the order of the items."""
    numbers: dict[str, list[int]] = {}
    for item in items:
        if isinstance(item, Delivery):
            assert item.event.tree_id is not None
            numbers.setdefault(item.event.tree_id, []).append(item.event.seq)
        else:
            assert item.tree_id is not None
            assert item.first_seq is not None
            assert item.last_seq is not None
            numbers.setdefault(item.tree_id, []).extend(range(item.first_seq, item.last_seq + 1))
    return numbers


@given(
    steps=st.lists(st.sampled_from(["tree-a", "tree-b", "tree-c", "take"]), max_size=80),
    room=st.integers(min_value=1, max_value=8),
)
def test_a_reader_gets_every_event_or_a_gap_that_names_it_once_and_in_order(
    steps: list[str], room: int
) -> None:
    buffer, seqs, taken, position = EventBuffer(max_items=room), dict.fromkeys("abc", 0), list[Item](), 0

    for step in steps:
        if step == "take":
            taken += buffer.take()
            continue
        position += 1
        seqs[step[-1]] += 1
        buffer.put(delivery(logged(position, step, seqs[step[-1]])))
    taken += buffer.take()

    assert accounted(taken) == {f"tree-{key}": list(range(1, n + 1)) for key, n in seqs.items() if n}
    assert not buffer


def test_a_full_buffer_keeps_what_it_has_and_tells_what_came_since() -> None:
    buffer = EventBuffer(max_items=2)

    for seq in range(1, 6):
        buffer.put(delivery(logged(seq, seq=seq)))
    first, second, gap = buffer.take()

    assert isinstance(first, Delivery)
    assert isinstance(second, Delivery)
    assert (first.event.seq, second.event.seq) == (1, 2)
    assert gap == Gap(
        tree_id=TreeId("tree-a"), first_seq=3, last_seq=5, last_position=5, reason=GapReason.OVERFLOW
    )


def test_long_events_fill_a_buffer_before_many_do() -> None:
    buffer = EventBuffer(max_items=100, max_chars=10)

    buffer.put(delivery(logged(1, seq=1), "x" * 50))
    buffer.put(delivery(logged(2, seq=2), "x"))
    kept, gap = buffer.take()

    assert isinstance(kept, Delivery)
    assert kept.event.seq == 1
    assert isinstance(gap, Gap)


def test_gaps_in_more_trees_than_are_told_one_by_one_are_one_gap_of_many() -> None:
    buffer = EventBuffer(max_items=1)

    for number in range(MAX_GAPS + 5):
        buffer.put(delivery(logged(number + 1, f"tree-{number}")))
    _, gap = buffer.take()

    assert gap == Gap(
        tree_id=None,
        first_seq=None,
        last_seq=None,
        last_position=MAX_GAPS + 5,
        reason=GapReason.OVERFLOW,
    )


def test_an_emptied_buffer_takes_events_again() -> None:
    buffer = EventBuffer(max_items=1)
    buffer.put(delivery(logged(1, seq=1)))
    buffer.put(delivery(logged(2, seq=2)))
    buffer.take()

    buffer.put(delivery(logged(3, seq=3)))

    assert accounted(buffer.take()) == {"tree-a": [3]}


@given(kept=st.sets(st.integers(min_value=1, max_value=40)), since=st.integers(min_value=0, max_value=40))
def test_kept_events_with_their_holes_leave_out_no_number(kept: set[int], since: int) -> None:
    events = [logged(seq, seq=seq) for seq in sorted(kept) if seq > since]

    told: list[int] = []
    for item in with_holes(events, after_seq=since):
        if isinstance(item, Gap):
            assert item.reason is GapReason.EXPIRED
            assert item.first_seq is not None
            assert item.last_seq is not None
            told += range(item.first_seq, item.last_seq + 1)
        else:
            told.append(item.seq)

    assert told == list(range(since + 1, max((*kept, since)) + 1))


def test_who_sees_an_agent_sees_what_comes_to_be_below_it_and_nobody_else() -> None:
    sight = Sight([AgentId("agent-1")])
    child = LoggedEvent(
        position=1,
        tree_id=TreeId("tree-a"),
        seq=1,
        event_class=EventClass.AUDIT,
        type="spawn.nested",
        agent_id=AgentId("agent-2"),
        at=AT,
        body={"parentAgentId": "agent-1"},
    )

    assert sight.sees(logged(1, agent="agent-1"))
    assert not sight.sees(logged(2, agent="agent-2"))
    assert sight.sees(child)
    assert sight.sees(logged(3, agent="agent-2"))
    assert not sight.sees(logged(4, agent="agent-3"))
    assert not sight.sees(logged(5, agent=None))


def test_who_sees_all_sees_what_belongs_to_no_agent() -> None:
    assert Sight(None).sees(logged(1, agent=None))
