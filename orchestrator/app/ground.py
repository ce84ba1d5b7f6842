"""Where agents live: runner, boxes and ways out, cleared of what an earlier process left."""

import asyncio
import contextlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from orchestrator.api.agent_face import AgentFace
from orchestrator.app.house import House
from orchestrator.app.parts import Replacements
from orchestrator.commands.agents.tokens import sweep_token_dirs
from orchestrator.commands.saying.attachments import sweep_spool
from orchestrator.commands.services import Services
from orchestrator.commands.usage.usage_meter import StoredUsage
from orchestrator.contracts.egress_seams import UsageMeter
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.live_events import LiveEvents
from orchestrator.contracts.seams import Runner
from orchestrator.egress.proxy import EgressProxy, opened_egress
from orchestrator.engine.adoption import Adopted
from orchestrator.engine.recovery import reconcile
from orchestrator.engine.run_state import RunParts
from orchestrator.ipc.boxes import BoxKeeper
from orchestrator.ipc.hints import Hints
from orchestrator.ipc.lane import IntakeLimits
from orchestrator.paths import Paths
from orchestrator.runners.catalog import RunnerOptions, choose_runner, make_runner
from orchestrator.settings.tree import Settings
from orchestrator.store import facts
from orchestrator.store.facts import HomePlace
from orchestrator.store.home_files import clear_laid_files

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What agents run on. adopted: those of an earlier process that live on. runner_line: for people."""

    boxes: BoxKeeper
    run_parts: RunParts
    adopted: list[Adopted]
    runner_line: str


async def take_ground(
    stack: contextlib.AsyncExitStack, house: House, parts: Replacements, live: LiveEvents
) -> Ground:
    """Choose the runner, open the boxes, and bring every agent of an earlier process to one true state.

    live: the events that agents may follow.
    """
    services = house.services
    place = await asyncio.to_thread(HomePlace.of, services.paths.home)
    instance_id = await services.db.run(lambda tx: facts.instance_id(tx, place))
    options = runner_options(services.settings, services.paths)
    runner, runner_line = parts.runner or await _choose(services.settings, options)
    stack.push_async_callback(runner.close)
    await sweep_spool(services)
    boxes = await _open_boxes(stack, house, watches=parts.watches)
    adopted = await reconcile(
        services,
        boxes,
        runner,
        runner_named=lambda name: make_runner(name, options),
        instance_id=instance_id,
    )
    meter = parts.meter or StoredUsage(services)
    egress = await _open_egress(stack, services, meter, live, [each.agent.agent_id for each in adopted])
    run_parts = RunParts(
        services=services,
        boxes=boxes,
        runner=runner,
        channels=house.channels,
        instance_id=instance_id,
        command=parts.agent_command,
        egress=egress,
        meter=meter,
    )
    return Ground(boxes=boxes, run_parts=run_parts, adopted=adopted, runner_line=runner_line)


async def _choose(settings: Settings, options: RunnerOptions) -> tuple[Runner, str]:
    """The runner, and the line about it for people; the log has it whole."""
    chosen = await choose_runner(settings.agent.runner, options)
    _log.info("runner.chosen", runner=chosen.runner.name, why=chosen.in_full)
    return chosen.runner, chosen.line


async def _open_boxes(stack: contextlib.AsyncExitStack, house: House, *, watches: bool) -> BoxKeeper:
    services = house.services
    boxes = await BoxKeeper.open(
        services,
        path=services.paths.ipc,
        limits=_intake_limits(services.settings),
        poll_s=services.settings.ipc.poll_s,
        make_hints=make_hints if watches else None,
        on_violation=house.agents.stop_violator,
    )
    stack.push_async_callback(boxes.close)
    return boxes


async def _open_egress(
    stack: contextlib.AsyncExitStack,
    services: Services,
    meter: UsageMeter,
    live: LiveEvents,
    living: Sequence[AgentId],
) -> EgressProxy:
    """The ways out of containers. What agents of an earlier process were given goes, unless they are among
    the living."""
    paths = services.paths
    opening = opened_egress(
        paths.run / "egress", meter=meter, clock=services.clock, agent_api=AgentFace(services, live)
    )
    egress = await stack.enter_async_context(opening)
    await egress.remove_stale(living)
    if not living:
        await asyncio.to_thread(clear_laid_files, paths.laid)
    await sweep_token_dirs(services)
    return egress


def make_hints() -> Hints:
    """What tells at once that a box has something new, on this system."""
    if platform.system() == "Linux":
        from orchestrator.ipc.inotify_hints import InotifyHints

        return InotifyHints()
    from orchestrator.ipc.watchfiles_hints import WatchfilesHints

    return WatchfilesHints()


def runner_options(settings: Settings, paths: Paths) -> RunnerOptions:
    """What the settings say of runners."""
    return RunnerOptions(
        image=settings.agent.image,
        programs_directory=paths.programs,
        engine_url=settings.agent.engine_url,
        bwrap=settings.agent.bwrap,
        allow_unisolated=settings.agent.allow_unisolated,
    )


def _intake_limits(settings: Settings) -> IntakeLimits:
    ipc = settings.ipc
    return IntakeLimits(
        per_minute=ipc.rate_per_minute,
        burst=ipc.burst,
        max_entries=ipc.max_entries,
        max_box_bytes=ipc.max_box_bytes,
    )
