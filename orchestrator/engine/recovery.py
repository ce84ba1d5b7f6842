"""At a start: what an earlier process left behind gets its one true state."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Final

import structlog

from orchestrator.commands.hearing.words_kept import bury_left
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.saying.delivery import mark_in_flight_unknown
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import caller_of
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.ids import AgentId, BoxName, TurnId
from orchestrator.contracts.records.agents import Agent, DeathCause, EndReason
from orchestrator.contracts.seams import Boxes, BoxPort, Runner
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.engine.adoption import Adopted, adopt
from orchestrator.engine.run_end import last_caller
from orchestrator.engine.session_homes import end_left_homes
from orchestrator.store import agents, waits
from orchestrator.store.unsafe import UnsafeEntry

_log = structlog.get_logger(__name__)
_SEE_ERRORS: Final = "Please report this. What it left in its box is in data/ipc/errors."


async def reconcile(
    services: Services,
    boxes: Boxes,
    runner: Runner,
    *,
    runner_named: Callable[[str], Runner],
    instance_id: str,
) -> list[Adopted]:
    """Adopt the left agents that can go on; stop the others and verify it, drain and settle their boxes, mark
    texts that were in flight. Returns the adopted ones.

    runner: the one of this process. runner_named: makes the one that an earlier process used.
    """
    at = services.clock.now()
    await services.db.run(waits.end_of_calls)
    believed_live = await services.db.run(agents.live)
    adopted = await adopt(services, boxes, runner, believed_live, instance_id=instance_id)
    living = {each.agent.agent_id for each in adopted}
    not_dead: set[AgentId] = set()
    for name in sorted({runner.name, *(agent.runner for agent in believed_live)}):
        if name == runner.name:
            not_dead |= await _stop_leftovers(runner, believed_live, instance_id, living)
            continue
        earlier = runner_named(name)
        try:
            not_dead |= await _stop_leftovers(earlier, believed_live, instance_id, frozenset())
        finally:
            await earlier.close()
    # The deepest first, as in every stop: who goes last, of him it is known how many went.
    for agent in sorted(believed_live, key=lambda each: -each.depth):
        if agent.agent_id in living:
            continue
        await _bury_surely(services, boxes, agent, is_dead=agent.agent_id not in not_dead)
    await _clear_left_boxes(services, boxes, {each.box.name for each in adopted})
    still_live = await services.db.run(agents.live)
    await end_left_homes(services.paths, live={agent.box for agent in still_live})
    unknown = await services.db.run(lambda tx: mark_in_flight_unknown(tx, at=at))
    for item in unknown:
        _log.warning("outbox.unknown", outbox_id=item.id, chat=item.chat_jid, why="stopped while sending")
    if believed_live or unknown:
        _log.info(
            "recovery.done", agents=len(believed_live), adopted=len(adopted), texts_unknown=len(unknown)
        )
    return adopted


async def _stop_leftovers(
    runner: Runner, left: Sequence[Agent], instance_id: str, living: Collection[AgentId]
) -> set[AgentId]:
    """Those of this runner that could not be verified dead."""
    dead = [agent for agent in left if agent.runner == runner.name and agent.agent_id not in living]
    mine = [(agent.agent_id, agent.process_ref) for agent in dead]
    try:
        return set(await runner.stop_leftovers(instance_id, mine, spare=living))
    except Unavailable as error:
        _log.error("recovery.runner_away", runner=runner.name, error=error.message)
        return {agent_id for agent_id, _ in mine}


async def _bury_surely(services: Services, boxes: Boxes, agent: Agent, *, is_dead: bool) -> None:
    """One agent's remains never keep the others from their chats, nor Dovecote from its start."""
    try:
        await _bury_left(services, boxes, agent, is_dead=is_dead)
    except Unavailable:
        raise  # the store's trouble is everybody's
    except Exception:  # whatever it is, it would meet every start again
        _log.exception("agent.not_buried", agent=agent.agent_id, suggestion=_SEE_ERRORS)
        await _set_aside_if_possible(boxes, agent.box)
        try:
            await _settle(services, agent, await _remains(None, {}, is_dead=is_dead))
        except Unavailable:
            raise
        except Exception:  # its chat waits for the operator; the others do not
            _log.exception("agent.given_up", agent=agent.agent_id, suggestion=_SEE_ERRORS)


async def _set_aside_if_possible(boxes: Boxes, name: BoxName) -> None:
    try:
        await boxes.set_aside(name)
    except (OSError, UnsafeEntry) as error:
        _log.error("box.not_set_aside", box=name, error=str(error), suggestion="Remove it by hand.")


async def _settle(services: Services, agent: Agent, remains: Remains) -> None:
    at = services.clock.now()
    await services.db.run(lambda tx: bury_left(tx, services, agent, remains, at=at))


async def _bury_left(services: Services, boxes: Boxes, agent: Agent, *, is_dead: bool) -> None:
    if not is_dead:
        _log.error("agent.not_verified_dead", agent=agent.agent_id, runner=agent.runner)
    box = await boxes.reopen(agent.box)
    acks: dict[TurnId, object] = {}
    services.checkpoints.reached("agent.dead")
    if box is not None:
        acks = await box.read_acks()
        await boxes.drain(await last_caller(services, caller_of(agent), acks), box)
    await _settle(services, agent, await _remains(box, acks, is_dead=is_dead))
    if box is not None:
        await boxes.remove(agent.box)
    _log.info("agent.buried", agent=agent.agent_id, group=agent.group, verified=is_dead)


async def _remains(box: BoxPort | None, acks: Mapping[TurnId, object], *, is_dead: bool) -> Remains:
    return Remains(
        cause=DeathCause.ORCHESTRATOR,
        reason=EndReason.ORCHESTRATOR_DIED,
        event=AgentEventKind.FOUND_DEAD if is_dead else AgentEventKind.NOT_FOUND,
        acks=acks,
        unread=() if box is None else tuple(await box.unread_inputs()),
        exit=None,
    )


async def _clear_left_boxes(services: Services, boxes: Boxes, in_use: Collection[BoxName]) -> None:
    """A box whose agent has ended is drained by that agent's rights; an unknown one is set aside."""
    for name in (each for each in await boxes.names() if each not in in_use):
        agent = await services.db.run(partial(agents.last_of_box, box=name))
        try:
            await _clear_left_box(boxes, name, agent)
        except Unavailable:
            raise
        except Exception:  # as of an agent's remains: one box keeps nobody from the start
            _log.exception("box.not_cleared", box=name, suggestion=_SEE_ERRORS)
            await _set_aside_if_possible(boxes, name)


async def _clear_left_box(boxes: Boxes, name: BoxName, agent: Agent | None) -> None:
    box = await boxes.reopen(name) if agent is not None else None
    if agent is not None and box is not None:
        await boxes.drain(caller_of(agent), box)
        await boxes.remove(name)
    else:
        _log.warning("box.unknown", box=name)
        await boxes.set_aside(name)
