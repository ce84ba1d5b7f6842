"""What the doctor says of the doors for programs and of the keys behind agents' tokens."""

import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orchestrator.cli.door_checks import check_doors, check_keys
from orchestrator.cli.findings import Health, Patient
from orchestrator.paths import Paths
from orchestrator.settings.api import ApiSettings
from orchestrator.settings.tree import Settings
from orchestrator.store.key_ring import open_ring


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    made = Paths(home=tmp_path)
    made.ensure()
    return made


def patient(paths: Paths, **api: object) -> Patient:
    """A home in which nothing runs."""
    return Patient(paths=paths, settings=Settings(api=ApiSettings.model_validate(api)), pid=None)


def test_a_port_that_another_program_has_is_a_warning_with_the_setting(paths: Paths) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        found = check_doors(patient(paths, port=other.getsockname()[1]))

    assert found.health is Health.WARNING
    assert found.mend == "Choose another in api.port of dovecote.toml, or stop that program."


def test_doors_that_are_shut_or_wide_open_are_told(paths: Paths) -> None:
    assert check_doors(patient(paths, loopback=False)).health is Health.OK
    assert check_doors(patient(paths, loopback=False, dev_mode=True)).health is Health.WARNING


def test_a_damaged_ring_of_keys_is_a_failure_and_a_good_one_is_not(paths: Paths) -> None:
    before = check_keys(patient(paths))
    open_ring(paths.keys, at=datetime(2026, 1, 1, tzinfo=UTC))
    good = check_keys(patient(paths))
    paths.keys.write_text("{")
    damaged = check_keys(patient(paths))

    assert (before.health, good.health, damaged.health) == (Health.OK, Health.OK, Health.FAILURE)
    assert damaged.mend
