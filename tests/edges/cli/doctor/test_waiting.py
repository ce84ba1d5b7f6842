"""Faults by which something waits: the doctor says what, for how long, why, and what ends it."""

import pytest

from orchestrator.cli.findings import Health
from orchestrator.cli.standing_checks import standing_findings
from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.records.messages import TextSource
from orchestrator.contracts.records.tasks import TaskStatus
from orchestrator.settings.tree import AgentSettings, QueueSettings, Settings
from orchestrator.store import agents, alerts, notices, outbox, refused_spawns, tasks
from orchestrator.store.transaction import Transaction
from tests.edges.cli.doctor.conftest import SickHome, assert_names
from tests.support.proposal_rows import add_proposal
from tests.support.store_rows import CHAT, OTHER_CHAT, add_group, add_message, agent
from tests.support.task_rows import task


def open_turn(tx: Transaction, home: SickHome, *, hours: float) -> None:
    """An agent that lives has had a turn for so long."""
    agents.add(tx, agent(status=AgentStatus.RUNNING, started_at=home.ago(hours=hours)))
    tx.execute(
        "INSERT INTO turns (turn_id, agent_id, chat_jid, started_ms) VALUES ('t', 'agent-1', :chat, :ms)",
        {"chat": CHAT, "ms": int(home.ago(hours=hours).timestamp() * 1000)},
    )


def text(tx: Transaction, home: SickHome, *, status: str, hours: float, error: str | None = None) -> None:
    """A text for `CHAT` that was made so long ago and stands so."""
    (number,) = outbox.add(
        tx, chat_jid=CHAT, parts=["x"], source=TextSource.REQUEST, source_key=status, at=home.ago(hours=hours)
    )
    tx.execute(
        "UPDATE outbox SET status = :s, error = :e WHERE id = :i", {"s": status, "e": error, "i": number}
    )


def test_a_store_in_which_nothing_waits_is_well(home: SickHome) -> None:
    found = standing_findings(home.patient())

    assert {each.health for each in found} == {Health.OK}, found


def test_messages_without_an_orchestrator_are_named_with_what_starts_one(home: SickHome) -> None:
    home.fill(add_group, lambda tx: add_message(tx, at=home.ago(minutes=1)))

    found = home.standing("messages", pid=None)

    assert_names(found, Health.WARNING, "1 have no answer yet, and no orchestrator runs", "dovecote serve")


def test_j1_a_message_that_waits_for_a_provider_names_the_provider(home: SickHome) -> None:
    def put(tx: Transaction) -> None:
        add_group(tx)
        add_message(tx, at=home.ago(hours=2))
        notices.count_one(tx, f"provider:{CHAT}", at=home.ago(hours=2))
        notices.mark_told(tx, f"provider:{CHAT}", at=home.ago(hours=2))

    home.fill(put)

    found = home.standing("messages")

    assert_names(found, Health.WARNING, "the oldest of 1203@g.us for 2 h", "dovecote provider check")
    assert "The provider of family is away or busy" in found.why


def test_j1_a_message_of_a_chat_that_is_no_group_any_more_names_the_chat(home: SickHome) -> None:
    home.fill(lambda tx: add_message(tx, at=home.ago(hours=2)))

    found = home.standing("messages")

    assert_names(found, Health.FAILURE, "is no registered group", f"dovecote group add FOLDER --jid {CHAT}")


def test_j1_a_message_behind_a_full_queue_names_the_setting(home: SickHome) -> None:
    def put(tx: Transaction) -> None:
        add_group(tx)
        add_message(tx, at=home.ago(hours=1))
        open_turn(tx, home, hours=1)

    home.fill(put)

    found = home.standing("messages", settings=Settings(queue=QueueSettings(max_running=1)))

    assert_names(found, Health.WARNING, "all 1 turns that may run at once do", "queue.max_running")


def test_a_message_that_waits_for_no_known_reason_is_a_failure(home: SickHome) -> None:
    home.fill(add_group, lambda tx: add_message(tx, at=home.ago(hours=2)))

    found = home.standing("messages")

    assert_names(found, Health.FAILURE, "nothing says why", "dovecote serve")


def test_a_message_that_has_just_come_is_nobodys_fault(home: SickHome) -> None:
    home.fill(add_group, lambda tx: add_message(tx, at=home.now))

    assert home.standing("messages").health is Health.OK


def test_a_turn_beyond_its_limit_is_named_with_what_stops_it(home: SickHome) -> None:
    home.fill(add_group, lambda tx: open_turn(tx, home, hours=9))

    found = home.standing("messages", settings=Settings(agent=AgentSettings(turn_limit_s=7200)))

    assert_names(found, Health.FAILURE, "agent.turn_limit_s did not end it", "dovecote agent stop ID")


def test_agents_that_nobody_minds_are_named(home: SickHome) -> None:
    home.fill(lambda tx: agents.add(tx, agent(status=AgentStatus.RUNNING, started_at=home.ago(hours=1))))

    found = home.standing("agents", pid=None)

    assert_names(found, Health.WARNING, "1 lived when the last orchestrator ended", "dovecote serve")


def test_an_agent_that_starts_for_ever_is_named(home: SickHome) -> None:
    home.fill(lambda tx: agents.add(tx, agent(status=AgentStatus.STARTING, started_at=home.ago(hours=3))))

    found = home.standing("agents")

    assert_names(found, Health.FAILURE, "One has been starting for 3 h", "dovecote agent stop ID")


@pytest.mark.parametrize(
    ("status", "why", "mend"),
    [
        ("queued", "1 texts wait, the oldest for 1203@g.us since 3 h", "dovecote status"),
        ("unknown", "Nobody knows whether 1 texts arrived", "resend"),
        ("failed", "could not be delivered. The newest: not a member", "Mend what the error names"),
    ],
)
def test_texts_that_did_not_leave_are_named(home: SickHome, status: str, why: str, mend: str) -> None:
    home.fill(lambda tx: text(tx, home, status=status, hours=3, error="not a member"))

    assert_names(home.standing("outbox"), Health.WARNING, why, mend)


def test_a_text_that_failed_days_ago_is_no_news(home: SickHome) -> None:
    home.fill(lambda tx: text(tx, home, status="failed", hours=50))

    assert home.standing("outbox").health is Health.OK


def test_a_task_whose_time_is_past_is_a_failure_where_an_orchestrator_runs(home: SickHome) -> None:
    late = task(next_run_at=home.ago(hours=4))
    home.fill(add_group, lambda tx: tasks.add(tx, late))

    runs, rests = home.standing("schedule"), home.standing("schedule", pid=None)

    why = "The task 'Water the plants' of family should have run 4 h ago"
    assert_names(runs, Health.FAILURE, why, f"dovecote task show {late.task_id}")
    assert_names(rests, Health.WARNING, why, "dovecote serve")


def test_a_task_that_failed_too_often_is_named_with_what_resumes_it(home: SickHome) -> None:
    def put(tx: Transaction) -> None:
        add_group(tx)
        tasks.add(tx, task(status=TaskStatus.PAUSED, next_run_at=None))
        tx.execute("UPDATE tasks SET paused_why = '5 runs failed in a row'")

    home.fill(put)

    found = home.standing("schedule")

    assert_names(found, Health.WARNING, "is paused: 5 runs failed in a row", "dovecote task resume task-1")


def test_a_task_that_an_operator_paused_is_well(home: SickHome) -> None:
    home.fill(add_group, lambda tx: tasks.add(tx, task(status=TaskStatus.PAUSED, next_run_at=None)))

    assert home.standing("schedule").health is Health.OK


def test_a_task_that_begins_to_fail_is_named_with_its_history(home: SickHome) -> None:
    def put(tx: Transaction) -> None:
        add_group(tx)
        tasks.add(tx, task(next_run_at=home.ago(days=-300)))
        tx.execute("UPDATE tasks SET failures = 2")

    home.fill(put)

    found = home.standing("schedule")

    assert_names(found, Health.WARNING, "failed the last 2 times", "dovecote task history task-1")


def test_a_wish_that_waits_for_an_operator_is_named(home: SickHome) -> None:
    home.fill(lambda tx: add_proposal(tx, group=GroupFolder("family"), chat_jid=CHAT, target=OTHER_CHAT))

    found = home.standing("wishes")

    assert_names(found, Health.WARNING, "1 wishes of agents wait", "dovecote proposal list")


def test_alerts_that_their_command_does_not_take_are_named(home: SickHome) -> None:
    home.fill(lambda tx: alerts.add(tx, "The disk is full", at=home.ago(hours=5)))

    found = home.standing("told")

    assert_names(found, Health.WARNING, "1 alerts for operators wait, the oldest since 5 h", "by hand")


def test_spawns_that_were_refused_lately_are_named_with_their_reasons(home: SickHome) -> None:
    def refuse(tx: Transaction, code: ErrorCode, hours: float) -> None:
        refused_spawns.note(tx, "operator", code, "no", is_kept=False, at=home.ago(hours=hours))

    home.fill(lambda tx: refuse(tx, ErrorCode.QUOTA_EXCEEDED, 30))
    old = home.standing("spawns")
    home.fill(lambda tx: refuse(tx, ErrorCode.DEPTH_EXCEEDED, 1))

    found = home.standing("spawns")

    assert old.health == Health.OK
    assert_names(
        found, Health.WARNING, "1 spawn was refused in the last day: 1 DEPTH_EXCEEDED", "dovecote errors"
    )
