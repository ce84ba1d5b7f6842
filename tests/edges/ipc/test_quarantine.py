"""What was refused is kept, whatever else happens to the directory meanwhile."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from orchestrator.contracts.ids import BoxName
from orchestrator.ipc.quarantine import Evidence, Quarantine
from orchestrator.store.safe_dir import SafeDir

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
COUNT = 400


def test_nothing_is_lost_that_is_put_away_while_the_old_is_removed(tmp_path: Path) -> None:
    quarantine, is_over = Quarantine(SafeDir.open(tmp_path)), Event()

    def prune() -> int:
        rounds = 0
        while not is_over.is_set():
            quarantine.prune(now=NOON)
            rounds += 1
        return rounds

    def put() -> None:
        for number in range(COUNT):
            quarantine.put(_evidence(number), at=NOON)

    with ThreadPoolExecutor() as threads:
        pruning = threads.submit(prune)
        putting = threads.submit(put)
        try:
            putting.result(timeout=60)
        finally:
            is_over.set()
        assert pruning.result(timeout=60) > 0
    quarantine.close()

    kept = sorted(path.name for path in (tmp_path / "family").iterdir())
    assert len([name for name in kept if name.endswith(".reason.json")]) == COUNT
    assert len(kept) == 2 * COUNT


def test_what_a_crash_left_unfinished_goes_with_the_next_pruning(tmp_path: Path) -> None:
    quarantine = Quarantine(SafeDir.open(tmp_path))
    quarantine.put(_evidence(1), at=NOON)
    (tmp_path / "family" / ".0123456789abcdef.tmp").write_bytes(b"half")

    quarantine.prune(now=NOON)
    quarantine.close()

    assert [path.name for path in (tmp_path / "family").glob(".*")] == []


def _evidence(number: int) -> Evidence:
    return Evidence(
        box=BoxName("family"),
        directory="messages",
        name=f"{number:04}.json",
        raw=b"{",
        code="INVALID_REQUEST",
        message="no JSON",
        suggestion=None,
        request_id=None,
    )
