"""A store of a small schema of its own, in a directory that is removed."""

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from orchestrator.store.database import Database
from orchestrator.store.migrate import Migration
from tests.agreement.runners.conftest import lacking

SCHEMA = (
    Migration(
        number=1,
        name="notes",
        sql="CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, pad BLOB) STRICT;",
    ),
)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """An open store with an empty table `notes`."""
    opened = await Database.open(
        tmp_path / "store.db", backups=tmp_path / "backups", on_wake=None, migrations=SCHEMA
    )
    yield opened
    await opened.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode != 0:
        lacking("a small disk can be mounted by root only")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)
