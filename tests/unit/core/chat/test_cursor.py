"""How far a chat is done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.records.messages import MessageStatus
from orchestrator.core.chat.cursor import settled_up_to

P, D, S = MessageStatus.PENDING, MessageStatus.DISPATCHED, MessageStatus.SETTLED
X, F, K = MessageStatus.PARTIAL, MessageStatus.FAILED, MessageStatus.SKIPPED


@pytest.mark.parametrize(
    ("rows", "cursor", "settled"),
    [
        ([], 7, 7),
        ([(8, S), (9, X), (12, F), (13, K)], 7, 13),
        ([(8, S), (9, P), (10, S)], 7, 8),
        ([(8, S), (11, D)], 7, 8),
        ([(8, P)], 7, 7),
        ([(10, S), (9, D), (8, S)], 7, 8),
        ([(3, S), (5, P), (8, S)], 7, 4),
        ([(3, S), (8, S)], 7, 8),
        ([(3, S)], 7, 7),
    ],
    ids=[
        "nothing new",
        "all done",
        "a waiting one",
        "one at work",
        "first one waits",
        "any order",
        "opened again below the cursor",
        "known ones below the cursor",
        "only known ones",
    ],
)
def test_the_cursor_stands_before_the_first_open_message(
    rows: list[tuple[int, MessageStatus]], cursor: int, settled: int
) -> None:
    assert settled_up_to(rows, cursor) == settled


@given(st.dictionaries(st.integers(1, 60), st.sampled_from(MessageStatus)), st.integers(0, 60))
def test_no_open_message_is_ever_below_the_cursor(rows: dict[int, MessageStatus], cursor: int) -> None:
    settled = settled_up_to(list(rows.items()), cursor)

    assert all(status not in (P, D) for seq, status in rows.items() if seq <= settled)
    assert all(any(rows[other] in (P, D) for other in rows if other <= seq) for seq in rows if seq > settled)
