"""Failures that are not a message's own: told once, and once more when they are over."""

import stat
from pathlib import Path

import pytest

from orchestrator.commands.chat_views import chat_view
from orchestrator.commands.running.holds import note_good_start, note_no_room
from orchestrator.contracts.ids import GroupFolder
from orchestrator.store import agents
from orchestrator.store.group_files import give_workspace
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT


async def test_a_full_disk_is_told_once_and_shown_until_an_agent_runs_again(desk: Desk) -> None:
    await desk.hear("m-1")
    chat = CHAT

    for _ in range(3):
        await desk.services.db.run(lambda tx: note_no_room(tx, desk.services, chat, at=desk.now))
    during = (await desk.texts(), (await chat_view(desk.services, chat, after=0)).held_by)
    held = await desk.start_agent("agent-1", turn="turn-1")
    agent = await desk.services.db.run(lambda tx: agents.get(tx, held.agent_id))
    assert agent is not None
    await desk.services.db.run(lambda tx: note_good_start(tx, desk.services, agent, at=desk.now))
    after = (await desk.texts(), (await chat_view(desk.services, chat, after=0)).held_by)

    assert [len(during[0]), during[1]] == [1, ("disk",)]
    assert "space" in during[0][0]
    assert [len(after[0]), after[1]] == [2, ()]


@pytest.mark.parametrize("name", ["AGENT.md", "senders.toml"])
@pytest.mark.parametrize("mode", [0o644, 0o600, 0o666])
def test_the_operators_text_is_private_whatever_a_checkout_made_of_it(
    tmp_path: Path, mode: int, name: str
) -> None:
    folder = tmp_path / "family"
    folder.mkdir()
    (folder / name).write_text("Be kind.")
    (folder / name).chmod(mode)

    give_workspace(tmp_path, GroupFolder("family"), uid=None, gid=None)

    assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
