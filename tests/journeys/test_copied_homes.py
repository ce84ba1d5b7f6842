"""A copy of a home, such as one restored beside it, and the home itself at work at once."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orchestrator.commands.keeping.backups import back_up
from orchestrator.commands.keeping.restoring import restore
from orchestrator.paths import Paths
from tests.support.home_on_disk import HomeOnDisk, once

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
RUNNERS = (pytest.param("process"), pytest.param("bubblewrap", marks=pytest.mark.bubblewrap))


@pytest.mark.parametrize("runner", RUNNERS)
async def test_a_restored_copy_ends_no_agent_of_the_home_it_came_from(tmp_path: Path, runner: str) -> None:
    home, copy = HomeOnDisk(tmp_path / "first"), HomeOnDisk(tmp_path / "second")
    home.set(agent__runner=runner)
    await home.add_group()
    home.play(once("dig", {"wait_for_file": "go"}, {"say": "done"}))

    async with home.running():
        home.ask("dig")
        await home.begun()
        await asyncio.to_thread(_copied, home.path, copy.path, tmp_path / "backup.tar.gz")
        copy.set(agent__runner=runner)
        async with copy.running():
            await copy.quiet()  # it does again what its own agent, which there never was, had begun
        (home.workspace() / "go").touch()
        await home.said("done")

    assert copy.texts() == ["re: @Assistant dig"]


def _copied(home: Path, to: Path, backup: Path) -> None:
    made = back_up(Paths(home=home), backup, with_secrets=False, at=NOON)
    restore(Paths(home=to), made.path, at=NOON)
