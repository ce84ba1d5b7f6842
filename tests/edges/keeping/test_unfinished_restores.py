"""A restore that was killed at any step loses nothing, starts no empty store, and is finished by the next."""

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from orchestrator.commands.keeping.backups import back_up
from orchestrator.commands.keeping.restoring import restore
from orchestrator.contracts.errors import DovecoteError, ErrorCode, InvalidRequest
from orchestrator.paths import Paths
from orchestrator.store.opening import open_store
from orchestrator.store.unfinished_restore import MARKER
from tests.support.broken_restore import AT
from tests.support.store_template import lay_store

STEPS: Final = range(1, 20)
"""More than a restore has."""
REPEATED: Final = range(1, 36)
"""More than a repeated one has, which puts back first."""
ASIDE: Final = "before-restore-20260301T120000Z"
OF_BOTH: Final = ("dovecote.toml", "groups/g/AGENT.md", "data/sessions/g/talk", "data/store/secrets/openai")


def _lay(home: Path, word: str, *more: str) -> Paths:
    """A home in which every file and the store say `word`."""
    paths = Paths(home=home)
    paths.ensure()
    lay_store(paths.database)
    with closing(sqlite3.connect(paths.database)) as store:
        store.execute("INSERT INTO facts VALUES ('word', ?)", (word,))
        store.commit()
    for name in (*OF_BOTH, *more):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(word)
    return paths


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a home that says `saved`, with a file that the home it is restored to has not."""
    root = tmp_path_factory.mktemp("saved")
    saved = _lay(root / "home", "saved", "providers.toml")
    return back_up(saved, root / "b.tar.gz", with_secrets=True, at=AT).path


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that says `live`; agents ask for something in it."""
    return _lay(tmp_path_factory.mktemp("live") / "home", "live", "data/ipc/g/request").home


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory, backup: Path, live: Path) -> Path:
    """The same, after a restore was killed when the store was set aside and none was in its place."""
    homes = _copies(live, tmp_path_factory.mktemp("half"), STEPS)
    _break(backup, zip(homes, STEPS, strict=True), is_killed=True)
    return next(paths.home for paths in homes if not paths.database.exists())


def _copies(home: Path, root: Path, steps: range) -> Sequence[Paths]:
    made = [Paths(home=root / f"home-{step}") for step in steps]
    for each in made:
        shutil.copytree(home, each.home)
    return made


def _break(backup: Path, restores: Iterable[tuple[Paths, int]], *, is_killed: bool) -> list[str]:
    plain = [(str(paths.home), step, is_killed) for paths, step in restores]
    ended = subprocess.run(
        [sys.executable, "-m", "tests.support.broken_restore"],
        input=json.dumps({"backup": str(backup), "restores": plain}),
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    told: list[str] = json.loads(ended.stdout)
    return told


def _said(root: Path) -> Mapping[str, str]:
    """What the files and the store below a home, or what was set aside of one, say."""
    found = {
        name: (root / name).read_text()
        for name in (*OF_BOTH, "providers.toml", "data/ipc/g/request")
        if (root / name).exists()
    }
    if (root / "data/store/dovecote.db").exists():
        with closing(sqlite3.connect(root / "data/store/dovecote.db")) as store:
            ((found["store"],),) = store.execute("SELECT value FROM facts WHERE name = 'word'")
    return found


SAVED: Final = dict.fromkeys((*OF_BOTH, "providers.toml", "store"), "saved")
LIVE: Final = dict.fromkeys((*OF_BOTH, "data/ipc/g/request", "store"), "live")
MOVES: Final = 1 + len(LIVE) + len(SAVED) + 3 + 1
"""The note comes; what is there goes aside, what is saved comes, with three empty folders; the note goes."""


def _asides(paths: Paths) -> list[str]:
    """The folders that keep something."""
    return [path.name for path in paths.home.glob("before-restore-*") if any(path.iterdir())]


def _assert_finished(paths: Paths) -> None:
    assert _said(paths.home) == SAVED
    (aside,) = _asides(paths)
    assert _said(paths.home / aside) == LIVE
    assert not (paths.store / MARKER).exists()
    assert not list(paths.home.glob(".restoring-*"))
    open_store(paths.database, cached_statements=1).close()


def _assert_not_started(paths: Paths) -> None:
    had_store = paths.database.exists()
    with pytest.raises(DovecoteError) as refused:
        open_store(paths.database, cached_statements=1)
    assert refused.value.code is ErrorCode.STORE_UNAVAILABLE
    assert "dovecote restore" in (refused.value.suggestion or "")
    assert ASIDE in refused.value.message
    assert paths.database.exists() == had_store


def test_killed_at_any_step_it_keeps_all_in_one_place_and_the_next_one_finishes_it(
    backup: Path, live: Path, tmp_path: Path
) -> None:
    homes = _copies(live, tmp_path, STEPS)

    ends = _break(backup, zip(homes, STEPS, strict=True), is_killed=True)

    killed = [paths for paths, end in zip(homes, ends, strict=True) if end == "killed"]
    assert ends == ["killed"] * len(killed) + ["done"] * (len(STEPS) - len(killed))
    assert len(killed) == MOVES
    untouched, *others = killed
    assert _said(untouched.home) == LIVE
    assert not (untouched.store / MARKER).exists()
    for paths in others:
        _assert_not_started(paths)
    for paths in killed:
        restore(paths, backup, at=AT)
        _assert_finished(paths)


def test_killed_while_the_store_is_set_aside_and_again_at_any_step_it_is_finished_by_the_third(
    backup: Path, half: Path, tmp_path: Path
) -> None:
    some = REPEATED[::2]
    homes = _copies(half, tmp_path, some)

    ends = _break(backup, zip(homes, some, strict=True), is_killed=True)

    assert "killed" in ends
    assert "done" in ends
    for paths, end in zip(homes, ends, strict=True):
        if end == "killed":
            _assert_not_started(paths)
            restore(paths, backup, at=AT)
        _assert_finished(paths)
        assert _asides(paths) == [ASIDE]


def test_what_a_disk_refuses_leaves_the_home_as_it_was_and_no_note(
    backup: Path, live: Path, tmp_path: Path
) -> None:
    homes = _copies(live, tmp_path, STEPS)

    ends = _break(backup, zip(homes, STEPS, strict=True), is_killed=False)

    refused = [paths for paths, end in zip(homes, ends, strict=True) if end == "refused"]
    assert len(refused) == MOVES
    *unmoved, ended = refused
    for paths in unmoved:
        assert _said(paths.home) == LIVE
        assert not (paths.store / MARKER).exists()
        open_store(paths.database, cached_statements=1).close()
    _assert_not_started(ended)  # all is in place, but the note could not be removed


def test_a_repeat_that_fails_changes_nothing_and_leaves_the_note(
    backup: Path, half: Path, tmp_path: Path
) -> None:
    some = REPEATED[::3]
    homes, before = _copies(half, tmp_path, some), _said(half)
    cut = tmp_path / "cut"
    cut.write_bytes(backup.read_bytes()[:-100])

    ends = _break(backup, zip(homes, some, strict=True), is_killed=False)
    *refused, ended = [paths for paths, end in zip(homes, ends, strict=True) if end == "refused"]
    with pytest.raises(InvalidRequest):
        restore(refused[0], cut, at=AT)

    assert refused
    _assert_not_started(ended)
    for paths in refused:
        assert _said(paths.home) == before
        _assert_not_started(paths)


def test_of_a_half_restored_home_there_is_no_backup(half: Path, tmp_path: Path) -> None:
    with pytest.raises(DovecoteError, match="did not end"):
        back_up(Paths(home=half), tmp_path / "b", with_secrets=False, at=AT)


def test_a_backup_without_credentials_finishes_what_one_with_them_began(
    backup: Path, live: Path, tmp_path: Path
) -> None:
    (last,) = _copies(live, tmp_path, range(1))
    _break(backup, [(last, MOVES)], is_killed=True)
    assert (last.secrets / "openai").read_text() == "saved"
    plain = back_up(Paths(home=backup.with_name("home")), tmp_path / "plain", with_secrets=False, at=AT).path

    restore(last, plain, at=AT)

    assert _said(last.home) == SAVED | {"data/store/secrets/openai": "live"}


def test_a_credential_that_was_set_meanwhile_is_no_part_of_what_is_put_back(
    backup: Path, live: Path, tmp_path: Path
) -> None:
    (paths,) = _copies(live, tmp_path, range(1))
    shutil.rmtree(paths.secrets)
    plain = back_up(Paths(home=backup.with_name("home")), tmp_path / "plain", with_secrets=False, at=AT).path
    _break(plain, [(paths, 4)], is_killed=True)
    paths.secrets.mkdir()
    (paths.secrets / "openai").write_text("new")

    restore(paths, plain, at=AT)

    assert (paths.secrets / "openai").read_text() == "new"
