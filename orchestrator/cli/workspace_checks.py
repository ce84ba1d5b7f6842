"""The doctor's look at `workspaces.roots`: what helpers are given of the machine by the settings."""

from typing import Final

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.commands.spawning.spawn_places import why_no_workspace
from orchestrator.core.sandbox.mount_rules import doubt_about
from orchestrator.store.mount_sources import resolved_directory

_WHAT: Final = "workspaces"
_MEND: Final = "Take it out of workspaces.roots in dovecote.toml, or name a directory below it."


def workspace_findings(patient: Patient) -> list[Finding]:
    """One finding a directory that is refused, odd or not there; else one that says how many there are."""
    roots = patient.settings.workspaces.roots
    found = [finding for root in roots if (finding := _finding(patient, root)) is not None]
    return found or [well(_WHAT, f"Directories that the settings allow to helpers: {len(roots)}.")]


def _finding(patient: Patient, root: str) -> Finding | None:
    resolved, is_directory = resolved_directory(root)
    if resolved is None or not is_directory:
        return doubtful(_WHAT, f"{root} is no directory, so no helper is given it.", _MEND)
    if (why := why_no_workspace(patient.paths, resolved)) is not None:
        return broken(_WHAT, f"{root} {why}: no helper is given it, nor what lies below.", _MEND)
    doubt = doubt_about(resolved)
    return None if doubt is None else doubtful(_WHAT, f"{root} {doubt}.", _MEND)
