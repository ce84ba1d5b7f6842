"""The doctor's look at each group's definition, as its next start would see it."""

import asyncio
import os
import sqlite3
from contextlib import closing

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.cli.runner_checks import InstalledPrograms, installed_programs
from orchestrator.cli.store_checks import is_made, open_store
from orchestrator.commands.setup.agent_checks import AgentView, check_agent
from orchestrator.contracts.records.groups import Group
from orchestrator.core.text_cleaning import clean_text
from orchestrator.runners.agent_programs import how_to_install
from orchestrator.store.groups import ALL, of_row
from orchestrator.store.secret_values import SecretKeeper

_MAX_CHARS = 300


def agent_findings(patient: Patient) -> list[Finding]:
    """One finding a group. A store that can't be read is told by its own check."""
    if not is_made(patient.paths.database):
        return []
    try:
        with closing(open_store(patient)) as connection:
            connection.row_factory = sqlite3.Row
            groups = [of_row(row) for row in connection.execute(ALL)]
    except (sqlite3.Error, KeyError, IndexError):
        return []
    views = asyncio.run(_views(patient, groups))
    needs_some = any(view.fields.get("program") for view in views)
    installed = installed_programs(patient) if needs_some else None
    return [_finding(view, installed) for view in views]


async def _views(patient: Patient, groups: list[Group]) -> list[AgentView]:
    secrets = SecretKeeper(patient.paths.secrets, environment=os.environ)
    has_walls = patient.settings.agent.runner != "process"
    return [
        await check_agent(patient.paths, patient.settings, secrets, group, has_walls=has_walls)
        for group in groups
    ]


def _finding(view: AgentView, installed: InstalledPrograms | None) -> Finding:
    name = f"agent {view.group}"
    program = view.fields.get("program")
    is_missing = isinstance(program, str) and installed is not None and program not in installed.names
    if is_missing and installed is not None and view.is_well:
        mend = how_to_install(str(program))
        if installed.are_fetched:
            return doubtful(name, f"The agent program {program} will be fetched at the next start.", mend)
        return broken(name, f"The agent program {program} is not installed.", mend)
    if not view.troubles:
        provider, model = view.fields.get("provider"), view.fields.get("model")
        return well(name, f"{provider}{f', model {model}' if model else ''}.")
    first = next((each for each in view.troubles if each.is_fatal), view.troubles[0])
    why, mend = clean_text(first.what)[:_MAX_CHARS], clean_text(first.mend)[:_MAX_CHARS]
    return broken(name, why, mend) if first.is_fatal else doubtful(name, why, mend)
