"""The file with the keys that sign session tokens."""

import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier

import pytest

from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.store.key_ring import KeyRing, open_ring, rotate

AT = datetime(2026, 1, 1, tzinfo=UTC)
MONTH = timedelta(days=30)
DAY = timedelta(days=1)


def test_a_ring_is_made_once_and_is_the_same_for_everybody_after_that(tmp_path: Path) -> None:
    made = open_ring(tmp_path / "keys", at=AT)

    assert open_ring(tmp_path / "keys", at=AT + MONTH) == made
    assert len(made.newest.secret) == 32
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["keys"]


def test_who_opens_it_at_the_same_time_is_given_the_same_ring(tmp_path: Path) -> None:
    for number in range(20):
        path, together = tmp_path / f"keys-{number}", Barrier(4)

        def open_one(_: int, path: Path = path, together: Barrier = together) -> KeyRing:
            together.wait(timeout=30)
            return open_ring(path, at=AT)

        with ThreadPoolExecutor(4) as threads:
            rings = list(threads.map(open_one, range(4)))

        assert rings == [open_ring(path, at=AT)] * 4
    assert len(list(tmp_path.iterdir())) == 20


def test_a_ring_that_others_could_read_is_shut_again(tmp_path: Path) -> None:
    made = open_ring(tmp_path / "keys", at=AT)
    (tmp_path / "keys").chmod(0o644)

    assert open_ring(tmp_path / "keys", at=AT) == made
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o600


def test_keys_are_turned_in_time_and_never_before(tmp_path: Path) -> None:
    first = open_ring(tmp_path / "keys", at=AT)

    same = rotate(tmp_path / "keys", at=AT + MONTH - timedelta(seconds=1), every=MONTH, keep_for=DAY)
    turned = rotate(tmp_path / "keys", at=AT + MONTH, every=MONTH, keep_for=DAY)
    kept = rotate(tmp_path / "keys", at=AT + MONTH + timedelta(hours=23), every=MONTH, keep_for=DAY)
    rid = rotate(tmp_path / "keys", at=AT + MONTH + DAY, every=MONTH, keep_for=DAY)

    assert same == first
    assert [key.key_id for key in turned.keys][:1] == [first.newest.key_id]
    assert len(turned.keys) == 2
    assert kept == turned
    assert rid.keys == (turned.newest,)
    assert open_ring(tmp_path / "keys", at=AT) == rid


def test_a_clock_that_was_set_back_drops_no_key(tmp_path: Path) -> None:
    first = open_ring(tmp_path / "keys", at=AT)

    assert rotate(tmp_path / "keys", at=AT - 10 * MONTH, every=MONTH, keep_for=DAY) == first


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b"[]",
        b'{"keys": []}',
        b'{"keys": [{"id": "k", "secret": "00", "made_ms": 0}]}',
        b'{"keys": [{"id": "k", "secret": "zz", "made_ms": 0}]}',
        b"\xff\xfe",
    ],
)
def test_a_damaged_ring_is_told_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "keys").write_bytes(content)

    with pytest.raises(DovecoteError) as refused:
        open_ring(tmp_path / "keys", at=AT)

    assert refused.value.code is ErrorCode.STORE_UNAVAILABLE
    assert "start the orchestrator again" in str(refused.value)
    assert (tmp_path / "keys").read_bytes() == content


def test_a_link_in_the_rings_place_is_not_followed(tmp_path: Path) -> None:
    open_ring(tmp_path / "elsewhere", at=AT)
    (tmp_path / "keys").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(DovecoteError):
        open_ring(tmp_path / "keys", at=AT)


def test_a_ring_shows_its_secrets_to_nobody_who_prints_it(tmp_path: Path) -> None:
    ring = open_ring(tmp_path / "keys", at=AT)

    assert ring.newest.secret.hex() not in repr(ring)
    assert repr(ring.newest.secret) not in repr(ring)
