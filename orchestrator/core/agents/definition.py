"""What a group's agent is: its `AGENT.md` over that of all groups, over its provider, over the settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar
from urllib.parse import urlsplit

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.faults import noted, raise_any
from orchestrator.contracts.records.definitions import (
    Budget,
    Definition,
    ExtraDirectory,
    HostPort,
)
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.launch import EXTRAS_TARGET, GLOBAL_TARGET, WORKSPACE_TARGET
from orchestrator.contracts.records.providers import (
    AuthMode,
    CredentialSlot,
    HomePolicy,
    Permissions,
    Provider,
)
from orchestrator.contracts.records.tool_servers import McpServer
from orchestrator.core.agents.agent_file import PROVIDER_TOOLS, AgentFile
from orchestrator.core.agents.environment import GITHUB_VARIABLE
from orchestrator.core.agents.forms import server_records
from orchestrator.core.agents.provider_file import Providers
from orchestrator.core.agents.role import check_role
from orchestrator.core.agents.start_prompt import RunFacts, start_prompt, template_facts

T = TypeVar("T")

DRIVERS_WITHOUT_A_MODEL: Final = frozenset({"builtin", "script"})
"""They run no commands that a model thought of, so they may run without walls."""
_DRIVERS_WITH_A_COMMAND: Final = frozenset({"acp"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What the settings say where no file does. toolsets: those that this group is offered.

    more_toolsets: those that it may be offered, and is not unless a file says so.
    has_walls: the runner builds some. workspace, shared: as the agent sees them.
    allows_unisolated: the operator lets models run without them.
    """

    provider: str
    permissions: Permissions
    toolsets: tuple[str, ...]
    more_toolsets: tuple[str, ...] = ()
    mcp_servers: tuple[McpServer, ...] = ()
    timezone: str = "UTC"
    has_walls: bool = True
    allows_unisolated: bool = False
    workspace: str = WORKSPACE_TARGET
    shared: str = GLOBAL_TARGET


def chosen_provider(shared: AgentFile, own: AgentFile, defaults: Defaults) -> str:
    """The name of the provider that the files or the settings choose."""
    return own.fields.provider or shared.fields.provider or defaults.provider


def resolve_definition(
    *,
    group: Group,
    shared: AgentFile,
    own: AgentFile,
    providers: Providers,
    extras: tuple[ExtraDirectory, ...],
    defaults: Defaults,
) -> Definition:
    """The definition of this group's agent. shared: the file of all groups. extras: judged already.

    Raises InvalidSettings naming of each fault the file, the line, the field, and what it may be.
    """
    files, faults = (own, shared), [*shared.faults, *own.faults]
    tools: tuple[str, ...] = ()
    with noted(faults):
        tools = _tools(files, defaults)
    with noted(faults):
        _check_what_names_a_provider(files, providers, defaults)
    facts = template_facts(_facts(group, files, defaults, tools=tools, extras=extras, hosts=()))
    for file in reversed(files):
        with noted(faults):
            check_role(file, facts)
    raise_any(faults)
    provider = _provider(files, providers, defaults)
    definition = Definition(
        name=_name(group, files),
        provider=provider,
        command=_command(files, provider),
        model=_first(*(file.fields.model for file in files), provider.model),
        permissions=_first(*(file.fields.wanted_permissions for file in files)) or defaults.permissions,
        instructions="",
        mcp_servers=_servers(files, provider, defaults),
        environment={**shared.fields.env, **own.fields.env},
        extra_directories=extras,
        tools=tools,
        max_turns=_first(*(file.fields.max_turns for file in files)),
        budget=chosen_budget(shared, own),
        egress=_hosts(files, provider),
        allows_provider_tools=PROVIDER_TOOLS in (_first(*(file.fields.egress for file in files)) or ()),
        locale=_first(own.fields.locale, shared.fields.locale),
        github=_github(files),
    )
    run = _facts(group, files, defaults, tools=tools, extras=extras, hosts=definition.egress)
    return replace(definition, instructions=start_prompt((shared, own), run))


def _name(group: Group, files: Sequence[AgentFile]) -> str:
    return _first(*(file.fields.name for file in files)) or group.assistant_name


def _facts(
    group: Group,
    files: Sequence[AgentFile],
    defaults: Defaults,
    *,
    tools: tuple[str, ...],
    extras: tuple[ExtraDirectory, ...],
    hosts: tuple[HostPort, ...],
) -> RunFacts:
    return RunFacts(
        assistant_name=group.assistant_name,
        agent_name=_name(group, files),
        group=group.folder,
        chat_name=group.name,
        timezone=group.timezone or defaults.timezone,
        locale=_first(*(file.fields.locale for file in files)) or group.locale,
        is_main=group.is_main,
        tools=tools,
        workspace=defaults.workspace,
        shared=defaults.shared,
        extras_root=EXTRAS_TARGET,
        extras=extras,
        hosts=hosts,
        has_walls=defaults.has_walls,
    )


def _first(*values: T | None) -> T | None:
    return next((value for value in values if value is not None), None)


def _says(files: Sequence[AgentFile], field: str) -> AgentFile:
    """The file that says the field; the group's own where none does."""
    return next((file for file in files if getattr(file.fields, field) is not None), files[0])


def _is_known(files: Sequence[AgentFile], field: str) -> bool:
    """Whether it can be told what the files say of the field, or that they say nothing."""
    for file in files:
        if field in file.unread:
            return False
        if getattr(file.fields, field) is not None:
            return True
    return True


def _check_what_names_a_provider(
    files: Sequence[AgentFile], providers: Providers, defaults: Defaults
) -> None:
    """Raises InvalidSettings for the provider, and for what goes by it, as far as each can be told."""
    if not _is_known(files, "provider"):
        return
    provider, faults = _provider(files, providers, defaults), list[InvalidSettings]()
    if _is_known(files, "model"):
        with noted(faults):
            _check_templates(files, provider, _first(*(file.fields.model for file in files), provider.model))
    if _is_known(files, "command"):
        with noted(faults):
            _command(files, provider)
    raise_any(faults)


def _provider(files: Sequence[AgentFile], providers: Providers, defaults: Defaults) -> Provider:
    name = chosen_provider(files[1], files[0], defaults)
    try:
        provider = providers.named(name)
    except InvalidSettings as error:
        if any(file.fields.provider == name for file in files) and name not in providers.troubles:
            raise _says(files, "provider").refusal(
                "provider", f"has the field provider, which is {name!r}", error.suggestion or ""
            ) from None
        raise
    if provider.home_policy is HomePolicy.OPERATOR and (defaults.has_walls or not defaults.allows_unisolated):
        raise InvalidSettings(
            f"The provider {name} has home_policy operator, which works only without walls, with consent.",
            suggestion="Set home_policy = isolated, or agent.runner = process and agent.allow_unisolated.",
        )
    return provider


def _command(files: Sequence[AgentFile], provider: Provider) -> str:
    written = _first(*(file.fields.command for file in files))
    if provider.driver not in _DRIVERS_WITH_A_COMMAND:
        if written is not None:
            mend = "Remove it, or choose a provider whose driver is acp, such as: provider: acp"
            what = f"has a command, but the provider {provider.name} runs none"
            raise _says(files, "command").refusal("command", what, mend)
        return ""
    command = written or provider.command
    if not command:
        what = f"has the provider {provider.name}, which needs the command of a program"
        raise _says(files, "provider").refusal(
            "provider", what, "Add a line such as: command: my-agent --acp"
        )
    return command


def _check_templates(files: Sequence[AgentFile], provider: Provider, model: str | None) -> None:
    """What the provider's recipe needs has to be there. Raises InvalidSettings."""
    texts = (*provider.environment.values(), *provider.files.values())
    needs_base = any("{base_url}" in text for text in texts) or bool(provider.slots)
    if provider.api is None and needs_base and provider.auth_mode is not AuthMode.NATIVE_CLI:
        raise InvalidSettings(
            f"The provider {provider.name} needs to know where its model is.",
            suggestion=f"Set providers.{provider.name}.base_url in dovecote.toml, such as "
            '"https://models.example.org/v1".',
        )
    if model is None and any("{model}" in text for text in texts):
        what = f"has the provider {provider.name}, which needs the name of a model"
        raise _says(files, "provider").refusal("provider", what, "Add a line such as: model: my-model")


def _hosts(files: Sequence[AgentFile], provider: Provider) -> tuple[HostPort, ...]:
    """A program that proves by itself who pays has to reach its provider by itself."""
    hosts = _first(*(file.fields.hosts for file in files)) or ()
    if provider.auth_mode is AuthMode.NATIVE_CLI and provider.api is not None:
        parts = urlsplit(provider.api.base)
        hosts = (*hosts, HostPort(host=parts.hostname or "", port=parts.port or 443))
    return tuple(dict.fromkeys(hosts))


def _github(files: Sequence[AgentFile]) -> CredentialSlot | None:
    reference = _first(*(file.fields.github_token for file in files))
    if reference is None:
        return None
    return CredentialSlot(name="github_token", target_env=GITHUB_VARIABLE, secret_ref=reference)


def _tools(files: Sequence[AgentFile], defaults: Defaults) -> tuple[str, ...]:
    wanted = _first(*(file.fields.tools for file in files))
    if wanted is None:
        return defaults.toolsets
    # Only `groups` can be among them: `agent_file` refuses what is no toolset, and all have the others.
    for name in wanted:
        if name not in (*defaults.toolsets, *defaults.more_toolsets):
            what = f"has the tools {name}, which this group may not use"
            mend = "Remove it, or add the group's folder to register_group_from in dovecote.toml."
            raise _says(files, "tools").refusal("tools", what, mend)
    return tuple(dict.fromkeys(wanted))


def _servers(files: Sequence[AgentFile], provider: Provider, defaults: Defaults) -> tuple[McpServer, ...]:
    """Of two with one name the definition's, then the provider's, then the settings'."""
    layers: tuple[Sequence[McpServer], ...] = (
        defaults.mcp_servers,
        provider.mcp_servers,
        *(server_records(file.fields.mcp_servers) for file in reversed(files)),
    )
    found: Mapping[str, McpServer] = {server.name: server for layer in layers for server in layer}
    return tuple(found.values())


def chosen_budget(shared: AgentFile, own: AgentFile) -> Budget:
    """The budget that the files name, each bound by itself."""
    mine, all_groups = own.fields.budget, shared.fields.budget
    return Budget(
        tokens_per_day=_first(mine.tokens_per_day, all_groups.tokens_per_day),
        usd_per_month=_first(mine.usd_per_month, all_groups.usd_per_month),
    )
