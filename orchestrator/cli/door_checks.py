"""The doctor's checks of the doors for programs, and of the keys that agents' tokens are signed with."""

import asyncio
import contextlib
import socket
from datetime import UTC, datetime
from typing import Final

from orchestrator.cli.client import running_client
from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.contracts.errors import DovecoteError
from orchestrator.paths import Paths
from orchestrator.settings.api import api_ports, other_port
from orchestrator.store.key_ring import open_ring

_DOORS: Final = "doors"
_KEYS: Final = "keys"


def check_doors(patient: Patient) -> Finding:
    """Programs of this machine come in at the ports that the settings name."""
    ports = api_ports(patient.settings.api)
    if patient.settings.api.dev_mode:
        why = "api.dev_mode is on: who can open the Unix socket is taken for you."
        return doubtful(_DOORS, why, "Turn it off in dovecote.toml, unless you are developing.")
    if not ports:
        return well(_DOORS, "Only the Unix socket (api.loopback is off).")
    if patient.pid is None:
        taken = [port for port in ports if _is_taken(port)]
    else:
        taken = asyncio.run(_closed_ports(patient.paths, ports))
    if taken:
        names = ", ".join(map(str, taken))
        mend = " ".join(dict.fromkeys(other_port(patient.settings.api, port) for port in taken))
        return doubtful(_DOORS, f"Another program listens on 127.0.0.1 at {names}.", mend)
    return well(_DOORS, f"The Unix socket, and 127.0.0.1 at {', '.join(map(str, ports))}.")


def check_keys(patient: Patient) -> Finding:
    """The ring that signs agents' tokens can be read, if there is one yet."""
    if not patient.paths.keys.exists():
        return well(_KEYS, "Made at the first start.")
    try:
        # It is there, so the time of its making does not matter.
        ring = open_ring(patient.paths.keys, at=datetime.fromtimestamp(0, UTC))
    except DovecoteError as error:
        return broken(_KEYS, error.message, error.suggestion)
    return well(_KEYS, f"{len(ring.keys)} in the ring that signs agents' tokens.")


def _is_taken(port: int) -> bool:
    with contextlib.closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


async def _closed_ports(paths: Paths, ports: tuple[int, ...]) -> list[int]:
    """Those that the running orchestrator could not open."""
    client = await running_client(paths)
    if client is None:
        return []
    async with client:
        troubles = (await client.call("GET", "/api/v1/status"))["troubles"]
    return [port for port in ports if f"api port {port}" in troubles]
