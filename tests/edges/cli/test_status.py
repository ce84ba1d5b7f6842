"""`dovecote status` at a running orchestrator and on the store."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli.home import open_home, open_home_to_ask
from orchestrator.cli.status import report_of
from orchestrator.contracts.errors import InvalidSettings
from orchestrator.paths import Paths
from orchestrator.store.instance_lock import InstanceLock
from tests.edges.api.conftest import served_at
from tests.edges.cli.conftest import Dovecote
from tests.support.store_rows import add_group, add_message


async def test_it_is_the_same_whether_the_orchestrator_says_it_or_the_store(home: Path) -> None:
    opened = open_home(home)
    opened.paths.ensure()
    with InstanceLock.acquire(opened.paths.lock, pid=os.getpid()):
        async with served_at(opened.paths) as served:
            await served.services.db.run(lambda tx: (add_group(tx), add_message(tx)))
            up = await report_of(opened)
    down = await report_of(opened)

    same_moment = replace(up.standing, at=down.standing.at)
    assert replace(up, standing=same_moment) == down
    assert [each.folder for each in up.standing.groups] == ["main", "family"]
    assert up.standing.waiting.count == 1


def test_a_home_that_was_never_used_is_shown_and_nothing_is_made_in_it(
    home: Path, dovecote: Dovecote
) -> None:
    shown = dovecote("status")

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[0] == f"orchestrator  none runs here; home {home}"
    assert list(home.iterdir()) == []


def test_who_runs_can_be_asked_while_the_settings_for_the_next_start_are_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = Paths(home=tmp_path)
    paths.ensure()
    (tmp_path / "dovecote.toml").write_text("[queue]\nmax_running = 0\n")

    with pytest.raises(InvalidSettings):
        open_home_to_ask(tmp_path)
    with InstanceLock.acquire(paths.lock, pid=os.getpid()):
        asked = open_home_to_ask(tmp_path)

    assert asked.paths.home == tmp_path
    assert "dovecote config" in capsys.readouterr().err
