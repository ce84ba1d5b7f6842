"""The lives of things that have a status."""

import itertools
from enum import StrEnum
from typing import Any

import pytest

from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.records.messages import MessageStatus, OutboxStatus
from orchestrator.contracts.records.proposals import ProposalStatus
from orchestrator.contracts.records.questions import QuestionStatus
from orchestrator.contracts.records.spawns import RootStatus
from orchestrator.contracts.records.tasks import RunStatus, TaskStatus
from orchestrator.core.states.agent import AGENT
from orchestrator.core.states.machine import IllegalMove, Machine
from orchestrator.core.states.message import MESSAGE, MessageEvent
from orchestrator.core.states.outbox import OUTBOX, OutboxEvent
from orchestrator.core.states.proposal import PROPOSAL
from orchestrator.core.states.question import QUESTION
from orchestrator.core.states.task import TASK, TaskEvent
from orchestrator.core.states.task_run import TASK_RUN, RunEvent
from orchestrator.core.states.workspace_root import WORKSPACE_ROOT

MACHINES: list[tuple[Machine[Any, Any], type[StrEnum]]] = [
    (MESSAGE, MessageStatus),
    (OUTBOX, OutboxStatus),
    (AGENT, AgentStatus),
    (TASK, TaskStatus),
    (TASK_RUN, RunStatus),
    (PROPOSAL, ProposalStatus),
    (QUESTION, QuestionStatus),
    (WORKSPACE_ROOT, RootStatus),
]
all_machines = pytest.mark.parametrize(
    ("machine", "status"), MACHINES, ids=[machine.name for machine, _ in MACHINES]
)


@all_machines
def test_every_status_can_be_reached(machine: Machine[Any, Any], status: type[StrEnum]) -> None:
    reached = {machine.start}
    for _ in status:
        reached |= {after for before, _, after in machine.moves() if before in reached}

    assert reached == set(status)


@all_machines
def test_from_every_status_an_end_can_be_reached(machine: Machine[Any, Any], status: type[StrEnum]) -> None:
    ends = set(machine.finals())
    for _ in status:
        ends |= {before for before, _, after in machine.moves() if after in ends}

    assert ends == set(status)


@all_machines
def test_what_the_table_does_not_hold_is_a_fault(machine: Machine[Any, Any], status: type[StrEnum]) -> None:
    table = {(before, event): after for before, event, after in machine.moves()}
    events = {event for _, event in table}

    for before, event in itertools.product(status, events):
        if (before, event) in table:
            assert machine.after(before, event) is table[before, event]
        else:
            with pytest.raises(IllegalMove, match=machine.name):
                machine.after(before, event)


@all_machines
def test_the_sources_of_an_event_are_where_it_can_happen(
    machine: Machine[Any, Any], status: type[StrEnum]
) -> None:
    for event in {event for _, event, _ in machine.moves()}:
        assert machine.sources(event) == {before for before, known, _ in machine.moves() if known is event}


@all_machines
def test_the_diagram_shows_every_move(machine: Machine[Any, Any], status: type[StrEnum]) -> None:
    diagram = machine.as_mermaid()

    assert diagram.startswith(f"stateDiagram-v2\n    [*] --> {machine.start}\n")
    for before, event, after in machine.moves():
        assert f"    {before} --> {after}: {event}\n" in f"{diagram}\n"
    assert {line.split()[0] for line in diagram.split("\n") if line.endswith("--> [*]")} == set(
        machine.finals()
    )


@pytest.mark.parametrize(
    ("before", "afters"),
    [
        ("pending", {"dispatched", "skipped"}),
        ("dispatched", {"settled", "partial", "failed", "pending"}),
        ("settled", set()),
        ("partial", {"pending"}),
        ("failed", {"pending"}),
        ("skipped", set()),
    ],
)
def test_a_message_lives_as_the_contract_says(before: str, afters: set[str]) -> None:
    assert {after for start, _, after in MESSAGE.moves() if start == before} == afters


@pytest.mark.parametrize(
    ("before", "afters"),
    [
        ("queued", {"sending"}),
        ("sending", {"sent", "queued", "failed", "unknown"}),
        ("sent", set()),
        ("failed", set()),
        ("unknown", {"sent", "sending", "failed"}),
    ],
)
def test_an_outbound_text_lives_as_the_contract_says(before: str, afters: set[str]) -> None:
    assert {after for start, _, after in OUTBOX.moves() if start == before} == afters


def test_only_what_stopped_without_an_answer_can_be_retried() -> None:
    assert MESSAGE.sources(MessageEvent.RETRIED) == {MessageStatus.PARTIAL, MessageStatus.FAILED}


def test_a_text_is_sent_again_only_when_nobody_knows_whether_it_was() -> None:
    assert OUTBOX.sources(OutboxEvent.RESENT) == {OutboxStatus.UNKNOWN}


@pytest.mark.parametrize(
    ("before", "afters"),
    [
        ("active", {"paused", "completed", "cancelled"}),
        ("paused", {"active", "completed", "cancelled"}),
        ("completed", set()),
        ("cancelled", set()),
    ],
)
def test_a_task_lives_as_the_contract_says(before: str, afters: set[str]) -> None:
    assert {after for start, _, after in TASK.moves() if start == before} == afters


@pytest.mark.parametrize(
    ("before", "afters"),
    [
        ("claimed", {"started", "failed", "interrupted", "missed", "skipped"}),
        ("started", {"succeeded", "failed", "timed_out", "interrupted", "stopped", "claimed"}),
        *((end, set()) for end in ("succeeded", "failed", "timed_out", "interrupted", "missed", "skipped")),
        ("stopped", set()),
    ],
)
def test_a_run_of_a_task_lives_as_the_contract_says(before: str, afters: set[str]) -> None:
    assert {after for start, _, after in TASK_RUN.moves() if start == before} == afters


@pytest.mark.parametrize("event", [TaskEvent.FAILED_TOO_OFTEN, TaskEvent.GROUP_GONE, TaskEvent.PAUSED])
def test_what_rests_can_be_resumed(event: TaskEvent) -> None:
    assert TASK.after(TASK.after(TaskStatus.ACTIVE, event), TaskEvent.RESUMED) is TaskStatus.ACTIVE


def test_only_a_run_that_was_started_ends_well_and_only_one_that_was_not_is_passed_over() -> None:
    assert TASK_RUN.sources(RunEvent.SUCCEEDED) == {RunStatus.STARTED}
    assert TASK_RUN.sources(RunEvent.PASSED_OVER) == {RunStatus.CLAIMED}
    assert TASK_RUN.sources(RunEvent.TOO_LATE) == {RunStatus.CLAIMED}
