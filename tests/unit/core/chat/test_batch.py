"""Which messages an agent is given."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.records.messages import StoredMessage
from orchestrator.core.chat.batch import select_batch
from tests.unit.core.chat.samples import stored


@st.composite
def chats_with_triggers(draw: st.DrawFn) -> list[StoredMessage]:
    shapes = draw(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=20))
    return [
        stored(seq, "é" * size, is_trigger=trigger) for seq, (trigger, size) in enumerate(shapes, start=1)
    ]


@given(chats_with_triggers(), st.integers(1, 10), st.integers(0, 200))
def test_a_batch_keeps_order_counts_what_it_cut_and_never_loses_a_trigger(
    unsettled: list[StoredMessage], max_count: int, max_bytes: int
) -> None:
    batch = select_batch(unsettled, max_count=max_count, max_bytes=max_bytes)

    assert list(batch.messages) == sorted(batch.messages, key=lambda message: message.seq)
    assert len(batch.messages) + batch.omitted == len(unsettled)
    assert {m.seq for m in unsettled if m.is_trigger} <= {m.seq for m in batch.messages}


@given(chats_with_triggers(), st.integers(1, 10), st.integers(0, 200))
def test_chatter_never_takes_a_batch_over_its_bounds(
    unsettled: list[StoredMessage], max_count: int, max_bytes: int
) -> None:
    batch = select_batch(unsettled, max_count=max_count, max_bytes=max_bytes)
    has_chatter = any(not message.is_trigger for message in batch.messages)
    first_chatter = next((n for n, m in enumerate(batch.messages) if not m.is_trigger), 0)
    from_there = batch.messages[first_chatter:]

    assert not has_chatter or len(from_there) <= max_count
    assert not has_chatter or sum(message.size_bytes for message in from_there) <= max_bytes


def seqs(messages: Sequence[StoredMessage]) -> list[int]:
    return [message.seq for message in messages]


def test_the_newest_are_kept_and_older_chatter_is_counted() -> None:
    chat = [stored(seq) for seq in range(1, 6)]

    batch = select_batch(chat, max_count=2, max_bytes=1000)

    assert (seqs(batch.messages), batch.omitted) == ([4, 5], 3)


def test_an_old_trigger_is_kept_over_newer_chatter_that_does_not_fit() -> None:
    chat = [stored(1, is_trigger=True), *[stored(seq) for seq in range(2, 9)], stored(9, is_trigger=True)]

    batch = select_batch(chat, max_count=3, max_bytes=1000)

    assert (seqs(batch.messages), batch.omitted) == ([1, 7, 8, 9], 5)


def test_there_is_no_gap_in_the_chatter_that_is_shown() -> None:
    chat = [stored(1, "x"), stored(2, "x" * 50), stored(3, "x"), stored(4, "x", is_trigger=True)]

    batch = select_batch(chat, max_count=10, max_bytes=10)

    assert (seqs(batch.messages), batch.omitted) == ([3, 4], 2)


def test_bytes_are_those_of_utf_8() -> None:
    chat = [stored(1, "€€€"), stored(2, "€€€", is_trigger=True)]

    assert select_batch(chat, max_count=10, max_bytes=18).omitted == 0
    assert select_batch(chat, max_count=10, max_bytes=17).omitted == 1


def test_nothing_waiting_is_an_empty_batch() -> None:
    batch = select_batch([], max_count=1, max_bytes=1)

    assert (batch.messages, batch.omitted) == ((), 0)
