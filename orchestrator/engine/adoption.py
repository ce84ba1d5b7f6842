"""At a start: agents that outlived an earlier process go on, where their runner kept all that they said.

Source: agents.md section 2.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from orchestrator.commands.hearing.words_kept import is_to_be_stopped
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import StartFailed, Unavailable
from orchestrator.contracts.records.agents import Agent, AgentStatus
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.spawns import SpawnedAgent
from orchestrator.contracts.seams import AgentHandle, Boxes, BoxPort, Runner
from orchestrator.contracts.wire.framing import EventLine, OutputItem
from orchestrator.engine.child_work import ChildWork
from orchestrator.engine.work import ChatWork, TaskWork, Work
from orchestrator.store import groups, messages, spawns, task_runs, tasks
from orchestrator.store.transaction import Transaction
from orchestrator.store.unsafe import UnsafeEntry, Vanished

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """An agent that goes on, with its box and the hand on its process."""

    agent: Agent
    group: Group
    work: Work
    box: BoxPort
    handle: AgentHandle


def says_ready(item: OutputItem) -> bool:
    """Whether it is what an agent says first: then its output is there from the first byte."""
    return isinstance(item, EventLine) and isinstance(item.plain, dict) and item.plain.get("type") == "ready"


async def adopt(
    services: Services, boxes: Boxes, runner: Runner, left: Sequence[Agent], *, instance_id: str
) -> list[Adopted]:
    """Those of the left agents that go on. The others are for `stop_leftovers`."""
    found: list[Adopted] = []
    for agent in left:
        if agent.runner != runner.name or agent.status is not AgentStatus.RUNNING or agent.is_legacy:
            continue
        adopted = await _adopt(services, boxes, runner, agent, instance_id)
        if adopted is not None:
            found.append(adopted)
            _log.info("agent.adopted", agent=agent.agent_id, group=agent.group)
    return found


async def _adopt(
    services: Services, boxes: Boxes, runner: Runner, agent: Agent, instance_id: str
) -> Adopted | None:
    works = await services.db.run(lambda tx: _work_of(tx, services, agent))
    if works is None or agent.process_ref is None:
        return None
    group, work = works
    try:
        box = await boxes.reopen(agent.box)
        if box is None:
            return None
        await _publish_staged(services, box, agent)
        handle = await runner.adopt(instance_id, agent.agent_id, agent.process_ref)
    except (StartFailed, Unavailable, UnsafeEntry, OSError) as error:
        _log.warning("agent.not_adopted", agent=agent.agent_id, error=str(error))
        return None
    return None if handle is None else Adopted(agent=agent, group=group, work=work, box=box, handle=handle)


def _work_of(tx: Transaction, services: Services, agent: Agent) -> tuple[Group, Work] | None:
    """What it was started for; None if that is gone, or nobody wants it to go on."""
    group = groups.by_folder(tx, agent.group)
    if group is None or is_to_be_stopped(tx, agent):
        return None
    if (spawn := spawns.get(tx, agent.agent_id)) is not None:
        spawned = SpawnedAgent(agent=agent, spawn=spawn)
        return group, ChildWork(services=services, group=group, spawned=spawned)
    if agent.task_run_id is None:
        return group, ChatWork(services=services, group=group)
    run = task_runs.get(tx, agent.task_run_id)
    task = None if run is None else tasks.get(tx, run.task_id)
    if run is None or task is None:
        return None
    return group, TaskWork(services=services, group=group, task=task, run_id=run.run_id)


async def _publish_staged(services: Services, box: BoxPort, agent: Agent) -> None:
    """Rename in the follow-ups that are its own and were only staged.

    One of which there is nothing any more it has taken: what it said of that comes with its output.
    """

    def body(tx: Transaction) -> list[str]:
        files = messages.input_files(tx, agent.agent_id)
        given = [each for each in messages.of_agent(tx, agent.agent_id) if not each.is_in_turn]
        return [stem for each in given if (stem := files[each.seq]) is not None]

    unread = await box.unread_inputs()
    for stem in dict.fromkeys(await services.db.run(body)):
        if stem not in unread:
            with contextlib.suppress(Vanished):
                await box.publish_follow_up(stem)
