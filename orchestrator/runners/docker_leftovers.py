"""Containers that an earlier process left: how they are known, and how they are removed."""

import contextlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import docker
import docker.errors
import requests.exceptions

from orchestrator.contracts.ids import AgentId
from orchestrator.runners.docker_handle import remove_container

INSTANCE_LABEL: Final = "dovecote.instance"
AGENT_LABEL: Final = "dovecote.agent"
_ENDS_WITHIN_S: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A container that an earlier process left. path: of the request for its log, but for what is wanted."""

    instance_id: str
    agent_id: str
    pid: int
    path: str


def find(client: docker.DockerClient, container_id: str) -> Left | None:
    """What a left container is; None if it is gone. Blocks."""
    try:
        attrs = client.api.inspect_container(container_id)
    except docker.errors.NotFound:
        return None
    labels = attrs["Config"]["Labels"] or {}
    return Left(
        instance_id=labels.get(INSTANCE_LABEL, ""),
        agent_id=labels.get(AGENT_LABEL, ""),
        pid=int(attrs["State"]["Pid"]),
        path=f"/v{client.api.api_version}/containers/{container_id}/logs?",
    )


def sweep(client: docker.DockerClient, instance_id: str, spare: Collection[AgentId]) -> list[AgentId]:
    """Remove every container of an instance but those of `spare`; whose may still run. Blocks."""
    unverified: list[AgentId] = []
    wanted = {"label": f"{INSTANCE_LABEL}={instance_id}"}
    for each in client.api.containers(all=True, filters=wanted):
        agent_id = AgentId(each["Labels"].get(AGENT_LABEL, ""))
        if agent_id in spare:
            continue
        with contextlib.suppress(docker.errors.APIError):  # one that resists must not keep the others
            remove_container(client, each["Id"])
        if not _has_ended(client, each["Id"]):
            unverified.append(agent_id)
    return unverified


def _has_ended(client: docker.DockerClient, container_id: str) -> bool:
    """Whether nothing of it runs: its removal may have been in progress before ours, and be so yet."""
    try:
        client.api.wait(container_id, timeout=_ENDS_WITHIN_S, condition="not-running")
    except docker.errors.NotFound:
        return True
    except (docker.errors.APIError, requests.exceptions.RequestException):
        return False
    return True
