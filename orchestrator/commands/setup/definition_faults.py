"""What an agent is and what is wrong with it, for people: `dovecote agent check`, the doctor."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from orchestrator.commands.setup.definitions import definition_now, load_providers
from orchestrator.contracts.egress_seams import SecretValues
from orchestrator.contracts.errors import InvalidSettings, Unavailable
from orchestrator.contracts.faults import each_of
from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.providers import AuthMode, CredentialSlot
from orchestrator.core.agents.credential_advice import how_to_set
from orchestrator.core.agents.definition import DRIVERS_WITHOUT_A_MODEL
from orchestrator.core.agents.environment import is_sensitive
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings
from orchestrator.store.group_folders import AGENT_FILE

_SET: Final = "set"
_MISSING: Final = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One thing to mend. is_fatal: no agent starts until then."""

    what: str
    mend: str
    is_fatal: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotView:
    """A credential. state: `set` or `missing`; the credential itself is shown nowhere."""

    name: str
    secret_ref: str
    is_required: bool
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionView:
    """The resolved definition of a group's agent, for people. fields: by name, as JSON values; empty where it
    can't be resolved. definition: the same as it is, for those who look further."""

    group: str
    is_well: bool
    troubles: tuple[Trouble, ...] = ()
    fields: Mapping[str, object] = field(default_factory=dict)
    credentials: tuple[SlotView, ...] = ()
    instructions: str = ""
    definition: Definition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderView:
    """A provider, for people. trouble: why it can't be used as it is written."""

    name: str
    driver: str | None
    model: str | None
    auth_mode: str | None
    base_url: str | None
    credentials: tuple[SlotView, ...] = ()
    trouble: str | None = None


async def check_agent(
    paths: Paths, settings: Settings, secrets: SecretValues, group: Group, *, has_walls: bool
) -> DefinitionView:
    """What the next agent of this group would be, and what is wrong with that."""
    try:
        definition = await asyncio.to_thread(definition_now, paths, settings, group, has_walls=has_walls)
    except InvalidSettings as error:
        troubles = tuple(Trouble(what=each.message, mend=each.suggestion or "") for each in each_of(error))
        return DefinitionView(group=group.folder, is_well=False, troubles=troubles)
    provider = definition.provider
    slots, unset = await _slots(secrets, provider.slots, f"the provider {provider.name}")
    github = () if definition.github is None else (definition.github,)
    own_slots, own_unset = await _slots(secrets, github, AGENT_FILE)
    bare = () if has_walls else _without_walls(definition, settings)
    troubles = (*unset, *own_unset, *bare, *_doubts(definition, settings))
    return DefinitionView(
        group=group.folder,
        is_well=not any(each.is_fatal for each in troubles),
        troubles=troubles,
        fields=_fields(definition),
        credentials=(*slots, *own_slots),
        instructions=definition.instructions,
        definition=definition,
    )


async def list_providers(paths: Paths, settings: Settings, secrets: SecretValues) -> list[ProviderView]:
    """All providers, by name. Raises InvalidSettings when a file of providers can't be read at all."""
    providers = await asyncio.to_thread(load_providers, paths, settings)
    views = [
        ProviderView(
            name=each.name,
            driver=each.driver,
            model=each.model,
            auth_mode=each.auth_mode.value,
            base_url=None if each.api is None else each.api.base,
            credentials=(await _slots(secrets, each.slots, each.name))[0],
        )
        for each in providers.known.values()
    ]
    views += [
        ProviderView(name=name, driver=None, model=None, auth_mode=None, base_url=None, trouble=str(error))
        for name, error in providers.troubles.items()
    ]
    return sorted(views, key=lambda view: view.name)


async def _slots(
    secrets: SecretValues, slots: Sequence[CredentialSlot], whose: str
) -> tuple[tuple[SlotView, ...], tuple[Trouble, ...]]:
    views: list[SlotView] = []
    troubles: list[Trouble] = []
    for slot in slots:
        try:
            is_set = bool(await secrets.get(slot.secret_ref))
        except Unavailable as error:
            troubles.append(Trouble(what=error.message, mend=error.suggestion or ""))
            is_set = False
        state = _SET if is_set else _MISSING
        views.append(
            SlotView(name=slot.name, secret_ref=slot.secret_ref, is_required=slot.is_required, state=state)
        )
        if not is_set and slot.is_required and not troubles:
            what = f"The credential {slot.name} of {whose} is not set."
            troubles.append(Trouble(what=what, mend=how_to_set(slot)))
    return tuple(views), tuple(troubles)


def _without_walls(definition: Definition, settings: Settings) -> tuple[Trouble, ...]:
    provider = definition.provider
    if provider.driver in DRIVERS_WITHOUT_A_MODEL or settings.agent.allow_unisolated:
        return ()
    what = f"The provider {provider.name} runs commands of a model, and here they would have no walls."
    mend = "Set agent.runner = auto and install bubblewrap or Docker, or set agent.allow_unisolated = true."
    return (Trouble(what=what, mend=mend),)


def _doubts(definition: Definition, settings: Settings) -> tuple[Trouble, ...]:
    """What works, and that somebody may care about."""
    found = [
        Trouble(
            what=f"env.{name} looks like a credential, and the agent can read it.",
            mend="Give the provider a slot for it: then it stays outside of the container.",
            is_fatal=False,
        )
        for name, value in definition.environment.items()
        if is_sensitive(name, value)
    ]
    found += [
        Trouble(
            what=f"The tool server {server.name} is at {server.url}, which the agent can't reach.",
            mend=f"Add its host to egress: {_destination(server.url)}",
            is_fatal=False,
        )
        for server in definition.mcp_servers
        if server.url is not None and _destination(server.url) not in _reachable(definition)
    ]
    found += _unused_servers(definition, settings)
    if definition.provider.auth_mode is AuthMode.NATIVE_CLI:
        found.append(
            Trouble(
                what=f"The provider {definition.provider.name} logs in by itself: its login lies in the "
                "agent's home, where the agent can read it.",
                mend="Set auth_mode = bound_secret and a credential, if you mind.",
                is_fatal=False,
            )
        )
    return tuple(found)


def _unused_servers(definition: Definition, settings: Settings) -> list[Trouble]:
    """That tool servers named for this agent do nothing; those of all agents are meant for others."""
    names = [each.name for each in definition.mcp_servers if each.name not in settings.agent.mcp_servers]
    if not names or definition.provider.driver not in DRIVERS_WITHOUT_A_MODEL:
        return []
    provider = definition.provider.name
    what = f"The provider {provider} uses no tool servers, so these stay unused: {', '.join(names)}."
    mend = "Choose a provider with a model in AGENT.md, or remove them from mcp_servers there."
    return [Trouble(what=what, mend=mend, is_fatal=False)]


def _destination(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or 443}"


def _reachable(definition: Definition) -> list[str]:
    return [f"{each.host}:{each.port}" for each in definition.egress]


def _fields(definition: Definition) -> dict[str, object]:
    provider = definition.provider
    return {
        "name": definition.name,
        "provider": provider.name,
        "driver": provider.driver,
        "program": provider.program,
        "command": definition.command or None,
        "model": definition.model,
        "permissions": definition.permissions.value,
        "auth_mode": provider.auth_mode.value,
        "base_url": None if provider.api is None else provider.api.base,
        "mcp_servers": {each.name: each.url or " ".join(each.command) for each in definition.mcp_servers},
        "env": sorted(definition.environment),
        "additional_dirs": [
            {"name": each.name, "path": str(each.path), "mode": "rw" if each.is_writable else "ro"}
            for each in definition.extra_directories
        ],
        "tools": list(definition.tools),
        "max_turns": definition.max_turns,
        "budget": {
            "tokens_per_day": definition.budget.tokens_per_day,
            "usd_per_month": definition.budget.usd_per_month,
        },
        "egress": _reachable(definition) + (["provider-tools"] if definition.allows_provider_tools else []),
        "locale": definition.locale,
    }
