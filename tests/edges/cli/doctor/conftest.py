"""A home that a fault is put into, and what the doctor says of it."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from orchestrator.app.parts import SystemClock
from orchestrator.cli.findings import Finding, Health, Patient
from orchestrator.cli.standing_checks import standing_findings
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings
from orchestrator.store.opening import open_store
from orchestrator.store.transaction import Transaction
from tests.support.store_template import lay_store

RUNS: Final = 4711
"""The process of an orchestrator, as far as those checks go that only look at the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SickHome:
    """A home with its directories and an empty store of the present schema."""

    paths: Paths
    now: datetime = field(default_factory=SystemClock().now)

    def ago(self, **span: float) -> datetime:
        """An instant before this test began, such as `ago(hours=2)`."""
        return self.now - timedelta(**span)

    def fill(self, *bodies: Callable[[Transaction], object]) -> None:
        """Let each of `bodies` write into the store."""
        with closing(open_store(self.paths.database, cached_statements=1)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            for body in bodies:
                body(Transaction(connection))
            connection.execute("COMMIT")

    def patient(self, *, pid: int | None = RUNS, settings: Settings | None = None) -> Patient:
        """As the doctor sees it."""
        return Patient(paths=self.paths, settings=settings or Settings(), pid=pid)

    def standing(self, what: str, *, pid: int | None = RUNS, settings: Settings | None = None) -> Finding:
        """The one finding of this name among those on how all stands."""
        found = standing_findings(self.patient(pid=pid, settings=settings))
        (named,) = [each for each in found if each.what == what]
        return named


@pytest.fixture
def home(tmp_path: Path) -> SickHome:
    paths = Paths(home=tmp_path)
    paths.ensure()
    lay_store(paths.database)
    return SickHome(paths=paths)


def assert_names(finding: Finding, health: Health, why: str, mend: str) -> None:
    """The finding is as bad as that, and its cause and what mends it hold these words."""
    assert (finding.health, why in finding.why, mend in (finding.mend or "")) == (health, True, True), finding
