"""What is no service of this home is not stopped and not removed."""

import os
from pathlib import Path

import pytest

from orchestrator.commands.keeping.service_units import Systemd, uninstall, unit_for
from orchestrator.contracts.errors import Conflict


@pytest.fixture
def systemd(tmp_path: Path) -> Systemd:
    """A user's own, without units."""
    made = Systemd(is_system=False, units=tmp_path / "units")
    made.units.mkdir()
    return made


def test_a_unit_that_is_not_ours_stays(systemd: Systemd, tmp_path: Path) -> None:
    systemd.unit.write_text("[Service]\nExecStart=/bin/true\n")

    with pytest.raises(Conflict, match="no unit of Dovecote's"):
        uninstall(tmp_path, systemd)

    assert systemd.unit.read_text() == "[Service]\nExecStart=/bin/true\n"


def test_the_service_of_another_home_stays_and_how_it_is_removed_is_said(
    systemd: Systemd, tmp_path: Path
) -> None:
    other = tmp_path / "other home"
    other.mkdir()
    text = unit_for(other, systemd, grace_s=20, environment=os.environ)
    systemd.unit.write_text(text)

    with pytest.raises(Conflict, match="nothing was removed") as refused:
        uninstall(tmp_path, systemd)

    assert f"dovecote service uninstall --home '{other}'" in (refused.value.suggestion or "")
    assert systemd.unit.read_text() == text


def test_where_there_is_none_nothing_has_to_be_done(systemd: Systemd, tmp_path: Path) -> None:
    assert uninstall(tmp_path, systemd) is False
