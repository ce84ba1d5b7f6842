"""Agents in containers of a Docker engine on this machine."""

import asyncio
import os
import platform
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import docker
import docker.errors
import docker.types

from orchestrator.contracts.errors import StartFailed, Unavailable
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.launch import AGENT_RUNNER_COMMAND, AGENTS_TARGET, LaunchPlan
from orchestrator.core.agents.environment import SEARCH_PATH
from orchestrator.runners import mount_check, syscall_filter
from orchestrator.runners.agent_programs import how_to_install, is_complete, programs_in
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.docker_handle import DockerHandle, remove_container
from orchestrator.runners.docker_leftovers import AGENT_LABEL, INSTANCE_LABEL, Left, find, sweep
from orchestrator.runners.docker_stream import LOGS, Attachment
from orchestrator.runners.image import (
    REBUILD,
    ImageState,
    Stamps,
    agents_inside,
    any_is_there,
    image_of,
    image_state,
    labels_of,
    own_stamps,
    state_by_labels,
)

# Kept for the operator, and for an orchestrator that comes back; above the limit on a turn's output.
_LOG_BYTES: Final = "64m"
_SEARCHED: Final = (f"{AGENTS_TARGET}/bin", *SEARCH_PATH.split(":"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Created:
    """A container that was made. path: of the request that attaches to it, but for the streams wanted."""

    container_id: str
    is_legacy: bool
    path: str


class DockerRunner:
    """Starts agents in containers. engine_url: None is the usual socket.

    image: for plans that name none; None: the one of these very files.
    """

    name = "docker"

    def __init__(self, *, image: str | None, engine_url: str | None = None) -> None:
        self._named = image
        self._engine = Engine(engine_url)
        self._own: Stamps | None = None
        self._security: list[str] | None = None
        self._lost: set[str] = set()
        """Containers that could not be removed: they are, before another one is started."""

    async def why_not(self) -> str | None:
        """Ask the engine and look at the image."""
        try:
            image, state = await self._engine.call(self._look)
        except (Unavailable, StartFailed) as error:
            return str(error)
        refusal = _refusal(image, state)
        return None if refusal is None else str(refusal)

    async def in_words(self) -> str:
        """One line for the log: what agents run in. Raises Unavailable."""
        version, image = await self._engine.call(lambda client: (client.version()["Version"], self._image()))
        return f"Agents run in Docker containers (engine {version}, image {image})."

    async def agent_programs(self) -> tuple[str, ...] | None:
        """Those in the image; of a legacy one nobody knows. Raises Unavailable."""
        labels = await self._engine.call(lambda client: labels_of(client, self._image())) or {}
        if state_by_labels(labels, self._stamps()) is ImageState.LEGACY:
            return None
        return programs_in(agents_inside(labels))

    async def finds(self, program: str, *, is_script: bool = False) -> bool | None:
        """In the image; of a legacy one, which has a program of its own, nobody asks. Raises Unavailable."""
        image = self._image()
        labels = await self._engine.call(lambda client: labels_of(client, image)) or {}
        if state_by_labels(labels, self._stamps()) is ImageState.LEGACY:
            return None
        paths = [program] if "/" in program else [f"{place}/{program}" for place in _SEARCHED]
        return await self._engine.call(lambda client: any_is_there(client, image, paths))

    async def limits_in_words(self) -> str:
        """Which limits hold here, for `dovecote doctor`."""
        return "memory, processes and CPUs: by control group, set by the engine"

    async def start(self, plan: LaunchPlan) -> DockerHandle:
        """Start it; the walls stand when this returns. Raises StartFailed or Unavailable."""
        await self._remove_lost()
        with mount_check.opened_mounts(plan) as mounts, ExitStack() as undo:
            created = await self._create(plan)
            undo.callback(self._remove_soon, created.container_id)
            # Before the start, or early output is lost; one connection a stream, so that neither waits
            # for the other's reader.
            streams = await self._attach(created, "stdin=1&stdout=1", undo)
            log = await self._attach(created, "stderr=1", undo)
            pid = await self._engine.call(lambda client: _start(client, created.container_id))
            undo.pop_all()
        return DockerHandle(
            self._engine,
            created.container_id,
            streams=streams,
            log=log,
            mounts=mounts,
            is_legacy=created.is_legacy,
            pid=pid,
            on_lost=self._lost.add,
        )

    async def adopt(self, instance_id: str, agent_id: AgentId, ref: str) -> DockerHandle | None:
        """A container of this instance that runs or has ended, as long as the engine has its whole log."""
        found = await self._engine.call(lambda client: find(client, ref))
        if found is None or (found.instance_id, found.agent_id) != (instance_id, agent_id):
            return None
        said_bytes = await self._said_bytes(found)
        whole = f"{found.path}follow=1&tail=all"
        output = await Attachment.open(self._engine.url, f"{whole}&stdout=1", request=LOGS)
        try:
            log = await Attachment.open(self._engine.url, f"{whole}&stderr=1", request=LOGS)
        except BaseException:  # a cancellation too: the stream has no other owner yet
            output.close()
            raise
        return DockerHandle(
            self._engine,
            ref,
            streams=output,
            log=log,
            mounts=(),
            is_legacy=False,
            pid=found.pid,
            on_lost=self._lost.add,
            said_bytes=said_bytes,
        )

    async def _said_bytes(self, found: Left) -> int:
        """How much of its standard output the engine has by now."""
        so_far = await Attachment.open(self._engine.url, f"{found.path}tail=all&stdout=1", request=LOGS)
        try:
            return sum([len(chunk) async for chunk in so_far.content()])
        finally:
            so_far.close()

    async def stop_leftovers(
        self,
        instance_id: str,
        refs: Sequence[tuple[AgentId, str | None]],
        *,
        spare: Collection[AgentId] = (),
    ) -> list[AgentId]:
        """Remove every container with this instance's label. Where the engine is away or tells of none, none
        can be verified."""
        try:
            return await self._engine.call(lambda client: sweep(client, instance_id, spare))
        except (StartFailed, Unavailable):
            return [agent_id for agent_id, _ in refs]

    async def close(self) -> None:
        """Give back threads and connections, when what was begun has ended."""
        await asyncio.to_thread(self._engine.close)

    async def _remove_lost(self) -> None:
        """What outlived an absence of the engine must not work beside its successor."""
        for container_id in list(self._lost):
            await self._engine.call(partial(remove_container, container_id=container_id))
            self._lost.discard(container_id)

    def _look(self, client: docker.DockerClient) -> tuple[str, ImageState]:
        """The image and what it is. Blocks."""
        return self._image(), image_state(client, self._image(), self._stamps())

    def _image(self) -> str:
        """Its name. Reads the disk."""
        return self._named or image_of(self._stamps())

    def _stamps(self) -> Stamps:
        if self._own is None:
            self._own = own_stamps()
        return self._own

    async def _create(self, plan: LaunchPlan) -> _Created:
        making = self._engine.calls.submit(self._engine.run, lambda client: self._create_now(client, plan))
        try:
            return await asyncio.shield(asyncio.wrap_future(making))
        except asyncio.CancelledError:
            # The thread goes on whatever happens to us: what it makes, it removes.
            if making.done():
                self._remove_soon(making.result().container_id)
            else:
                making.add_done_callback(self._remove_made)
            raise

    def _create_now(self, client: docker.DockerClient, plan: LaunchPlan) -> _Created:
        image = plan.image or self._image()
        labels = labels_of(client, image)
        state = ImageState.MISSING if labels is None else state_by_labels(labels, self._stamps())
        if (refusal := _refusal(image, state) or _lack(image, state, labels or {}, plan)) is not None:
            raise refusal
        if self._security is None:
            self._security = security_options(client.info(), machine=platform.machine())
        arguments = _arguments(client, plan, image=image, security=self._security)
        try:
            container_id = str(client.api.create_container(**arguments)["Id"])
        except docker.errors.NotFound as error:
            raise StartFailed(
                f"The engine lost {image} just now: {error.explanation}.", suggestion=REBUILD
            ) from error
        return _Created(
            container_id=container_id,
            is_legacy=state is ImageState.LEGACY,
            path=f"/v{client.api.api_version}/containers/{container_id}/attach?stream=1&",
        )

    async def _attach(self, created: _Created, wanted: str, undo: ExitStack) -> Attachment:
        attachment = await Attachment.open(self._engine.url, created.path + wanted)
        undo.callback(attachment.close)
        return attachment

    def _remove_made(self, making: Future[_Created]) -> None:
        """In the thread that made it, so that closing the runner waits for it."""
        if making.exception() is None:
            self._engine.run(lambda client: remove_container(client, making.result().container_id))

    def _remove_soon(self, container_id: str) -> None:
        self._engine.calls.submit(self._engine.run, lambda client: remove_container(client, container_id))


def _start(client: docker.DockerClient, container_id: str) -> int:
    """Start it and tell the pid of its first process. Blocks for about 170 ms."""
    client.api.start(container_id)
    return int(client.api.inspect_container(container_id)["State"]["Pid"])


def _refusal(image: str, state: ImageState) -> StartFailed | None:
    if state is ImageState.MISSING:
        return StartFailed(f"The image {image} is not there.", suggestion=REBUILD)
    if state is ImageState.OLD:
        return StartFailed(f"The image {image} was built by another version of Dovecote.", suggestion=REBUILD)
    return None


def _lack(image: str, state: ImageState, labels: Mapping[str, str], plan: LaunchPlan) -> StartFailed | None:
    """A legacy image has its own program; of ours we know what is inside."""
    if plan.program is None or state is ImageState.LEGACY:
        return None
    if is_complete(plan.program, agents_inside(labels)):
        return None
    return StartFailed(
        f"The agent program {plan.program} is not in the image {image}.",
        suggestion=how_to_install(plan.program),
    )


def security_options(engine_info: Mapping[str, Any], *, machine: str) -> list[str]:
    """With our profile of system calls where the engine can filter them and the rules know the machine."""
    options = ["no-new-privileges:true"]
    # As in "name=seccomp,profile=default". An engine without it starts nothing that has a profile.
    can_filter = any(
        str(option).startswith("name=seccomp") for option in engine_info.get("SecurityOptions") or ()
    )
    if can_filter and syscall_filter.is_known(machine):
        options.append(f"seccomp={syscall_filter.docker_profile()}")
    return options


def _arguments(
    client: docker.DockerClient, plan: LaunchPlan, *, image: str, security: Sequence[str]
) -> dict[str, Any]:
    return {
        "image": image,
        "name": plan.agent_id,
        "hostname": "dovecote",
        "user": _user(plan),
        "working_dir": plan.working_directory,
        "environment": dict(plan.environment),
        "labels": _labels(plan),
        "stdin_open": True,
        # Not detached: so its standard input ends when ours does.
        "detach": False,
        "host_config": _host_config(client, plan, security=security),
        **_command(plan),
    }


def _command(plan: LaunchPlan) -> dict[str, Any]:
    """Our agent runner, or what a legacy image has instead, is the image's entry point."""
    if plan.command == AGENT_RUNNER_COMMAND:
        return {}
    first, *rest = plan.command
    return {"entrypoint": [first], "command": list(rest)}


def _user(plan: LaunchPlan) -> str | None:
    """Never root: for an orchestrator that is root and gives no uid, the image's own user."""
    if plan.uid is not None:
        return f"{plan.uid}:{plan.gid if plan.gid is not None else plan.uid}"
    return None if os.geteuid() == 0 else f"{os.geteuid()}:{os.getegid()}"


def _labels(plan: LaunchPlan) -> dict[str, str]:
    return {
        INSTANCE_LABEL: plan.instance_id,
        "dovecote.group": plan.group,
        AGENT_LABEL: plan.agent_id,
        "dovecote.deadline": plan.deadline.isoformat() if plan.deadline else "",
    }


def _host_config(
    client: docker.DockerClient, plan: LaunchPlan, *, security: Sequence[str]
) -> Mapping[str, Any]:
    limits = plan.limits
    options = "rw,nosuid,nodev,mode=1777"
    return client.api.create_host_config(
        mounts=[
            docker.types.Mount(
                target=mount.target,
                source=str(mount.source),
                type="bind",
                read_only=not mount.is_writable,
                propagation="rprivate",
            )
            for mount in plan.mounts
        ],
        network_mode="none",
        ipc_mode="private",
        read_only=True,
        tmpfs={"/tmp": f"{options},size={limits.tmp_bytes}"},
        shm_size=limits.shm_bytes,
        cap_drop=["ALL"],
        security_opt=list(security),
        init=True,
        pids_limit=limits.processes,
        mem_limit=limits.memory_bytes,
        memswap_limit=limits.memory_bytes,
        nano_cpus=int(limits.cpus * 1e9),
        ulimits=[
            docker.types.Ulimit(name="nofile", soft=limits.open_files, hard=limits.open_files),
            docker.types.Ulimit(name="fsize", soft=limits.file_size_bytes, hard=limits.file_size_bytes),
            docker.types.Ulimit(name="core", soft=0, hard=0),
        ],
        log_config=docker.types.LogConfig(type="json-file", config={"max-size": _LOG_BYTES, "max-file": "1"}),
    )
