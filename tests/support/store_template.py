"""A store with the shipped schema, made once a test process: every further one is a copy.

Bringing an empty file up to date waits for the disk once a migration, which most tests are not about.
"""

import tempfile
from functools import cache
from pathlib import Path

from orchestrator.store.migrate import migrate, shipped_migrations
from orchestrator.store.opening import open_store


def lay_store(path: Path) -> None:
    """An empty store at `path`, up to date, as `Database.open` would make it; one that is there stays."""
    if not path.exists():
        path.write_bytes(_template())
        path.chmod(0o600)


@cache
def _template() -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "store.db"
        connection = open_store(path, cached_statements=1)
        migrate(connection, path=path, backups=Path(directory), migrations=shipped_migrations())
        connection.close()
        return path.read_bytes()
