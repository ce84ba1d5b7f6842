"""A look at each group's definition, as its next start would see it."""

import asyncio
import math
import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.cli.runner_checks import InstalledPrograms, installed_programs
from orchestrator.cli.store_checks import groups_there, is_made, open_store
from orchestrator.commands.setup.definition_faults import DefinitionView, Trouble, check_agent
from orchestrator.commands.setup.definitions import GLOBAL
from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.launch import HOME_TARGET, WORKSPACE_TARGET
from orchestrator.core.agents.unstartable import Need, needs
from orchestrator.core.text_cleaning import clean_text
from orchestrator.runners.agent_programs import how_to_install
from orchestrator.store.agents import LIVE_SESSIONS
from orchestrator.store.group_folders import AGENT_FILE, WORKSPACE, group_workspace
from orchestrator.store.secret_values import SecretKeeper

_MAX_CHARS = 300
_SEEN_BY_AGENTS = ("/workspace/", f"{HOME_TARGET}/")


def agent_findings(patient: Patient) -> list[Finding]:
    """One finding a group, or one a fault of it."""
    groups = groups_there(patient)
    return [each for view in look_at_agents(patient, groups) for each in _findings(view)]


def look_at_agents(patient: Patient, groups: Sequence[Group]) -> list[DefinitionView]:
    """What the next agent of each group would be and what is wrong with that, also where agents run."""
    views = [_with_own_files(patient, view) for view in asyncio.run(_views(patient, groups))]
    others = [need for view in views for need in _own_needs(view, runner="")]
    needs_some = bool(others) or any(view.fields.get("program") for view in views)
    installed = installed_programs(patient, others) if needs_some else None
    if installed is None:
        return views
    return [_with_programs(view, installed) for view in views]


def with_older_agents(patient: Patient, views: Sequence[DefinitionView]) -> list[DefinitionView]:
    """The views, with a word on those whose agent runs by what its files said before."""
    if not is_made(patient.paths.database):
        return list(views)
    with closing(open_store(patient)) as connection:
        lives = {
            str(folder): (int(since), str(agent))
            for folder, since, agent in connection.execute(LIVE_SESSIONS)
        }
    return [_with_older_agent(patient, view, *lives.get(view.group, (math.inf, ""))) for view in views]


def _with_older_agent(
    patient: Patient, view: DefinitionView, started_ms: float, agent: str
) -> DefinitionView:
    if started_ms >= _changed_ms(patient, view.group):
        return view
    older = Trouble(
        what="The agent that runs now was started before the last change, and answers by what was said then.",
        mend=f"To end it: dovecote agent stop {agent}",
        is_fatal=False,
    )
    return replace(view, troubles=(*view.troubles, older))


def _changed_ms(patient: Patient, group: str) -> float:
    """When a file that says what its agent is was last changed; 0 if there is none."""
    paths = patient.paths
    files = (paths.groups / group / AGENT_FILE, paths.groups / GLOBAL / AGENT_FILE, paths.providers_file)
    return max((file.stat().st_mtime * 1000 for file in files if file.is_file()), default=0.0)


async def _views(patient: Patient, groups: Sequence[Group]) -> list[DefinitionView]:
    secrets = SecretKeeper(patient.paths.secrets, environment=os.environ)
    has_walls = patient.settings.agent.runner != "process"
    return [
        await check_agent(patient.paths, patient.settings, secrets, group, has_walls=has_walls)
        for group in groups
    ]


def _own_needs(view: DefinitionView, *, runner: str) -> list[Need]:
    """What it starts; nothing of what lies where only an agent can see it. runner: as of `needs`."""
    if view.definition is None:
        return []
    found = needs(view.definition, group=view.group, runner=runner)
    return [each for each in found if _is_by_name(each) or _can_be_seen(each.name)]


def _is_by_name(need: Need) -> bool:
    """Whether it is looked for where programs lie."""
    return "/" not in need.name and not need.is_script


def _can_be_seen(path: str) -> bool:
    return path.startswith("/") and not path.startswith(_SEEN_BY_AGENTS)


def _with_own_files(patient: Patient, view: DefinitionView) -> DefinitionView:
    """The view, with the troubles that what it starts is not among the files of its group."""
    if view.definition is None:
        return view
    found = [
        Trouble(
            what=each.what,
            mend=f"Put it into groups/{view.group}/{WORKSPACE}. {each.mend}",
            is_fatal=each.is_used,
        )
        for each in needs(view.definition, group=view.group, runner="")
        if (path := _own_file(patient, view.group, each)) is not None and not os.path.lexists(path)
    ]
    is_well = view.is_well and not any(each.is_fatal for each in found)
    return replace(view, is_well=is_well, troubles=(*view.troubles, *found))


def _own_file(patient: Patient, group: str, need: Need) -> Path | None:
    """Where it lies on this machine, if it is to be among the files of its group."""
    if _is_by_name(need):
        return None
    # A path from where it is started: the files of its group.
    seen = Path(os.path.normpath(Path(WORKSPACE_TARGET) / need.name))
    if not seen.is_relative_to(WORKSPACE_TARGET):
        return None
    return group_workspace(patient.paths.groups, GroupFolder(group)) / seen.relative_to(WORKSPACE_TARGET)


def _with_programs(view: DefinitionView, installed: InstalledPrograms) -> DefinitionView:
    """The view, with the troubles that what it starts is not where agents run."""
    found = _missing(view, installed)
    is_well = view.is_well and not any(each.is_fatal for each in found)
    return replace(view, is_well=is_well, troubles=(*view.troubles, *found))


def _missing(view: DefinitionView, installed: InstalledPrograms) -> list[Trouble]:
    program = view.fields.get("program")
    found: list[Trouble] = []
    own = [each for each in _own_needs(view, runner=installed.runner) if each.key in installed.missing]
    if isinstance(program, str) and installed.names is not None and program not in installed.names:
        what = "will be fetched at the next start" if installed.are_fetched else "is not installed"
        found.append(
            Trouble(
                what=f"The agent program {program} {what}.",
                mend=how_to_install(program),
                is_fatal=not installed.are_fetched,
            )
        )
        # That one is told; it starts nothing else of its own.
        own = [each for each in own if each.server is not None]
    return found + [Trouble(what=each.what, mend=each.mend, is_fatal=each.is_used) for each in own]


def _findings(view: DefinitionView) -> list[Finding]:
    name = f"agent {view.group}"
    if not view.troubles:
        provider, model = view.fields.get("provider"), view.fields.get("model")
        return [well(name, f"{provider}{f', model {model}' if model else ''}.")]
    told = [each for each in view.troubles if each.is_fatal] or view.troubles
    say = doubtful if view.is_well else broken
    return [
        say(name, clean_text(each.what)[:_MAX_CHARS], clean_text(each.mend)[:_MAX_CHARS]) for each in told
    ]
