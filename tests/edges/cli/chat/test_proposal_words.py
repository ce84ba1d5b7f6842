"""`dovecote proposal` as a process: with the orchestrator up, and with it down."""

import asyncio
import json
from pathlib import Path

from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.paths import Paths
from orchestrator.store.database import Database
from tests.edges.cli.chat.conftest import Serve
from tests.edges.cli.conftest import Dovecote
from tests.support.proposal_rows import add_proposal


def wishes(home: Path, chat: str) -> None:
    """The main agent wishes to write there."""

    async def wish() -> None:
        paths = Paths(home=home)
        database = await Database.open(paths.database, backups=paths.backups, on_wake=lambda _: None)
        try:
            await database.run(
                lambda tx: add_proposal(
                    tx, group=GroupFolder("main"), chat_jid=Jid("console:main"), target=Jid(chat)
                )
            )
        finally:
            await database.close()

    asyncio.run(wish())


def use_once(dovecote: Dovecote) -> None:
    """A home with a main group and a garden, in which nothing runs."""
    assert dovecote("group", "add", "main", "--jid", "console:main", "--main").returncode == 0
    assert dovecote("group", "add", "garden", "--jid", "console:garden").returncode == 0


def test_what_waits_is_confirmed_or_declined_where_the_orchestrator_runs(
    dovecote: Dovecote, serve: Serve, home: Path
) -> None:
    use_once(dovecote)
    for chat in ("console:garden", "console:garden", "console:nobody"):
        wishes(home, chat)
    serve()

    listed = json.loads(dovecote("proposal", "list", "--json").stdout)
    confirmed = dovecote("proposal", "confirm", "1")
    declined = dovecote("proposal", "decline", "2")
    failed = dovecote("proposal", "confirm", "3")
    again = dovecote("proposal", "confirm", "1")
    left = dovecote("proposal", "list")
    every = json.loads(dovecote("proposal", "list", "--all", "--json").stdout)

    assert [each["number"] for each in listed] == [3, 2, 1]
    assert (confirmed.returncode, confirmed.stdout) == (0, "Proposal 1 is confirmed.\n")
    assert (declined.returncode, declined.stdout) == (0, "Proposal 2 is declined.\n")
    assert failed.returncode == 1
    assert "Proposal 3 could not be carried out: No group is registered" in failed.stderr
    assert again.returncode == 1
    assert "Proposal 1 is confirmed already." in again.stderr
    assert left.stdout == "Nothing waits for an answer.\n"
    assert {each["number"]: each["status"] for each in every} == {1: "confirmed", 2: "declined", 3: "failed"}


def test_with_the_orchestrator_down_what_waits_is_shown_and_nothing_decided(
    dovecote: Dovecote, home: Path
) -> None:
    use_once(dovecote)
    wishes(home, "console:garden")

    shown = dovecote("proposal", "list")
    refused = [dovecote("proposal", word, "1") for word in ("confirm", "decline")]
    still = json.loads(dovecote("proposal", "list", "--json").stdout)

    assert "1  main wants to send a message to another chat (until 2100-03-01 12:00:00 UTC)" in shown.stdout
    assert "> text: hello" in shown.stdout
    assert [each.returncode for each in refused] == [1, 1]
    assert all("No orchestrator runs" in each.stderr for each in refused)
    assert [each["status"] for each in still] == ["open"]


def test_in_an_unused_home_nothing_waits_and_nothing_is_made(dovecote: Dovecote, home: Path) -> None:
    answer = dovecote("proposal", "list")

    assert (answer.returncode, answer.stdout) == (0, "Nothing waits for an answer.\n")
    assert list(home.iterdir()) == []
