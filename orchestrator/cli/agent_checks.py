"""A look at each group's definition, as its next start would see it."""

import asyncio
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.cli.runner_checks import InstalledPrograms, installed_programs
from orchestrator.cli.store_checks import is_made, open_store
from orchestrator.commands.setup.agent_checks import AgentView, Trouble, check_agent
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.launch import HOME_TARGET
from orchestrator.core.agents.unstartable import how_to_have, program_of
from orchestrator.core.text_cleaning import clean_text
from orchestrator.runners.agent_programs import how_to_install
from orchestrator.store.groups import ALL, of_row
from orchestrator.store.secret_values import SecretKeeper

_MAX_CHARS = 300
_SEEN_BY_AGENTS = ("/workspace/", f"{HOME_TARGET}/")


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
    return [_finding(view) for view in look_at_agents(patient, groups)]


def look_at_agents(patient: Patient, groups: Sequence[Group]) -> list[AgentView]:
    """What the next agent of each group would be and what is wrong with that, also where agents run."""
    views = asyncio.run(_views(patient, groups))
    others = {program for view in views if (program := _own_program(view)) is not None}
    needs_some = bool(others) or any(view.fields.get("program") for view in views)
    installed = installed_programs(patient, others) if needs_some else None
    if installed is None:
        return views
    return [_with_programs(view, installed) for view in views]


async def _views(patient: Patient, groups: Sequence[Group]) -> list[AgentView]:
    secrets = SecretKeeper(patient.paths.secrets, environment=os.environ)
    has_walls = patient.settings.agent.runner != "process"
    return [
        await check_agent(patient.paths, patient.settings, secrets, group, has_walls=has_walls)
        for group in groups
    ]


def _own_program(view: AgentView) -> str | None:
    """The program that its command starts; None for what lies where only an agent can see it."""
    program = program_of(str(view.fields.get("command") or ""))
    if program is None or ("/" in program and program.startswith(_SEEN_BY_AGENTS)):
        return None
    return None if "/" in program and not program.startswith("/") else program


def _with_programs(view: AgentView, installed: InstalledPrograms) -> AgentView:
    """The view, with the trouble that what it starts is not where agents run."""
    trouble = _missing(view, installed)
    if trouble is None:
        return view
    troubles = (*view.troubles, trouble)
    return replace(view, is_well=view.is_well and not trouble.is_fatal, troubles=troubles)


def _missing(view: AgentView, installed: InstalledPrograms) -> Trouble | None:
    program = view.fields.get("program")
    if isinstance(program, str) and installed.names is not None and program not in installed.names:
        what = "will be fetched at the next start" if installed.are_fetched else "is not installed"
        return Trouble(
            what=f"The agent program {program} {what}.",
            mend=how_to_install(program),
            is_fatal=not installed.are_fetched,
        )
    own = _own_program(view)
    if own not in installed.missing:
        return None
    mend = how_to_have(str(view.fields["provider"]), group=view.group, runner=installed.runner)
    return Trouble(what=f"Its program {own!r} is not where agents run, or can't be run.", mend=mend)


def _finding(view: AgentView) -> Finding:
    name = f"agent {view.group}"
    if not view.troubles:
        provider, model = view.fields.get("provider"), view.fields.get("model")
        return well(name, f"{provider}{f', model {model}' if model else ''}.")
    why, mend = _in_words([each for each in view.troubles if each.is_fatal] or view.troubles, view.group)
    return doubtful(name, why, mend) if view.is_well else broken(name, why, mend)


def _in_words(troubles: Sequence[Trouble], group: str) -> tuple[str, str]:
    """What is wrong and what mends it; of several, each with its own mend."""
    told = [(clean_text(each.what)[:_MAX_CHARS], clean_text(each.mend)[:_MAX_CHARS]) for each in troubles]
    if len(told) == 1:
        return told[0]
    all_of_them = " ".join(f"({number}) {what} {mend}" for number, (what, mend) in enumerate(told, start=1))
    return all_of_them, f"The same, one a line: dovecote agent check {group}"
