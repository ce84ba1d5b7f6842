"""What every kind of hints promises: soon, at the right place, and at worst too much."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator.contracts.ids import BoxName
from orchestrator.ipc.hints import BoxDirectory, Hints
from orchestrator.ipc.inotify_hints import InotifyHints
from orchestrator.ipc.watchfiles_hints import WatchfilesHints
from tests.support.descriptors import open_descriptors
from tests.support.eventually import eventually


@dataclass
class Heard:
    """Collects what is reported. everywhere: how often it was to be looked at everywhere."""

    places: set[BoxDirectory] = field(default_factory=set)
    everywhere: int = 0

    def report(self, places: frozenset[BoxDirectory] | None) -> None:
        """Called by the hints."""
        if places is None:
            self.everywhere += 1
        else:
            self.places |= places


@pytest.fixture(params=[InotifyHints, WatchfilesHints], ids=["inotify", "watchfiles"])
def make_hints(request: pytest.FixtureRequest) -> Callable[[], Hints]:
    """Each implementation in turn."""
    made: Callable[[], Hints] = request.param
    return made


@contextlib.asynccontextmanager
async def _hearing(hints: Hints) -> AsyncIterator[Heard]:
    heard = Heard()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(hints.run(heard.report))
        try:
            yield heard
            assert not task.done()
        finally:
            task.cancel()
    hints.close()
    hints.close()


def _place(path: Path) -> BoxDirectory:
    path.mkdir(exist_ok=True)
    return BoxDirectory(BoxName(path.name), "messages")


def _rename_in(path: Path, name: str = "x.json") -> None:
    temporary = path / f".{name}.tmp"
    temporary.touch()
    temporary.rename(path / name)


def _most_queued_events() -> int:
    return int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())


async def _told(heard: Heard, place: BoxDirectory, path: Path) -> None:
    """Rename files in until that place is reported: a watch may take a moment to begin."""

    def is_told() -> bool:
        _rename_in(path)
        return place in heard.places

    await eventually(is_told)


async def test_a_file_renamed_in_is_reported_at_its_place_and_at_no_other(
    tmp_path: Path, make_hints: Callable[[], Hints]
) -> None:
    hints = make_hints()
    one, other = tmp_path / "one", tmp_path / "other"
    place, quiet = _place(one), _place(other)
    hints.add(place, one)
    hints.add(quiet, other)

    async with _hearing(hints) as heard:
        await _told(heard, place, one)

        assert quiet not in heard.places


async def test_places_can_be_added_and_removed_while_it_runs(
    tmp_path: Path, make_hints: Callable[[], Hints]
) -> None:
    hints = make_hints()
    async with _hearing(hints) as heard:
        places = [_place(tmp_path / f"box{number}") for number in range(3)]
        for place in places:
            hints.add(place, tmp_path / place.box)
            await _told(heard, place, tmp_path / place.box)
        hints.remove(places[0])
        hints.remove(places[0])
        path = tmp_path / "last"
        last = _place(path)
        hints.add(last, path)
        await _told(heard, last, path)
        heard.places.clear()
        _rename_in(tmp_path / "box0", "after.json")
        await _told(heard, places[1], tmp_path / "box1")
        await _told(heard, last, path)

        assert {each.box for each in heard.places} == {"box1", "last"}


async def test_the_removal_of_a_watched_directory_disturbs_no_other(
    tmp_path: Path, make_hints: Callable[[], Hints]
) -> None:
    hints = make_hints()
    gone, stays = tmp_path / "gone", tmp_path / "stays"
    place_gone, place = _place(gone), _place(stays)
    hints.add(place_gone, gone)
    hints.add(place, stays)

    async with _hearing(hints) as heard:
        await _told(heard, place_gone, gone)
        (gone / "x.json").unlink()
        gone.rmdir()
        hints.remove(place_gone)
        await _told(heard, place, stays)


@pytest.mark.parametrize("kind", ["link", "file", "nothing"])
async def test_what_is_no_directory_is_refused(
    tmp_path: Path, make_hints: Callable[[], Hints], kind: str
) -> None:
    hints = make_hints()
    path = tmp_path / "x"
    if kind == "link":
        (tmp_path / "real").mkdir()
        path.symlink_to(tmp_path / "real")
    elif kind == "file":
        path.touch()

    with pytest.raises(OSError, match=r"(?i)director"):
        hints.add(BoxDirectory(BoxName("x"), "messages"), path)

    hints.close()


async def test_a_rename_by_another_process_is_heard(tmp_path: Path, make_hints: Callable[[], Hints]) -> None:
    hints = make_hints()
    path = tmp_path / "box"
    place = _place(path)
    hints.add(place, path)
    async with _hearing(hints) as heard:
        await _told(heard, place, path)
        heard.places.clear()
        await eventually(lambda: not heard.places)
        mover = await asyncio.create_subprocess_exec(
            "sh", "-c", 'touch "$0/.t.tmp" && mv "$0/.t.tmp" "$0/t.json"', str(path)
        )
        await mover.wait()

        await eventually(lambda: place in heard.places)


async def test_no_descriptor_is_left_when_it_is_closed(
    tmp_path: Path, make_hints: Callable[[], Hints]
) -> None:
    path = tmp_path / "box"
    place = _place(path)
    before = len(open_descriptors())

    for _ in range(3):
        hints = make_hints()
        hints.add(place, path)
        async with _hearing(hints) as heard:
            await _told(heard, place, path)

    await eventually(lambda: len(open_descriptors()) <= before, what=open_descriptors)


async def test_after_more_events_than_the_kernel_keeps_everything_is_to_be_looked_at(tmp_path: Path) -> None:
    hints = InotifyHints()
    path = tmp_path / "box"
    hints.add(_place(path), path)
    most = _most_queued_events()
    (path / "a").touch()
    names = [path / "a", path / "b"]

    async with _hearing(hints) as heard:
        for number in range(most + 10):  # while the loop stands still, as in a long stall
            names[number % 2].rename(names[1 - number % 2])
        await eventually(lambda: heard.everywhere == 1)
