"""Opens and closes the ways out of containers."""

import asyncio
import shutil
import ssl
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpx
import structlog

from orchestrator.contracts.egress_seams import AgentApi, Resolver, UsageMeter
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.os_errors import unusable
from orchestrator.contracts.records.egress import EgressPolicy, ProviderCall
from orchestrator.contracts.seams import Clock
from orchestrator.core.sandbox.egress_rules import Address
from orchestrator.egress.door import Door
from orchestrator.egress.look_up import SystemResolver, is_this_machine
from orchestrator.egress.provider_exchange import CallParts
from orchestrator.egress.route import Dial, Route, dial_tcp
from orchestrator.egress.socket_directory import SocketDirectory, directory_name
from orchestrator.egress.upstream import Upstream

_log = structlog.get_logger(__name__)
_LOOK_UPS: Final = 8


class OpenDoor:
    """A door and the task that serves it: an `EgressDoor`."""

    def __init__(self, door: Door, serving: asyncio.Task[None]) -> None:
        self._door = door
        self._serving = serving

    @property
    def directory(self) -> Path:
        """What is mounted into the container."""
        return self._door.directory

    @property
    def last_failure(self) -> ProviderCall | None:
        """The latest call, if the provider failed it."""
        return self._door.last_failure

    async def close(self) -> None:
        """End every connection and remove the socket."""
        self._serving.cancel()
        await asyncio.wait([self._serving])
        await asyncio.to_thread(self._door.remove)


class EgressProxy:
    """All ways out of this installation: an `Egress`. Made by `opened_egress`."""

    def __init__(
        self,
        directory: Path,
        route: Route,
        parts: CallParts,
        tls: Callable[[], ssl.SSLContext],
        agent_api: AgentApi | None = None,
    ) -> None:
        self._agent_api = agent_api
        self._directory = directory
        self._route = route
        self._parts = parts
        self._make_tls = tls
        self._tls: ssl.SSLContext | None = None
        self._doors: dict[AgentId, OpenDoor] = {}

    async def open(self, policy: EgressPolicy) -> OpenDoor:
        """A socket that lets through what the policy says; it listens when this returns.

        Raises InvalidSettings for a provider's base that is none, DovecoteError where the disk refuses.
        """
        assert policy.agent_id not in self._doors, f"{policy.agent_id} has a way out already"
        upstream = None
        if policy.api is not None:
            upstream = Upstream(
                policy.api,
                policy.credential,
                policy.limits,
                self._route,
                tls=await self._trust(),
                clock=self._parts.clock,
            )
        place = SocketDirectory.of(self._directory, policy.agent_id, policy.uid)
        try:
            listener = await asyncio.to_thread(place.listen)
        except OSError as error:
            raise unusable(place.path, error) from None
        door = Door(policy, place, upstream, self._route, self._parts, self._agent_api)
        serving = self._parts.tasks.create_task(door.serve(listener), name=f"egress of {policy.agent_id}")
        opened = OpenDoor(door, serving)
        self._doors[policy.agent_id] = opened
        serving.add_done_callback(lambda _: self._doors.pop(policy.agent_id))
        return opened

    async def remove_stale(self, living: Iterable[AgentId]) -> None:
        """Remove the directories of agents that are not among the living, left by an earlier process."""
        kept = {directory_name(agent) for agent in living}
        await asyncio.to_thread(_remove_others, self._directory, kept)

    async def close(self) -> None:
        """Close every door."""
        for door in list(self._doors.values()):
            await door.close()

    async def _trust(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = await asyncio.to_thread(self._make_tls)
        return self._tls


@asynccontextmanager
async def opened_egress(
    directory: Path,
    *,
    meter: UsageMeter,
    clock: Clock,
    resolver: Resolver | None = None,
    dial: Dial = dial_tcp,
    is_ours: Callable[[Address], bool] = is_this_machine,
    tls: Callable[[], ssl.SSLContext] = httpx.create_ssl_context,
    agent_api: AgentApi | None = None,
) -> AsyncIterator[EgressProxy]:
    """The proxy while the block runs. directory: of ours alone, holds one directory an agent.

    resolver, dial, is_ours, tls: the network; a test brings its own. agent_api: what answers agents that
    ask for others.
    """
    look_ups = ThreadPoolExecutor(_LOOK_UPS, thread_name_prefix="egress look-up")
    # One: large bodies of many agents are read one after the other, beside the loop.
    bodies = ThreadPoolExecutor(1, thread_name_prefix="egress bodies")
    route = Route(resolver=resolver or SystemResolver(look_ups), dial=dial, is_ours=is_ours)
    await asyncio.to_thread(directory.mkdir, mode=0o700, parents=True, exist_ok=True)
    try:
        async with asyncio.TaskGroup() as tasks:
            parts = CallParts(meter=meter, clock=clock, threads=bodies, tasks=tasks)
            proxy = EgressProxy(directory, route, parts, tls, agent_api)
            try:
                yield proxy
            finally:
                await proxy.close()
    finally:
        # A look-up that hangs must not keep us: its thread ends with it.
        for threads in (look_ups, bodies):
            threads.shutdown(wait=False, cancel_futures=True)


def _remove_others(directory: Path, kept: set[str]) -> None:
    for entry in directory.iterdir():
        if entry.name not in kept:
            shutil.rmtree(entry, ignore_errors=True)
