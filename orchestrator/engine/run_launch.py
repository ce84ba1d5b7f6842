"""The start of one run, step by step: its box, its places, its way out, its walls, its process."""

import asyncio

from orchestrator.contracts.errors import DovecoteError, InvalidSettings, StartFailed
from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.records.launch import AgentPlaces, LaunchPlan
from orchestrator.contracts.seams import BoxPort
from orchestrator.contracts.wire.codec import to_json
from orchestrator.engine.agent_launch import container_input, plan_for_group, prepare_places
from orchestrator.engine.child_places import child_definition, prepare_child_places
from orchestrator.engine.run_state import RunState
from orchestrator.engine.snapshots import RunSnapshots
from orchestrator.engine.start_limit import StartLimit
from orchestrator.engine.way_out import open_way_out
from orchestrator.engine.work import FirstInput
from orchestrator.store.dir_compare import mark_dirs
from orchestrator.store.unsafe import UnsafeEntry


class RunLaunch:
    """Launches one run; what stands by then, its state holds."""

    def __init__(self, state: RunState, snapshots: RunSnapshots, start_limit: StartLimit) -> None:
        self._state = state
        self._snapshots = snapshots
        self._start_limit = start_limit

    async def launch(self, given: FirstInput, turn_id: TurnId) -> bytes:
        """Start it; it waits for its input, which is returned. Raises StartFailed, Unavailable."""
        state, parts = self._state, self._state.parts
        if state.definition is None:
            raise StartFailed(state.misconfigured or "")
        definition = child_definition(state.definition, state.spawned)
        identity = state.identity
        try:
            box = state.box = await parts.boxes.make(state.box_name, uid=identity.uid, gid=identity.uid)
            snapshots = await self._snapshots.refresh(box)
            plan = await self._plan(definition)
        except (OSError, UnsafeEntry) as error:
            raise StartFailed(
                f"The places of group {state.group.folder!r} can't be made: {error}.",
                suggestion="Check them: dovecote doctor",
            ) from error
        first = container_input(
            state.services,
            state.group,
            identity,
            given,
            snapshots,
            definition,
            turn_id=turn_id,
            has_walls=parts.has_walls,
            spawned=state.spawned,
        )
        parts.boxes.watch(state.caller, box)
        async with self._start_limit.holds("was not started"):
            state.handle = await parts.runner.start(plan)
        return (to_json(first) + "\n").encode()

    async def take_over(self, box: BoxPort) -> None:
        """Open the box and the way out of an agent that runs already. Raises StartFailed, Unavailable."""
        state = self._state
        if state.definition is None:
            raise StartFailed(state.misconfigured or "")
        state.box = box
        await self._open_way_out(child_definition(state.definition, state.spawned))
        state.parts.boxes.watch(state.caller, box)

    async def _plan(self, definition: Definition) -> LaunchPlan:
        """Its walls; what they show of the host is made by then. Raises OSError, StartFailed."""
        state, parts = self._state, self._state.parts
        places = await self._places(definition)
        await self._open_way_out(definition)
        return await plan_for_group(
            state.services,
            state.group,
            state.identity,
            places,
            definition,
            state.way_out,
            instance_id=parts.instance_id,
            command=parts.command,
            has_walls=parts.has_walls,
        )

    async def _places(self, definition: Definition) -> AgentPlaces:
        state, services = self._state, self._state.services
        path, identity = state.parts.boxes.path_of(state.box_name), state.identity
        if state.spawned is None:
            return await prepare_places(services, state.group, identity, state.box_name, path, definition)
        spawn = state.spawned.spawn
        try:
            places = await prepare_child_places(
                services, state.group, state.spawned, identity, path, definition
            )
        except DovecoteError as error:
            raise StartFailed(error.message, suggestion=error.suggestion) from error
        if spawn.writable_paths or spawn.is_own_workspace:
            state.marks = await asyncio.to_thread(mark_dirs, places.workspace, spawn.writable_paths)
        return places

    async def _open_way_out(self, definition: Definition) -> None:
        state = self._state
        try:
            state.way_out = await open_way_out(
                state.services,
                state.parts.egress,
                definition,
                agent_id=state.agent_id,
                group=state.group.folder,
                uid=state.identity.uid,
                has_walls=state.parts.has_walls,
            )
        except InvalidSettings as error:
            state.misconfigured = str(error)
            raise StartFailed(error.message, suggestion=error.suggestion) from error
        if definition.provider.api is None or state.parts.meter is None:
            return
        reason = await state.parts.meter.why_not(state.agent_id, state.group.folder)
        if reason is not None:
            state.is_budget_spent = True
            raise StartFailed(reason)
