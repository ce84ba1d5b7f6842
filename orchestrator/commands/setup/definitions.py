"""The definitions of the groups' agents, read from the operator's files as they are at this moment."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from orchestrator.commands.services import Services
from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.faults import noted, raise_any
from orchestrator.contracts.records.definitions import Budget, Definition, ExtraDirectory
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.providers import Permissions
from orchestrator.contracts.records.tool_servers import McpServer
from orchestrator.contracts.wire.tools import CHAT_TOOLS, GROUP_TOOLS, SPAWN_TOOLS, TASK_TOOLS
from orchestrator.core.agents.agent_file import AgentFile, read_agent_file, unreadable_file
from orchestrator.core.agents.definition import Defaults, chosen_budget, chosen_provider, resolve_definition
from orchestrator.core.agents.forms import Form, McpServers, all_faults, server_records
from orchestrator.core.agents.provider_file import (
    ProviderLayer,
    Providers,
    merge_providers,
    parse_provider_file,
)
from orchestrator.core.authority import may_register
from orchestrator.core.sandbox.mount_rules import (
    Allowlist,
    MountWish,
    Protected,
    SeenDirectory,
    judge_mount,
    parse_allowlist,
    without_doubles,
)
from orchestrator.paths import Paths, mounts_file
from orchestrator.settings.tree import Settings
from orchestrator.shipped import shipped_providers
from orchestrator.store.group_files import read_instructions
from orchestrator.store.group_folders import AGENT_FILE, group_workspace
from orchestrator.store.mount_sources import read_operator_text, resolved_directory

GLOBAL: Final = "global"
"""The folder whose `AGENT.md` is for all groups."""
_SETTINGS_FILE: Final = "dovecote.toml"


class _ServersSetting(Form):
    mcp_servers: McpServers


async def definition_of(services: Services, group: Group, *, has_walls: bool) -> Definition:
    """What this group's agent is now. Raises InvalidSettings, which says what is wrong and what mends it."""
    return await asyncio.to_thread(
        definition_now, services.paths, services.settings, group, has_walls=has_walls
    )


async def provider_name_of(services: Services, group: Group) -> str:
    """The provider that a group's agent has, as far as it can be told from files that may be broken."""

    def look() -> str:
        try:
            shared, own = _files(services.paths, group)
            return chosen_provider(
                shared, own, _defaults(services.paths, services.settings, group, has_walls=True)
            )
        except (InvalidSettings, OSError):
            return services.settings.agent.provider

    return await asyncio.to_thread(look)


def definition_now(paths: Paths, settings: Settings, group: Group, *, has_walls: bool) -> Definition:
    """As `definition_of`; blocks. has_walls: whether its runner builds some."""
    shared, own = (_read(paths.groups, folder) for folder in (GLOBAL, group.folder))
    faults = [*shared.faults, *own.faults]
    extras: tuple[ExtraDirectory, ...] = ()
    definition: Definition | None = None
    with noted(faults):
        extras = _extras(paths, group, shared, own)
    with noted(faults):
        definition = resolve_definition(
            group=group,
            shared=shared,
            own=own,
            providers=load_providers(paths, settings),
            extras=extras,
            defaults=_defaults(paths, settings, group, has_walls=has_walls),
        )
    raise_any(faults)
    assert definition is not None, "nothing is wrong with it"
    return definition


def budget_now(paths: Paths, group: Group) -> Budget:
    """What this group may spend by its files. Blocks. Raises InvalidSettings."""
    shared, own = _files(paths, group)
    return chosen_budget(shared, own)


def load_providers(paths: Paths, settings: Settings) -> Providers:
    """All providers: the shipped ones, the home's, the settings'. Blocks. Raises InvalidSettings.

    A provider that can't be used is among their troubles.
    """
    layers = [parse_provider_file(shipped_providers(), where="Dovecote's providers.toml", is_operators=False)]
    text = read_operator_text(paths.providers_file)
    if text is not None:
        layers.append(parse_provider_file(text, where=str(paths.providers_file)))
    layers.append(ProviderLayer(where=_SETTINGS_FILE, tables=settings.providers))
    return merge_providers(layers)


def _files(paths: Paths, group: Group) -> tuple[AgentFile, AgentFile]:
    """The file for all groups and the group's own. Raises InvalidSettings."""
    faults: list[InvalidSettings] = []
    found: list[AgentFile] = []
    for folder in (GLOBAL, group.folder):
        with noted(faults):
            found.append(agent_file(paths.groups, folder))
    raise_any(faults)
    shared, own = found
    return shared, own


def agent_file(groups: Path, folder: str) -> AgentFile:
    """The `AGENT.md` in the folder of a group, or in `global`. Blocks. Raises InvalidSettings."""
    file = _read(groups, folder)
    raise_any(file.faults)
    return file


def _read(groups: Path, folder: str) -> AgentFile:
    """As `agent_file`, with what is wrong among its faults."""
    where = f"groups/{folder}/{AGENT_FILE}"
    try:
        text = read_instructions(groups, folder)
    except OSError as error:
        fault = InvalidSettings(
            f"{where} can't be read: {error}.", suggestion="Put a plain text file there, or nothing."
        )
        return unreadable_file(fault, where=where)
    except UnicodeDecodeError as error:
        fault = InvalidSettings(
            f"{where} is not UTF-8 at byte {error.start}.", suggestion="Save it as UTF-8."
        )
        return unreadable_file(fault, where=where)
    return read_agent_file(text, where=where)


def _defaults(paths: Paths, settings: Settings, group: Group, *, has_walls: bool) -> Defaults:
    usual = (CHAT_TOOLS, TASK_TOOLS)
    toolsets = (*usual, GROUP_TOOLS) if may_register(group, settings.register_group_from) else usual
    places = {} if has_walls else _host_places(paths, group)
    return Defaults(
        **places,
        provider=settings.agent.provider,
        permissions=Permissions(settings.agent.permissions),
        toolsets=toolsets,
        more_toolsets=(SPAWN_TOOLS,),
        mcp_servers=_settings_servers(settings.agent.mcp_servers),
        timezone=settings.assistant.timezone,
        has_walls=has_walls,
        allows_unisolated=settings.agent.allow_unisolated,
    )


def _host_places(paths: Paths, group: Group) -> dict[str, Any]:
    """Without walls an agent sees the host's own paths."""
    return {
        "workspace": str(group_workspace(paths.groups, group.folder)),
        "shared": str(paths.groups / GLOBAL / "workspace"),
    }


def _settings_servers(tables: Mapping[str, Mapping[str, Any]]) -> tuple[McpServer, ...]:
    try:
        form = _ServersSetting.model_validate({"mcp_servers": tables})
    except ValidationError as error:
        raise_any(
            [
                InvalidSettings(f"The setting agent.{fault.field} {fault.what}.", suggestion=fault.mend)
                for fault in all_faults(error, _ServersSetting)
            ]
        )
        raise
    return server_records(form.mcp_servers)


def _extras(paths: Paths, group: Group, shared: AgentFile, own: AgentFile) -> tuple[ExtraDirectory, ...]:
    """The additional directories, each judged by the operator's list as it is now. Raises InvalidSettings."""
    wanted = own.fields.additional_dirs
    wanted = shared.fields.additional_dirs if wanted is None else wanted
    if not wanted:
        return ()
    where = mounts_file(os.environ)
    text = read_operator_text(where)
    allowlist = Allowlist() if text is None else parse_allowlist(text, where=str(where))
    roots = [_seen(root.path) for root in allowlist.roots]
    protected = Protected(
        home=os.path.realpath(paths.home), operator_home=os.path.realpath(os.path.expanduser("~"))
    )
    found: list[ExtraDirectory] = []
    faults: list[InvalidSettings] = []
    workspace = os.path.realpath(group_workspace(paths.groups, group.folder))
    for each in wanted:
        wish = MountWish(name=each.name, seen=_seen(each.path), is_writable=each.mode == "rw")
        if wish.seen.resolved == workspace:
            continue
        with noted(faults):
            path = judge_mount(wish, allowlist, roots, protected, is_main=group.is_main, where=str(where))
            found.append(ExtraDirectory(name=each.name, path=Path(path), is_writable=wish.is_writable))
    raise_any(faults)
    return without_doubles(found)


def _seen(path: str) -> SeenDirectory:
    resolved, is_directory = resolved_directory(path)
    return SeenDirectory(written=path, resolved=resolved, is_directory=is_directory)
