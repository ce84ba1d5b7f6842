"""A backup holds the whole home as it was, beside whoever uses it, and puts it back whole or not at all."""

import hashlib
import io
import json
import os
import sqlite3
import stat
import tarfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.commands.keeping.backups import back_up
from orchestrator.commands.keeping.restoring import restore
from orchestrator.contracts.errors import DovecoteError, ErrorCode, InvalidRequest, NotFound
from orchestrator.paths import Paths
from orchestrator.store.database import Database
from orchestrator.store.instance_lock import InstanceLock
from orchestrator.store.migrate import shipped_migrations
from tests.support.store_rows import NOON, add_group, add_message
from tests.support.store_template import lay_store

SECRET = "canary-of-a-key"


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A home with a store, a group with a file, a session home, and a credential."""
    return _used_home(tmp_path / "home")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of such a home."""
    directory = tmp_path_factory.mktemp("whole")
    made = back_up(_used_home(directory / "home"), directory / "b", with_secrets=False, at=NOON)
    return made.path


def _used_home(home: Path) -> Paths:
    made = Paths(home=home)
    made.ensure()
    lay_store(made.database)
    workspace = made.groups / "family" / "workspace"
    workspace.mkdir(parents=True)
    (workspace / "notes.md").write_text("milk\n")
    (workspace / "run.sh").write_text("#!/bin/sh\n")
    (workspace / "run.sh").chmod(0o755)
    (workspace / "empty").mkdir()
    (made.sessions / "family").mkdir()
    (made.sessions / "family" / "transcript.jsonl").write_text("{}\n")
    made.settings_file.write_text('timezone = "Europe/Berlin"\n')
    made.secrets.mkdir()
    (made.secrets / "openai").write_text(SECRET)
    return made


def _files(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


def _texts(database: Path) -> list[str]:
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as store:
        return [text for (text,) in store.execute("SELECT text FROM messages ORDER BY seq")]


def _facts(database: Path) -> list[str]:
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as store:
        return [name for (name,) in store.execute("SELECT name FROM facts")]


async def test_j9_a_backup_taken_while_the_store_is_written_puts_back_that_instant(paths: Paths) -> None:
    database = await Database.open(paths.database, backups=paths.backups, on_wake=None)
    try:
        await database.run(add_group)
        await database.run(lambda tx: add_message(tx, "m-1", "before"))
        made = back_up(paths, None, with_secrets=False, at=NOON)
        await database.run(lambda tx: add_message(tx, "m-2", "after"))
    finally:
        await database.close()
    (paths.groups / "family" / "workspace" / "notes.md").write_text("overwritten")
    (paths.ipc / "family").mkdir()

    restored = restore(paths, made.path, at=NOON)

    assert _texts(paths.database) == ["before"]
    assert _files(paths.groups)["family/workspace/notes.md"] == "milk\n"
    assert (paths.groups / "family" / "workspace" / "empty").is_dir()
    assert stat.S_IMODE((paths.groups / "family" / "workspace" / "run.sh").stat().st_mode) == 0o755
    assert _files(paths.sessions) == {"family/transcript.jsonl": "{}\n"}
    assert not (paths.ipc / "family").exists()  # what agents asked of the later state
    assert restored.aside == paths.home / "before-restore-20260301T120000Z"
    assert _texts(restored.aside / "data/store/dovecote.db") == ["before", "after"]
    assert _files(restored.aside / "groups")["family/workspace/notes.md"] == "overwritten"


def test_a_backup_is_its_owners_alone_and_has_its_name_only_when_it_is_whole(paths: Paths) -> None:
    made = back_up(paths, None, with_secrets=False, at=NOON)

    assert made.path == paths.backups / "dovecote-20260301T120000Z.tar.gz"
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert os.listdir(paths.backups) == [made.path.name]


def test_what_a_killed_writer_left_in_the_journal_goes_aside_and_not_into_what_is_restored(
    paths: Paths,
) -> None:
    made = back_up(paths, None, with_secrets=False, at=NOON)
    with closing(sqlite3.connect(paths.database)) as store:
        store.execute("PRAGMA journal_mode = WAL")
        store.execute("INSERT INTO facts VALUES ('later', 'yes')")
        store.commit()
        killed = {path.name: path.read_bytes() for path in paths.store.glob("dovecote.db*")}
    for name, raw in killed.items():
        (paths.store / name).write_bytes(raw)

    restored = restore(paths, made.path, at=NOON)

    assert "dovecote.db-wal" in killed
    assert restored.aside is not None
    assert _facts(paths.database) == []
    assert _facts(restored.aside / "data/store/dovecote.db") == ["later"]


def test_credentials_are_in_a_backup_only_when_asked_for(paths: Paths, tmp_path: Path) -> None:
    plain = back_up(paths, tmp_path / "plain.tar.gz", with_secrets=False, at=NOON)
    full = back_up(paths, tmp_path / "full.tar.gz", with_secrets=True, at=NOON)

    with tarfile.open(plain.path) as tar:
        assert not any("secrets" in name for name in tar.getnames())
    other = Paths(home=tmp_path / "other")
    restore(other, full.path, at=NOON)
    assert (other.secrets / "openai").read_text() == SECRET
    assert stat.S_IMODE(other.secrets.stat().st_mode) == stat.S_IMODE(paths.secrets.stat().st_mode)


def test_a_backup_without_credentials_leaves_those_of_the_home(paths: Paths) -> None:
    made = back_up(paths, None, with_secrets=False, at=NOON)

    restore(paths, made.path, at=NOON)

    assert (paths.secrets / "openai").read_text() == SECRET


def test_into_an_unused_home_nothing_is_set_aside(paths: Paths, tmp_path: Path) -> None:
    made = back_up(paths, None, with_secrets=False, at=NOON)
    other = Paths(home=tmp_path / "other")

    restored = restore(other, made.path, at=NOON)

    assert restored.aside is None
    assert other.settings_file.read_text() == 'timezone = "Europe/Berlin"\n'
    assert _files(other.groups) == _files(paths.groups)
    assert sorted(os.listdir(other.home)) == ["data", "dovecote.toml", "groups"]


def test_attack_what_an_agent_put_in_the_way_is_left_out_and_named(paths: Paths, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("private")
    workspace = paths.groups / "family" / "workspace"
    (workspace / "link").symlink_to(outside)
    (workspace / "directory").symlink_to(tmp_path)
    os.link(outside, workspace / "second-name")
    os.mkfifo(workspace / "pipe")

    made = back_up(paths, None, with_secrets=False, at=NOON)

    assert set(made.manifest.left_out.paths) == {
        f"groups/family/workspace/{name}" for name in ("link", "directory", "second-name", "pipe")
    }
    assert made.manifest.left_out.count == 4
    with tarfile.open(made.path) as tar:
        assert not {name.rpartition("/")[2] for name in tar.getnames()} & {"link", "second-name", "pipe"}


def test_a_home_in_use_is_not_replaced(paths: Paths) -> None:
    made = back_up(paths, None, with_secrets=False, at=NOON)

    with (
        InstanceLock.acquire(paths.lock, pid=os.getpid()),
        pytest.raises(DovecoteError) as refused,
    ):
        restore(paths, made.path, at=NOON)

    assert refused.value.code is ErrorCode.ALREADY_RUNNING
    assert refused.value.suggestion == (
        f"Nothing was changed. Stop it with `kill {os.getpid()}` first, "
        "or restore into another home with --to."
    )


def test_nothing_takes_the_place_of_a_file_that_is_there(paths: Paths, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")

    with pytest.raises(InvalidRequest, match="there already"):
        back_up(paths, taken, with_secrets=False, at=NOON)

    assert taken.read_text() == "mine"


def test_a_backup_into_what_is_backed_up_is_refused(paths: Paths) -> None:
    with pytest.raises(InvalidRequest, match="backed up itself"):
        back_up(paths, paths.groups / "family" / "b.tar.gz", with_secrets=False, at=NOON)


def test_a_folder_that_is_not_there_is_not_made_for_a_backup_nor_for_a_home(
    paths: Paths, tmp_path: Path
) -> None:
    gone = tmp_path / "disk"
    made = back_up(paths, None, with_secrets=False, at=NOON)

    with pytest.raises(NotFound, match=f"There is no folder {gone}"):
        back_up(paths, gone / "b.tar.gz", with_secrets=False, at=NOON)
    with pytest.raises(DovecoteError, match=f"{gone}/home cannot be used: No such file"):
        restore(Paths(home=gone / "home"), made.path, at=NOON)

    assert not gone.exists()


def test_of_an_unused_home_there_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        back_up(Paths(home=tmp_path), None, with_secrets=False, at=NOON)

    assert os.listdir(tmp_path) == []


def _rewrite(
    path: Path, change: Callable[[tarfile.TarInfo, bytes], tuple[tarfile.TarInfo, bytes] | None]
) -> None:
    """The same backup with each member as `change` says; None takes it out."""
    with tarfile.open(path) as tar:
        members = [(info, _content(tar, info)) for info in tar.getmembers()]
    with tarfile.open(path, "w:gz") as tar:
        for info, raw in members:
            changed = change(info, raw)
            if changed is not None:
                changed[0].size = len(changed[1])
                tar.addfile(changed[0], io.BytesIO(changed[1]))


def _content(tar: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    read = tar.extractfile(info)
    return b"" if read is None else read.read()


def _with_more(info: tarfile.TarInfo, raw: bytes = b"") -> Callable[[Path], None]:
    """One more member, which the manifest knows."""

    def spoil(path: Path) -> None:
        with tarfile.open(path) as tar:
            members = [(each, _content(tar, each)) for each in tar.getmembers()]
        *files, (last, manifest) = members
        plain = json.loads(manifest)
        if info.isreg():
            plain["members"][info.name] = [hashlib.sha256(raw).hexdigest(), len(raw)]
        with tarfile.open(path, "w:gz") as tar:
            for each, content in [*files, (info, raw), (last, json.dumps(plain).encode())]:
                each.size = len(content)
                tar.addfile(each, io.BytesIO(content))

    return spoil


def _member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def _something_else(path: Path) -> None:
    path.write_bytes(b"hello")


def _flip(path: Path) -> None:
    _rewrite(path, lambda info, raw: (info, raw[:-1] + b"!" if info.name.endswith("notes.md") else raw))


def _without_manifest(path: Path) -> None:
    _rewrite(path, lambda info, raw: None if info.name == "manifest.json" else (info, raw))


def _without_notes(path: Path) -> None:
    _rewrite(path, lambda info, raw: None if info.name.endswith("notes.md") else (info, raw))


def _newer(path: Path) -> None:
    newer = len(shipped_migrations()) + 1

    def change(info: tarfile.TarInfo, raw: bytes) -> tuple[tarfile.TarInfo, bytes]:
        is_manifest = info.name == "manifest.json"
        return info, json.dumps(json.loads(raw) | {"schema": newer}).encode() if is_manifest else raw

    _rewrite(path, change)


SPOILT: Mapping[str, tuple[Callable[[Path], None], str]] = {
    "cut off": (_cut, "cannot be read|cut off"),
    "one byte changed": (_flip, "not what was saved"),
    "a file taken out": (_without_notes, "missing"),
    "no manifest": (_without_manifest, "cut off"),
    "no archive": (_something_else, "cannot be read"),
    "a newer schema": (_newer, "schema version"),
    "an absolute path": (_with_more(_member("/etc/canary"), b"x"), "no place in a home"),
    "a way up": (_with_more(_member("groups/../../canary"), b"x"), "no place in a home"),
    "another place": (_with_more(_member("data/store/lock"), b"x"), "no place in a home"),
    "a link": (_with_more(_member("groups/l", tarfile.SYMTYPE, "/etc")), "neither a file"),
    "a hard link": (_with_more(_member("groups/l", tarfile.LNKTYPE, "/etc/passwd")), "neither a file"),
    "a device": (_with_more(_member("groups/d", tarfile.CHRTYPE)), "neither a file"),
    "a name twice": (_with_more(_member("groups/family/workspace/notes.md"), b"x"), "where nothing may"),
}


@pytest.mark.parametrize("kind", SPOILT)
def test_attack_of_what_is_no_whole_backup_of_ours_nothing_is_taken(
    paths: Paths, whole: Path, tmp_path: Path, kind: str
) -> None:
    spoil, why = SPOILT[kind]
    backup = tmp_path / "b.tar.gz"
    backup.write_bytes(whole.read_bytes())
    spoil(backup)
    (paths.groups / "family" / "workspace" / "notes.md").write_text("as it is now")
    before = _files(paths.groups)

    with pytest.raises(InvalidRequest, match=why):
        restore(paths, backup, at=NOON)

    assert _files(paths.groups) == before
    assert sorted(os.listdir(paths.home)) == ["data", "dovecote.toml", "groups"]
    assert sorted(os.listdir(tmp_path)) == ["b.tar.gz", "home"]


def test_what_a_killed_restore_left_is_gone_after_the_next(paths: Paths) -> None:
    made = back_up(paths, None, with_secrets=False, at=NOON)
    (paths.home / ".restoring-killed" / "groups").mkdir(parents=True)

    restore(paths, made.path, at=NOON)

    assert not [name for name in os.listdir(paths.home) if name.startswith(".restoring")]
