"""What holds of messages, texts and task runs whatever was killed. Source: contracts.md sections 6 and 7."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk

_ENDS: Final = frozenset({"settled", "partial", "failed", "skipped"})
_RUN_ENDS: Final = frozenset(
    {"succeeded", "failed", "timed_out", "interrupted", "missed", "skipped", "stopped"}
)
_BROKEN: Final = "broken:"


@dataclass(kw_only=True)
class Promises:
    """What was told to the store and what came of it, kept beside it.

    accepted: texts of messages that the network may forget. said: texts that an agent knows to be kept, with
    the turn and its messages. taken: numbers of the texts that the network took, and whether with the note.
    """

    accepted: dict[str, str] = field(default_factory=dict)
    said: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    taken: list[tuple[int, bool]] = field(default_factory=list)
    tasks: set[str] = field(default_factory=set)
    _messages: dict[str, str] = field(default_factory=dict)
    _runs: dict[str, str] = field(default_factory=dict)

    async def check(self, desk: Desk, *, live: bool, is_over: bool = False) -> None:
        """Raises AssertionError. live: whether an agent runs. is_over: nothing is left to do."""
        tables = await desk.run(_tables)
        self._check_messages(tables, live=live)
        self._check_texts(tables)
        self._check_runs(tables)
        if is_over:
            self._check_the_end(tables)

    def _check_messages(self, tables: dict[str, list[dict[str, Any]]], *, live: bool) -> None:
        rows = {row["message_id"]: row for row in tables["messages"]}
        assert len(rows) == len(tables["messages"])
        for name, text in self.accepted.items():
            assert name in rows, f"{name} was lost"
            assert rows[name]["text"] == text
        for name, row in rows.items():
            before, now = self._messages.get(name), row["status"]
            assert not (before in _ENDS and now != before), f"{name} was {before} and is {now}"
            assert live or now != "dispatched", f"{name} is with an agent that is dead"
            self._messages[name] = now
        for turn, ids in self.said.values():
            for name in (each for each in ids if each in rows):
                is_open = rows[name]["status"] == "pending"
                assert not is_open, f"{name} would run again, and its turn {turn} said something"
        unsettled = [row["seq"] for row in tables["messages"] if row["status"] in ("pending", "dispatched")]
        for cursor in tables["cursors"]:
            assert cursor["seq"] < min(unsettled, default=cursor["seq"] + 1), "the cursor passed over one"
        told = sum(row["source_key"].startswith(_BROKEN) for row in tables["outbox"])
        broken = {
            (row["agent_id"], row["turn_id"])
            for row in tables["messages"]
            if row["status"] in ("partial", "failed") and row["is_trigger"]
        }
        assert told >= len(broken), f"{len(broken)} turns broke off, {told} were told"

    def _check_texts(self, tables: dict[str, list[dict[str, Any]]]) -> None:
        texts = Counter(row["text"] for row in tables["outbox"] if row["source"] == "pair")
        for text in self.said:
            assert texts[text] == 1, f"{text!r} is in the outbox {texts[text]} times"
        assert all(count == 1 for count in texts.values()), texts
        rows = {row["id"]: row for row in tables["outbox"]}
        for (number, noted), count in Counter(self.taken).items():
            assert count == 1, f"text {number} was sent {count} times alike"
            assert not noted or rows[number]["was_resent"]
        taken = {number for number, _ in self.taken}
        for number, row in rows.items():
            assert row["status"] != "sent" or number in taken, f"text {number} is sent, and nobody took it"

    def _check_runs(self, tables: dict[str, list[dict[str, Any]]]) -> None:
        slots = Counter((row["task_id"], row["planned_ms"]) for row in tables["task_runs"])
        assert all(count == 1 for count in slots.values()), f"a slot ran twice: {slots}"
        assert self.tasks <= {row["task_id"] for row in tables["tasks"]}, "a task was lost"
        effects = {row["agent_id"] for row in tables["outbox"] if row["source"] == "pair"}
        runs_with_effect = Counter(
            row["task_run_id"]
            for row in tables["agents"]
            if row["task_run_id"] and row["agent_id"] in effects
        )
        for row in tables["task_runs"]:
            before, now = self._runs.get(row["run_id"]), row["status"]
            assert not (before in _RUN_ENDS and now != before), f"a run was {before} and is {now}"
            self._runs[row["run_id"]] = now
            assert runs_with_effect[row["run_id"]] <= 1, "two agents did the same run"
            assert not (now == "claimed" and runs_with_effect[row["run_id"]]), (
                "it would have its effect twice"
            )

    def _check_the_end(self, tables: dict[str, list[dict[str, Any]]]) -> None:
        for row in tables["messages"]:
            is_chatter = not row["is_trigger"] and row["status"] == "pending"
            assert row["status"] in _ENDS or is_chatter, row
        assert {row["status"] for row in tables["outbox"]} <= {"sent", "failed"}
        assert {row["status"] for row in tables["task_runs"]} <= _RUN_ENDS
        assert all(row["ended_ms"] is not None for row in tables["agents"])


def _tables(tx: Transaction) -> dict[str, list[dict[str, Any]]]:
    names = ("messages", "outbox", "tasks", "task_runs", "agents", "cursors")
    return {name: [dict(row) for row in tx.all(f"SELECT * FROM {name}")] for name in names}
