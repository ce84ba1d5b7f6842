"""Whose files go next: boxes in turn, none left out, and those of few files before full ones."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid
from orchestrator.contracts.wire.boxes import MESSAGES
from orchestrator.ipc.box import Box, Listing
from orchestrator.ipc.choosing import ALL_DIRECTORIES, AT_A_TIME, FEW, choose, quick_ones
from orchestrator.ipc.lane import Lane
from orchestrator.ipc.reading import Candidate
from orchestrator.store.safe_dir import SafeDir

BOXES = 12


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Box]]:
    """Real boxes, in no use."""
    with SafeDir.open(Path(tmp_path_factory.mktemp("ipc"))) as ipc:
        made = [Box.make(ipc, BoxName(f"b{number:02}"), uid=None, gid=None) for number in range(BOXES)]
        yield made
        for box in made:
            box.close()


def lanes_of(boxes: Sequence[Box], counts: Sequence[int], *, burst: float = 1_000) -> list[Lane]:
    """A lane each, with so many files in it."""
    lanes = []
    for box, count in zip(boxes, counts, strict=False):
        caller = AgentCaller(
            agent_id=AgentId(box.name),
            box=box.name,
            group=GroupFolder(box.name),
            chat_jid=Jid(f"test:{box.name}"),
            is_main=False,
        )
        lane = Lane(caller, box, burst=burst, now=0)
        names = [f"{number:04}.json" for number in range(count)]
        lane.listed(MESSAGES, Listing(requests=names, directories=[], is_over=False))
        lanes.append(lane)
    return lanes


def by_box(chosen: Sequence[Candidate]) -> Counter[BoxName]:
    """How many of each."""
    return Counter(each.lane.box.name for each in chosen)


def test_full_boxes_take_turns_a_few_files_at_a_time(boxes: list[Box]) -> None:
    lanes = lanes_of(boxes, [500] * 4)

    chosen = choose(lanes, ALL_DIRECTORIES, 0, room=3 * AT_A_TIME, per_minute=None)

    assert by_box(chosen) == {"b00": AT_A_TIME, "b01": AT_A_TIME, "b02": AT_A_TIME}


def test_a_batch_goes_round_until_it_is_full(boxes: list[Box]) -> None:
    lanes = lanes_of(boxes, [500] * 2)

    chosen = choose(lanes, ALL_DIRECTORIES, 0, room=5 * AT_A_TIME, per_minute=None)

    assert by_box(chosen) == {"b00": 3 * AT_A_TIME, "b01": 2 * AT_A_TIME}
    assert len(chosen) == 5 * AT_A_TIME


def test_boxes_of_few_files_are_in_the_batch_before_full_ones(boxes: list[Box]) -> None:
    lanes = lanes_of(boxes, [500] * 6 + [FEW] * 4)

    chosen = choose(lanes, ALL_DIRECTORIES, 0, room=30, per_minute=None)

    assert {name: count for name, count in by_box(chosen).items() if name >= "b06"} == {
        "b06": FEW,
        "b07": FEW,
        "b08": FEW,
        "b09": FEW,
    }


def test_however_many_boxes_have_few_files_full_ones_get_half_of_the_room(boxes: list[Box]) -> None:
    lanes = lanes_of(boxes, [500] + [FEW] * 11)

    chosen = choose(lanes, ALL_DIRECTORIES, 0, room=20, per_minute=None)

    assert by_box(chosen)[BoxName("b00")] >= 10
    assert len(chosen) == 20


def test_a_box_that_went_too_fast_waits_and_the_others_fill_its_place(boxes: list[Box]) -> None:
    fast, slow = lanes_of(boxes[:1], [500], burst=4) + lanes_of(boxes[1:2], [500])

    chosen = choose([fast, slow], ALL_DIRECTORIES, 0, room=20, per_minute=60)

    assert by_box(chosen) == {"b00": 4, "b01": 16}
    assert fast.ready_at == pytest.approx(1.0)  # a token a second


def test_only_a_box_whose_files_are_all_chosen_is_quick(boxes: list[Box]) -> None:
    full, lone = lanes_of(boxes, [500, 1])

    chosen = choose([full, lone], ALL_DIRECTORIES, 0, room=3, per_minute=None)

    assert quick_ones(chosen) == {lone}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    counts=st.lists(st.integers(0, 40), min_size=1, max_size=BOXES),
    rooms=st.lists(st.integers(1, 60), min_size=1, max_size=8),
)
def test_every_file_is_chosen_once_in_the_order_of_its_box_and_no_batch_is_larger_than_its_room(
    boxes: list[Box], counts: list[int], rooms: list[int]
) -> None:
    lanes = lanes_of(boxes, counts)
    got: dict[BoxName, list[str]] = {}
    left = sum(counts)

    for room in rooms:
        chosen = choose(lanes, ALL_DIRECTORIES, 0, room=room, per_minute=None)
        assert len(chosen) == min(room, left)
        left -= len(chosen)
        for each in chosen:
            got.setdefault(each.lane.box.name, []).append(each.name)

    for names in got.values():
        assert names == [f"{number:04}.json" for number in range(len(names))]
