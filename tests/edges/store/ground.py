"""The ground that a container may write, and what must stay out of its reach."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.store.safe_dir import SafeDir


@pytest.fixture
def ground(tmp_path: Path) -> Path:
    """The directory a container may write."""
    path = tmp_path / "ground"
    path.mkdir()
    return path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory that is none of its business, with a file in it."""
    path = tmp_path / "outside"
    path.mkdir()
    (path / "secret.json").write_text("secret")
    return path


@pytest.fixture
def safe(ground: Path) -> Iterator[SafeDir]:
    """The ground, opened."""
    with SafeDir.open(ground) as opened:
        yield opened
