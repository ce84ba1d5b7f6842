"""What a check of the doctor says."""

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings


class Health(StrEnum):
    """How bad it is. Only a failure makes the doctor's exit code 1."""

    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the doctor. mend: the command or the step that puts it right."""

    what: str
    health: Health
    why: str
    mend: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """What is looked at. settings are the defaults where they cannot be loaded; pid: who runs here."""

    paths: Paths
    settings: Settings
    pid: int | None


def well(what: str, why: str) -> Finding:
    """Nothing to do."""
    return Finding(what=what, health=Health.OK, why=why)


def well_for_now(what: str, why: str, other: str) -> Finding:
    """Nothing has to be done; `other` is what one may do."""
    return Finding(what=what, health=Health.OK, why=why, mend=other)


def doubtful(what: str, why: str, mend: str) -> Finding:
    """It works, but somebody may care."""
    return Finding(what=what, health=Health.WARNING, why=why, mend=mend)


def broken(what: str, why: str, mend: str | None) -> Finding:
    """It does not work until it is mended."""
    return Finding(what=what, health=Health.FAILURE, why=why, mend=mend)
