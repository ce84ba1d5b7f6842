"""An agent's way out: to its provider with the credential, and to us with its session token."""

import asyncio
import socket
from dataclasses import dataclass
from pathlib import Path

import structlog

from orchestrator.commands.agents.tokens import prepare_token_dir, remove_token_dir
from orchestrator.commands.services import Services
from orchestrator.contracts.egress_seams import Egress, EgressDoor
from orchestrator.contracts.errors import DovecoteError, InvalidSettings, StartFailed
from orchestrator.contracts.ids import AgentId, GroupFolder
from orchestrator.contracts.os_errors import advice_for
from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.records.egress import FORWARDER_PORT, EgressPolicy, Secret
from orchestrator.contracts.records.launch import GITHUB_FILE, TOKEN_FILE
from orchestrator.contracts.records.providers import AuthMode, CredentialSlot
from orchestrator.contracts.wire.tools import SPAWN_TOOLS
from orchestrator.core.agents.credential_advice import how_to_set
from orchestrator.store.token_files import token_directory as token_directory_of
from orchestrator.store.token_files import write_token

_log = structlog.get_logger(__name__)


class MissingCredential(InvalidSettings):
    """A required credential of the provider is not set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOut:
    """An open door, and where the forwarder listens inside.

    token_directory: holds the tokens of the agent; None: it has none. has_session, has_github: which: that of
    an agent that may start others, and one for GitHub. session_token: the first, where the settings want it
    in the environment as well.
    """

    door: EgressDoor
    port: int
    token_directory: Path | None = None
    has_session: bool = False
    has_github: bool = False
    session_token: Secret | None = None

    async def close(self, services: Services, agent_id: AgentId) -> None:
        """End every connection, and remove socket and token."""
        await self.door.close()
        await remove_token_dir(services, agent_id)


async def open_way_out(
    services: Services,
    egress: Egress | None,
    definition: Definition,
    *,
    agent_id: AgentId,
    group: GroupFolder,
    uid: int | None,
    has_walls: bool,
) -> WayOut | None:
    """The way out that the definition asks for, or that an agent with the toolset `spawn` needs to start
    others, with its tokens; None where it needs none.

    Raises MissingCredential naming the slot and the command that sets it.
    """
    provider = definition.provider
    credential = await credential_of(services, definition)
    github = None if definition.github is None else await _value_of(services, definition.github, "AGENT.md")
    api = None if provider.auth_mode is AuthMode.NATIVE_CLI else provider.api
    starts_others = egress is not None and SPAWN_TOOLS in definition.tools
    session = await _token_directory(services, agent_id, uid) if starts_others else None
    if api is None and not definition.egress and session is None and github is None:
        return None
    if egress is None:
        raise StartFailed("There is no way out for agents here.", suggestion="Start it by dovecote serve")
    policy = EgressPolicy(
        agent_id=agent_id,
        group=group,
        api=api,
        credential=credential,
        hosts=definition.egress,
        allows_provider_tools=definition.allows_provider_tools,
        uid=uid,
        serves_spawn=session is not None,
    )
    token_directory = session
    try:
        if github is not None:
            token_directory = await _give_github(services, agent_id, github, uid)
        door = await egress.open(policy)
    except BaseException:  # a cancellation too: nothing else knows of the token by now
        await remove_token_dir(services, agent_id)
        raise
    return WayOut(
        door=door,
        port=FORWARDER_PORT if has_walls else _free_port(),
        token_directory=token_directory,
        has_session=session is not None,
        has_github=github is not None,
        session_token=await _token_to_show(services, session),
    )


async def _token_directory(services: Services, agent_id: AgentId, uid: int | None) -> Path | None:
    """Where the agent finds its session token. Without one it answers, and asks for helpers by its box."""
    try:
        return await prepare_token_dir(services, agent_id, uid)
    except (DovecoteError, OSError) as error:
        _log.error("token.not_given", agent=agent_id, error=str(error))
        return None


async def _give_github(services: Services, agent_id: AgentId, token: Secret, uid: int | None) -> Path:
    """Where the agent finds its token for GitHub. Raises StartFailed: without it its work would go wrong."""
    directory = token_directory_of(services.paths.tokens, agent_id)
    try:
        await asyncio.to_thread(lambda: write_token(directory, token.reveal(), uid=uid, name=GITHUB_FILE))
    except OSError as error:
        raise StartFailed(
            f"The token for GitHub can't be given to the agent: {error.strerror}.",
            suggestion=advice_for(error),
        ) from error
    return directory


async def _token_to_show(services: Services, directory: Path | None) -> Secret | None:
    if directory is None or not services.settings.spawn.token_in_environment:
        return None
    return Secret(await asyncio.to_thread((directory / TOKEN_FILE).read_text, "ascii"))


async def credential_of(services: Services, definition: Definition) -> Secret | None:
    """The provider's credential: of its slots the first that is set. Raises MissingCredential."""
    found: Secret | None = None
    for slot in definition.provider.slots:
        value = await _value_of(services, slot, f"the provider {definition.provider.name}")
        found = found or value
    return found


async def _value_of(services: Services, slot: CredentialSlot, owner: str) -> Secret | None:
    value = await services.secrets.get(slot.secret_ref)
    if not value and slot.is_required:
        raise MissingCredential(
            f"The credential {slot.name} of {owner} is not set.", suggestion=how_to_set(slot)
        )
    return value or None


def _free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now: without walls all agents share the machine's."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
