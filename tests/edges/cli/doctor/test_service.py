"""Faults of the service of systemd: case J12, and a unit that another installation wrote."""

import os
import pwd
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli.findings import Health
from orchestrator.cli.service import without_service
from orchestrator.cli.service_checks import judge_service, judge_state
from orchestrator.commands.keeping.service_units import ServiceState, Systemd, unit_for
from tests.edges.cli.doctor.conftest import SickHome, assert_names


def written(home: SickHome, served: Path) -> Systemd:
    """A systemd that has a unit of this installation for `served`, whose user does not linger here."""
    systemd = Systemd(is_system=False, units=home.paths.home / "units")
    systemd.units.mkdir(exist_ok=True)
    systemd.unit.write_text(unit_for(served, systemd, grace_s=20, environment=os.environ))
    return systemd


def systemd_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, runs: bool) -> Systemd:
    """A systemd without our unit that runs the machine, or does not."""
    (tmp_path / "systemctl").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    booted = tmp_path if runs else tmp_path / "not-booted"
    return Systemd(is_system=False, units=tmp_path / "none", booted=booted)


def test_a_home_without_a_service_is_told_how_it_gets_one(
    home: SickHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    systemd = systemd_here(tmp_path, monkeypatch, runs=True)

    found = judge_service(home.patient(), [systemd])

    assert (found.health, "dovecote service install" in found.why) == (Health.OK, True)
    assert without_service(systemd) == "There is no service. Make one: dovecote service install"
    assert "install --system" in without_service(replace(systemd, is_system=True))


def test_where_systemd_is_not_nobody_is_told_to_install_a_service(
    home: SickHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    systemd = systemd_here(tmp_path, monkeypatch, runs=False)

    found = judge_service(home.patient(), [systemd])

    assert found.health is Health.OK
    assert "systemd does not run this machine" in found.why
    assert "service install" not in found.why
    assert "Have `dovecote serve` started by whatever keeps programs running here" in without_service(systemd)


def test_a_service_of_another_home_is_no_finding(home: SickHome, tmp_path: Path) -> None:
    found = judge_service(home.patient(), [written(home, served=tmp_path / "elsewhere")])

    assert found.health is Health.OK


def test_a_unit_of_an_installation_that_is_no_more_is_a_failure(home: SickHome) -> None:
    systemd = written(home, served=home.paths.home)
    text = systemd.unit.read_text().replace('ExecStart="', 'ExecStart="/gone')
    systemd.unit.write_text(text)

    found = judge_service(home.patient(), [systemd])

    assert_names(found, Health.FAILURE, "starts another installation", "dovecote service install")
    assert "/gone" in found.why


@pytest.mark.parametrize(
    ("active", "enabled", "is_lingering", "health", "why", "mend"),
    [
        ("active", "enabled", True, Health.OK, "serves this home", ""),
        ("unknown", "unknown", True, Health.OK, "serves this home", ""),
        (
            "active",
            "enabled",
            False,
            Health.WARNING,
            "ends when this user logs out",
            "loginctl enable-linger",
        ),
        ("failed", "enabled", True, Health.WARNING, "is failed", "systemctl --user restart dovecote.service"),
        ("active", "disabled", True, Health.WARNING, "not start at boot", "dovecote service install"),
    ],
)
def test_j12_a_service_that_would_end_at_log_out_or_does_not_run_is_named(
    active: str, enabled: str, is_lingering: bool, health: Health, why: str, mend: str
) -> None:
    systemd = Systemd(is_system=False, units=Path("/units"))
    state = ServiceState(
        unit=systemd.unit, home="/home", active=active, enabled=enabled, is_lingering=is_lingering
    )

    assert_names(judge_state(state, systemd), health, why, mend)


@pytest.mark.parametrize(
    ("is_lingering", "health", "why", "mend"),
    [
        (False, Health.WARNING, "ends when this user logs out", "loginctl enable-linger"),
        (True, Health.OK, "serves this home", ""),
    ],
)
def test_j12_the_doctor_looks_whether_the_user_of_its_own_service_lingers(
    home: SickHome,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    is_lingering: bool,
    health: Health,
    why: str,
    mend: str,
) -> None:
    if is_lingering:
        (tmp_path / pwd.getpwuid(os.geteuid()).pw_name).touch()
    systemd = replace(written(home, served=home.paths.home), lingerers=tmp_path)
    monkeypatch.setenv("PATH", "")  # no systemctl: what this machine's systemd thinks is not asked

    found = judge_service(home.patient(), [systemd])

    assert_names(found, health, why, mend)
