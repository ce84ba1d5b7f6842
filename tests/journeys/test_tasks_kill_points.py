"""kill -9 at each named point of a task's run, a new start, and the count: no slot has its effect twice.

Source: contracts.md section 7, case B5.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pytest

from orchestrator.contracts.records.tasks import ContextMode
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.home_on_disk import NOTE_OF_A_RESENT, HomeOnDisk
from tests.support.orchestrator_process import OrchestratorProcess
from tests.support.planned import due_now, hourly_from_now, plan, run_statuses, tasks_are_quiet

WET: Final = "The plants are wet."
INTERRUPTED: Final = say(Say.TASK_INTERRUPTED, "en", title="Water the plants")
_SAYS: Final = {"default": [{"say": WET}]}
_STAYS: Final = {"default": [{"say": WET}, {"wait_for_file": "never"}]}
_ASKS: Final = {"default": [{"send_message": WET}, {"wait_for_file": "never"}]}


@dataclass(frozen=True, kw_only=True)
class Kill:
    """One way to die: what people see in the end, and what became of the slot."""

    sent: tuple[str, ...] = (WET,)
    status: str = "succeeded"
    scenario: Mapping[str, object] = field(default_factory=lambda: _SAYS)


BROKEN_OFF: Final = (WET, INTERRUPTED)
KILLS: Final = {
    "tasks.claimed": Kill(),
    "batch.dispatched": Kill(),
    "agent.started": Kill(),
    "agent.ready": Kill(),
    "pair.read": Kill(),
    "outbox.committed": Kill(sent=BROKEN_OFF, status="interrupted", scenario=_STAYS),
    "request.committed": Kill(sent=BROKEN_OFF, status="interrupted", scenario=_ASKS),
    "reply.written": Kill(sent=BROKEN_OFF, status="interrupted", scenario=_ASKS),
    "turn_ended.read": Kill(),
    "agent.dead": Kill(),
}


@pytest.mark.parametrize(
    ("point", "mode"),
    [
        *((point, ContextMode.GROUP) for point in KILLS),
        *((point, ContextMode.ISOLATED) for point in ("tasks.claimed", "agent.ready", "outbox.committed")),
    ],
)
async def test_b5_a_kill_during_a_run_loses_no_slot_and_doubles_no_effect(
    point: str, mode: ContextMode, home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    """Case B5."""
    kill = KILLS[point]
    await home.add_group()
    home.play(kill.scenario)
    await plan(home, due_now(context_mode=mode))
    await orchestrator.start(crash_at=point)
    await orchestrator.died()

    await orchestrator.start()
    await tasks_are_quiet(home)
    await orchestrator.stop()

    assert home.texts_once() == [*kill.sent], home.story()
    assert run_statuses(home) == [kill.status], home.story()
    assert home.rows("SELECT status FROM tasks") == [{"status": "completed"}]
    await home.nothing_left()


async def test_kills_at_every_point_one_after_another_run_no_slot_twice(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await home.add_group()
    home.play(_SAYS)
    await plan(home, hourly_from_now("a"), hourly_from_now("b"), hourly_from_now("c"))
    for point in ("tasks.claimed", "agent.ready", "pair.read", "outbox.committed"):
        await orchestrator.start(crash_at=point)
        await orchestrator.died()

    await orchestrator.start()
    await tasks_are_quiet(home)
    await orchestrator.stop()

    runs = home.rows("SELECT task_id, status FROM task_runs ORDER BY task_id")
    assert [run["task_id"] for run in runs] == ["a", "b", "c"], home.story()
    assert {run["status"] for run in runs} <= {"succeeded", "interrupted"}
    said = [text.removesuffix(NOTE_OF_A_RESENT) for text in home.texts()]
    assert said.count(WET) <= 3 + sum(text.endswith(NOTE_OF_A_RESENT) for text in home.texts()), home.story()
