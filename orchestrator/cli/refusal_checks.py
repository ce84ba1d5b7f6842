"""The doctor's look at what was refused of agents: `data/ipc/errors`."""

from datetime import timedelta
from typing import Final

from orchestrator.app.parts import SystemClock
from orchestrator.cli.findings import Finding, Patient, doubtful, well
from orchestrator.ipc.quarantine import MAX_ENTRIES
from orchestrator.store.refusals import BOX_SUFFIX, ERRORS, count_refusals

_WHAT: Final = "refusals"
_LATELY: Final = timedelta(days=1)


def check_refusals(patient: Patient) -> Finding:
    """Few requests were refused lately, and the reasons of all of them are still kept."""
    ipc = patient.paths.ipc
    kept = count_refusals(ipc)
    full = sorted(box for box, count in kept.items() if count >= MAX_ENTRIES)
    if full:
        why = f"Of the box {full[0]} {MAX_ENTRIES} refused requests are kept; the oldest reasons go."
        return doubtful(_WHAT, why, f"dovecote errors --box {full[0]}")
    aside = sorted(path.parent.name for path in (ipc / ERRORS).glob(f"*/*{BOX_SUFFIX}"))
    if aside:
        why = f"The whole box {aside[0]} was set aside, since no agent was known for it."
        return doubtful(_WHAT, why, f"See what is in it, and remove it: {ipc / ERRORS / aside[0]}")
    lately = count_refusals(ipc, since=SystemClock().now() - _LATELY)
    if lately:
        most = max(lately, key=lambda box: lately[box])
        why = (
            f"{sum(lately.values())} requests of agents were refused in the last day, most of the box {most}."
        )
        return doubtful(_WHAT, why, f"dovecote errors --box {most}")
    return well(_WHAT, "No request of an agent was refused in the last day.")
