"""Faults of `workspaces.roots`."""

from pathlib import Path

import pytest

from orchestrator.cli.findings import Health
from orchestrator.cli.workspace_checks import workspace_findings
from orchestrator.settings.spawn import WorkspaceSettings
from orchestrator.settings.tree import Settings
from tests.edges.cli.doctor.conftest import SickHome, assert_names


def with_roots(*roots: str) -> Settings:
    return Settings(workspaces=WorkspaceSettings(roots=roots))


@pytest.mark.parametrize(
    ("root", "health", "why"),
    [
        ("/etc", Health.FAILURE, "/etc is a whole part of the system"),
        ("/no/such/place", Health.WARNING, "/no/such/place is no directory"),
        ("/usr/share/doc", Health.WARNING, "/usr/share/doc belongs to the system"),
    ],
)
def test_a_directory_that_helpers_are_not_to_have_is_named(
    home: SickHome, root: str, health: Health, why: str
) -> None:
    (finding,) = workspace_findings(home.patient(settings=with_roots(root)))

    assert_names(finding, health, why, "workspaces.roots")


def test_of_others_their_number_is_told(home: SickHome, tmp_path: Path) -> None:
    place = tmp_path.parent / f"{tmp_path.name}-project"
    place.mkdir()

    (finding,) = workspace_findings(home.patient(settings=with_roots(str(place))))

    assert finding.health is Health.OK
    assert finding.why.endswith(": 1.")
