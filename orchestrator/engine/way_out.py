"""An agent's way to its provider: the credential, the door of the proxy, and the port inside."""

import socket
from dataclasses import dataclass

from orchestrator.commands.services import Services
from orchestrator.contracts.errors import InvalidSettings, StartFailed
from orchestrator.contracts.ids import AgentId, GroupFolder
from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.records.egress import FORWARDER_PORT, EgressPolicy, Secret
from orchestrator.contracts.records.providers import AuthMode
from orchestrator.contracts.seams import Egress, EgressDoor
from orchestrator.core.agents.credentials import how_to_set


class MissingCredential(InvalidSettings):
    """A required credential of the provider is not set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOut:
    """An open door, and where the forwarder listens inside."""

    door: EgressDoor
    port: int


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
    """The way out that the definition asks for; None where it asks for none.

    Raises MissingCredential naming the slot and the command that sets it.
    """
    provider = definition.provider
    credential = await credential_of(services, definition)
    api = None if provider.auth_mode is AuthMode.NATIVE_CLI else provider.api
    if api is None and not definition.egress:
        return None
    if egress is None:
        raise StartFailed("There is no way out for agents here.", suggestion="Start it by dovecote serve.")
    policy = EgressPolicy(
        agent_id=agent_id,
        group=group,
        api=api,
        credential=credential,
        hosts=definition.egress,
        allows_provider_tools=definition.allows_provider_tools,
        uid=uid,
    )
    return WayOut(door=await egress.open(policy), port=FORWARDER_PORT if has_walls else _free_port())


async def credential_of(services: Services, definition: Definition) -> Secret | None:
    """The provider's credential: of its slots the first that is set. Raises MissingCredential."""
    found: Secret | None = None
    for slot in definition.provider.slots:
        value = await services.secrets.get(slot.secret_ref)
        if not value and slot.is_required:
            raise MissingCredential(
                f"The credential {slot.name} of the provider {definition.provider.name} is not set.",
                suggestion=how_to_set(slot),
            )
        found = found or value or None
    return found


def _free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now: without walls all agents share the machine's."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
