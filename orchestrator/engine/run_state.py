"""What the parts of one run share: its phase, its clock, its box, and why it is told to stop."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import structlog

from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller, caller_of
from orchestrator.contracts.egress_seams import Egress, UsageMeter
from orchestrator.contracts.ids import AgentId, BoxName, new_id
from orchestrator.contracts.records.agents import DeathCause
from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.launch import AGENT_RUNNER_COMMAND
from orchestrator.contracts.seams import AgentHandle, Boxes, BoxPort, Runner
from orchestrator.contracts.wire.container_io import TurnEnded, TurnStarted
from orchestrator.core.agents.unstartable import Need, needs
from orchestrator.engine.channel_set import ChannelSet
from orchestrator.engine.identity import identity_for
from orchestrator.engine.run_clock import ClockSettings, RunClock
from orchestrator.engine.way_out import WayOut
from orchestrator.engine.work import Work
from orchestrator.store.dir_compare import DirMarks

_log = structlog.get_logger(__name__)
_CLOSE_WITHIN_S: Final = 30.0
UNWALLED: Final = "process"
"""The name of the runner that builds no walls."""


class Phase(StrEnum):
    """Where a run is. Only an open one takes follow-ups."""

    STARTING = "starting"
    OPEN = "open"
    CLOSING = "closing"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParts:
    """What every run works with. command: what is started inside the walls. egress: the ways out of them.

    meter: says whose budget is used up.
    """

    services: Services
    boxes: Boxes
    runner: Runner
    channels: ChannelSet
    instance_id: str
    command: tuple[str, ...] = AGENT_RUNNER_COMMAND
    egress: Egress | None = None
    meter: UsageMeter | None = None

    @property
    def has_walls(self) -> bool:
        """Whether its agents run in a container or a sandbox."""
        return self.runner.name != UNWALLED


class RunState:
    """One run's shared state. Changed from the loop's thread only. agent_id: of one that runs already.

    misconfigured: why it can't be started until the operator has mended something. is_budget_spent: it is
    not started, since its group may not spend more. failed_start: why it was not started, kill_error: why it
    could not be killed, a sentence each. is_dead: as its burial saw it.
    marks: how the files were that a spawned agent may write.
    """

    def __init__(self, parts: RunParts, group: Group, work: Work, *, agent_id: AgentId | None = None) -> None:
        self.parts = parts
        self.services = parts.services
        self.group = group
        self.spawned = spawned = work.spawned
        named = agent_id if spawned is None else spawned.agent.agent_id
        self.agent_id = AgentId(new_id("agent")) if named is None else named
        self.work = work
        self.identity = identity_for(
            parts.services, group, self.agent_id, tree_id=None if spawned is None else spawned.agent.tree_id
        )
        self.box_name: BoxName = work.box_for(self.agent_id)
        self.phase = Phase.STARTING
        self.stop_cause: DeathCause | None = None
        self.box: BoxPort | None = None
        self.handle: AgentHandle | None = None
        self.definition: Definition | None = None
        self.way_out: WayOut | None = None
        self.misconfigured: str | None = None
        self.is_budget_spent = False
        self.has_taken_input = False
        self.failed_start: str | None = None
        self.kill_error: str | None = None
        self.is_dead = True
        self.marks: DirMarks | None = None
        self.clock = RunClock(
            _clock_settings(parts.services, turn_s=work.turn_limit_s),
            now=self.now_s(),
            deadline=self._deadline_s(),
        )
        self.changed = asyncio.Event()
        self.log = _log.bind(agent=self.agent_id, group=group.folder)
        self._unseen: set[str] = set()

    @property
    def takes_more(self) -> bool:
        """Whether a follow-up may be fed."""
        return self.phase is Phase.OPEN and self.stop_cause is None and self.work.takes_follow_ups

    @property
    def log_name(self) -> str:
        """The file that keeps what it prints beside its answers: its group's, or a spawned agent's own."""
        return f"{self.group.folder if self.spawned is None else self.agent_id}.log"

    @property
    def provider_failure(self) -> str | None:
        """How its latest call to its provider failed; None if it did not."""
        call = None if self.way_out is None else self.way_out.door.last_failure
        return None if call is None else call.failure

    @property
    def needed(self) -> tuple[Need, ...]:
        """The programs and scripts that it can't start without."""
        if self.definition is None:
            return ()
        found = needs(self.definition, group=self.group.folder, runner=self.parts.runner.name)
        return tuple(each for each in found if each.is_used)

    @property
    def caller(self) -> AgentCaller:
        """Who its requests are from."""
        if self.spawned is not None:
            return caller_of(self.spawned.agent)
        return AgentCaller(
            agent_id=self.agent_id,
            box=self.box_name,
            group=self.group.folder,
            chat_jid=self.group.jid,
            is_main=self.group.is_main,
        )

    def now_s(self) -> float:
        """Monotonic seconds."""
        return self.services.clock.monotonic()

    def _deadline_s(self) -> float | None:
        """When it is timed out as a whole, in monotonic seconds."""
        if self.spawned is None:
            return None
        left = self.spawned.spawn.deadline_at - self.services.clock.now()
        return self.now_s() + left.total_seconds()

    def stop(self, cause: DeathCause) -> None:
        """End it, on this account; the first one counts."""
        if self.stop_cause is None:
            self.stop_cause = cause
            self.changed.set()

    async def set_typing(self, *, is_typing: bool) -> None:
        """Show or hide that it is at work; of a spawned agent the chat sees nothing."""
        if self.spawned is not None:
            return
        await self.parts.channels.set_typing(self.group.jid, is_typing=is_typing)

    def was_fed(self, ids: tuple[str, ...]) -> None:
        """A follow-up with these messages is on its way: it is busy until it has taken them in."""
        self._unseen.update(ids)
        self.clock.turn_began(self.now_s())
        self.changed.set()

    def turn_started(self, event: TurnStarted) -> None:
        """It took messages into a turn."""
        self._unseen.difference_update(event.inputs)
        self.clock.turn_began(self.now_s())
        self.changed.set()

    async def turn_ended(self, event: TurnEnded) -> None:
        """A turn is over, and its questions with it; it is idle unless a follow-up waits in its box."""
        self.clock.wait_ended(self.now_s())
        self._unseen.difference_update(event.inputs)
        if not self._unseen:
            await self.became_idle()

    async def legacy_turn_over(self) -> None:
        """As `turn_ended`, of an agent that says no more than its pairs."""
        if self.box is None or not await self.box.unread_inputs():
            self._unseen.clear()
            await self.became_idle()

    async def became_idle(self) -> None:
        """No turn runs."""
        self.clock.turn_ended(self.now_s())
        self.changed.set()
        await self.set_typing(is_typing=False)


def _clock_settings(services: Services, *, turn_s: float) -> ClockSettings:
    agent = services.settings.agent
    return ClockSettings(
        silence_s=agent.container_timeout_s,
        turn_s=turn_s,
        idle_s=agent.idle_timeout_s,
        close_s=_CLOSE_WITHIN_S,
        still_working_s=services.settings.still_working_s,
        typing_s=services.settings.typing_renew_s,
        answer_s=services.settings.questions.expire_s,
    )
