"""What is forgotten is in no file of the home afterwards; what others said, and the audit, stays."""

import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.commands.keeping.backups import back_up
from orchestrator.commands.keeping.forgetting import forget_group, forget_person
from orchestrator.commands.keeping.restoring import restore
from orchestrator.commands.saying.outgoing import queue_notice
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import InvalidRequest, Unavailable
from orchestrator.contracts.events import AgentLogged, ChildSpawned, TokenGenerated
from orchestrator.contracts.ids import AgentId, GroupFolder, Jid, MessageId, TreeId
from orchestrator.contracts.records.agents import DeathCause
from orchestrator.contracts.records.messages import Quoted, ReceivedFile
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.paths import Paths
from orchestrator.store import agents, alerts, contacts, event_log, notices, spawns
from orchestrator.store.database import Database
from orchestrator.store.migrate import shipped_migrations
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import CountedWakeups, Desk, StopRecorder, open_desk, services_on
from tests.support.manual_clock import ManualClock
from tests.support.old_stores import made_at
from tests.support.store_rows import ANN, BOB, CHAT, OTHER_CHAT, add_group, add_message, agent, spawn_record

CANARY = "canary-71e0"
OPERATOR = OperatorCaller()
ANN_LID = Jid("812@lid")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """With a second group, whose chat says nothing that anybody has to forget."""
    async with open_desk(tmp_path / "home") as each:
        (each.services.paths.groups / "family" / "workspace").mkdir(parents=True)
        await each.run(lambda tx: add_group(tx, "garden", OTHER_CHAT))
        await each.run(lambda tx: add_message(tx, "g-1", "tulips", chat_jid=OTHER_CHAT, sender_jid=BOB))
        yield each


def _holding(desk: Desk, text: str) -> list[str]:
    """The files of the home that hold it, in their names or in themselves."""
    home = desk.services.paths.home
    files = [path for path in home.rglob("*") if path.is_file()]
    return [str(path) for path in files if text in path.name or text.encode() in path.read_bytes()]


async def _talk(desk: Desk) -> None:
    """Ann asks with a file, Bob quotes her, an agent answers, logs, and starts a helper."""
    paths = desk.services.paths
    source = paths.home.parent / "photo"
    source.write_text(CANARY)
    photo = ReceivedFile(name="photo.txt", media_type="text/plain", size_bytes=11, source=source)
    await desk.hear("m-1", f"@Andy {CANARY}", files=(photo,))
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.say(held, f"You said {CANARY}")
    await desk.end(held, "m-1")
    await desk.die(held, DeathCause.HOST)
    quoted = Quoted(message_id=MessageId("m-1"), sender_name="Ann", text=CANARY)
    await desk.run(
        lambda tx: add_message(tx, "m-2", "what?", sender_jid=BOB, sender_name="Bob", quoted=quoted)
    )
    await desk.run(lambda tx: _note(tx, desk))
    for place in (paths.sessions / "family", paths.ipc / "errors" / "family", paths.sessions / "@agent-2"):
        place.mkdir(parents=True)
        (place / "transcript").write_text(CANARY)
    (paths.logs / "agents").mkdir()
    (paths.logs / "agents" / "family.log").write_text(CANARY)
    source.unlink()


def _note(tx: Transaction, desk: Desk) -> None:
    tree, child = TreeId("tree-1"), AgentId("agent-2")
    values = {"agent_id": AgentId("agent-1"), "tree_id": tree, "depth": 0}
    event_log.append(tx, tree, AgentLogged(**values, message=CANARY), desk.now)  # type: ignore[arg-type]
    spawned = ChildSpawned(
        agent_id=child, parent_agent_id=AgentId("agent-1"), tree_id=tree, depth=1, task=CANARY
    )
    event_log.append(tx, tree, spawned, desk.now)
    token = TokenGenerated(agent_id=child, tree_id=tree, depth=1, expires_at=1)
    event_log.append(tx, tree, token, desk.now)
    agents.add(tx, agent("agent-2", parent_agent_id=AgentId("agent-1"), depth=1, box="@agent-2"))
    spawns.add(tx, spawn_record("agent-2", task=CANARY))
    tx.execute("UPDATE agents SET status = 'completed', ended_ms = 1 WHERE agent_id = 'agent-2'")


async def _audit(desk: Desk) -> list[str]:
    rows = await desk.run(
        lambda tx: tx.all("SELECT type FROM event_log WHERE class = 'audit' ORDER BY position")
    )
    return [row["type"] for row in rows]


async def test_a_forgotten_group_is_in_no_file_and_the_audit_stays_without_its_text(desk: Desk) -> None:
    await _talk(desk)
    assert len(_holding(desk, CANARY)) >= 5

    found = await forget_group(desk.services, OPERATOR, "family")

    assert _holding(desk, CANARY) == []
    assert _holding(desk, CHAT) == []
    assert not (desk.services.paths.groups / "family").exists()
    assert await _audit(desk) == ["tree.terminated", "spawn.nested", "token.generated"]
    assert await desk.statuses(OTHER_CHAT) == {"g-1": "pending"}
    assert found.rows["messages"] == 2
    assert found.resisted == ()


async def test_a_forgotten_person_is_in_no_file_while_others_keep_what_they_said(desk: Desk) -> None:
    await _talk(desk)
    await desk.run(lambda tx: contacts.join(tx, ANN_LID, ANN))
    await desk.run(lambda tx: contacts.call(tx, ANN, f"Ann {CANARY}"))
    (desk.services.paths.groups / "family" / "workspace" / "notes.md").write_text("plants")

    found = await forget_person(desk.services, OPERATOR, ANN_LID)

    assert _holding(desk, CANARY) == []
    assert _holding(desk, ANN) == []
    assert await desk.statuses() == {"m-2": "pending"}
    assert (await desk.row("m-2"))["text"] == "what?"
    assert (desk.services.paths.groups / "family" / "workspace" / "notes.md").read_text() == "plants"
    assert await desk.statuses(OTHER_CHAT) == {"g-1": "pending"}
    assert found.rows["messages"] == 1
    assert any("groups/family/workspace" in sentence for sentence in found.stays)


async def test_no_row_of_any_table_names_a_forgotten_group_or_its_chat(tmp_path: Path) -> None:
    paths = Paths(home=tmp_path)
    paths.ensure()
    steps = shipped_migrations()
    with closing(made_at(len(steps), steps)) as filled, closing(sqlite3.connect(paths.database)) as store:
        filled.backup(store)
        store.execute("UPDATE groups SET is_main = 0")
        store.commit()
    database = await Database.open(paths.database, backups=paths.backups, on_wake=None)
    try:
        services = services_on(database, paths, ManualClock(), CountedWakeups(), StopRecorder())

        await forget_group(services, OPERATOR, "family")
    finally:
        await database.close()

    raw = paths.database.read_bytes()
    assert [
        name for name in (b"family", b"Family", b"1203@g.us", b"Water", b"Sweet", b"Seen") if name in raw
    ] == []


@pytest.mark.parametrize("kind", ["group", "person"])
async def test_forgetting_again_finds_nothing_more(desk: Desk, kind: str) -> None:
    forget, name = (forget_group, "family") if kind == "group" else (forget_person, ANN)
    await _talk(desk)
    await forget(desk.services, OPERATOR, name)

    again = await forget(desk.services, OPERATOR, name)

    assert (again.rows, again.files) == ({}, ())


async def test_the_copies_that_still_hold_it_are_named(desk: Desk) -> None:
    made = back_up(desk.services.paths, None, with_secrets=False, at=desk.now)

    found = await forget_group(desk.services, OPERATOR, "family")

    assert found.copies == (str(made.path),)


async def test_copies_elsewhere_are_named_and_what_unfinished_ones_left(
    desk: Desk, tmp_path_factory: pytest.TempPathFactory
) -> None:
    paths, disk = desk.services.paths, tmp_path_factory.mktemp("disk")
    kept, removed, unplugged = (disk / name for name in ("kept.gz", "removed.gz", "stick/unplugged.gz"))
    unplugged.parent.mkdir()
    for path in (kept, removed, unplugged):
        back_up(paths, path, with_secrets=False, at=desk.now)
    removed.unlink()
    shutil.rmtree(unplugged.parent)
    left = [paths.backups / ".killed.tar.gz-1", paths.home / ".restoring-1"]
    for path in left:
        path.mkdir()

    found = await forget_group(desk.services, OPERATOR, "family")

    assert found.copies == tuple(sorted(map(str, (kept, unplugged, *left))))


async def test_a_home_that_a_backup_of_this_one_was_put_back_into_is_named_too(
    desk: Desk, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("elsewhere") / "other"
    made = back_up(desk.services.paths, None, with_secrets=False, at=desk.now)
    restore(Paths(home=other), made.path, at=desk.now)

    found = await forget_group(desk.services, OPERATOR, "family")

    assert found.copies == tuple(sorted((str(made.path), str(other))))


async def test_what_other_chats_were_told_of_a_forgotten_group_goes_and_the_rest_stays(desk: Desk) -> None:
    await desk.run(lambda tx: tx.execute("UPDATE groups SET name = 'Roses' WHERE folder = 'family'"))
    told = [
        (Say.CHAT_MET, {"name": "Lilies", "trigger": "@Andy", "folder": "family"}),
        (Say.OPERATOR_BOX, {"group": "Roses", "why": "It wrote too much."}),
        (Say.CHAT_LEFT, {"name": "Roses are red"}),
    ]
    for number, (what, facts) in enumerate(told):
        await desk.run(
            lambda tx, what=what, facts=facts, number=number: queue_notice(  # type: ignore[misc]
                tx, desk.services, chat=OTHER_CHAT, what=what, incident=f"i-{number}", at=desk.now, **facts
            )
        )

    found = await forget_group(desk.services, OPERATOR, "family")

    rows = await desk.run(lambda tx: tx.all("SELECT source_key FROM outbox WHERE source = 'notice'"))
    assert [row["source_key"] for row in rows] == ["i-2"]
    assert found.rows["notices elsewhere"] == 2


async def test_agents_that_know_of_it_are_stopped_first(desk: Desk) -> None:
    await desk.hear("m-1", f"@Andy {CANARY}")
    held = await desk.start_agent()
    desk.control.bury = lambda agent_id: desk.die(replace(held, agent_id=agent_id), DeathCause.STOPPED)

    await forget_person(desk.services, OPERATOR, ANN)

    assert [each for each, _ in desk.control.agents_stopped] == [held.agent_id]
    assert _holding(desk, CANARY) == []


async def test_while_such_an_agent_cannot_be_stopped_nothing_is_forgotten(desk: Desk) -> None:
    await desk.hear("m-1", f"@Andy {CANARY}")
    held = await desk.start_agent()
    desk.control.immortal.add(held.agent_id)

    with pytest.raises(Unavailable, match="1 agents"):
        await forget_person(desk.services, OPERATOR, ANN)

    assert list(await desk.statuses()) == ["m-1"]


async def test_a_group_whose_forgetting_broke_off_is_known_by_its_folder_alone(desk: Desk) -> None:
    await desk.hear("m-1", f"@Andy {CANARY}")
    held = await desk.start_agent()
    desk.control.immortal.add(held.agent_id)
    with pytest.raises(Unavailable):
        await forget_group(desk.services, OPERATOR, "family")
    desk.control.immortal.clear()
    desk.control.bury = lambda _: desk.die(held, DeathCause.STOPPED)

    await forget_group(desk.services, OPERATOR, "family")

    assert _holding(desk, CANARY) == []


class KilledError(BaseException):
    """The end of the process, as far as this call is concerned."""


class Killed:
    """Implements `Checkpoints`: ends the work once the rows of a person or a group are gone."""

    def reached(self, name: str) -> None:
        """Raises KilledError there."""
        if name in {"person.rows_gone", "group.rows_gone"}:
            raise KilledError


@pytest.mark.parametrize("kind", ["group", "person"])
async def test_files_that_a_kill_left_behind_go_with_the_next_attempt(desk: Desk, kind: str) -> None:
    forget, name = (forget_group, "family") if kind == "group" else (forget_person, ANN)
    await _talk(desk)
    (desk.services.paths.logs / "agents" / "agent-2.log").write_text(CANARY)
    with pytest.raises(KilledError):
        await forget(replace(desk.services, checkpoints=Killed()), OPERATOR, name)
    assert _holding(desk, CANARY)

    await forget(desk.services, OPERATOR, name)

    assert _holding(desk, CANARY) == []
    assert await desk.run(lambda tx: tx.all("SELECT name FROM facts WHERE name LIKE 'forgetting%'")) == []


async def _alerts(desk: Desk) -> list[str]:
    return [row["text"] for row in await desk.run(lambda tx: tx.all("SELECT text FROM alerts ORDER BY id"))]


async def test_alerts_that_name_the_group_go_also_when_an_earlier_attempt_broke_off(desk: Desk) -> None:
    await desk.hear("m-1", f"@Andy {CANARY}")
    held = await desk.start_agent()
    desk.control.immortal.add(held.agent_id)
    await desk.run(lambda tx: tx.execute("UPDATE groups SET name = 'Roses' WHERE folder = 'family'"))
    with pytest.raises(Unavailable):
        await forget_group(desk.services, OPERATOR, "family")
    desk.control.immortal.clear()
    desk.control.bury = lambda _: desk.die(held, DeathCause.STOPPED)
    await desk.run(lambda tx: alerts.add(tx, "The assistant of “Roses” was stopped.", at=desk.now))

    await forget_group(desk.services, OPERATOR, "family")

    assert await _alerts(desk) == []


async def test_alerts_and_incidents_that_only_contain_the_name_stay(desk: Desk) -> None:
    foreign = f"49{CHAT}"
    await desk.run(lambda tx: tx.execute("UPDATE groups SET name = 'a' WHERE folder = 'family'"))
    for text in ("The assistant of “garden” was stopped.", f"No message to {foreign}.", "It is “a”."):
        await desk.run(lambda tx, text=text: alerts.add(tx, text, at=desk.now))  # type: ignore[misc]
    for incident in (f"files:{foreign}", f"files:{CHAT}", f"files:{CHAT}:2026"):
        await desk.run(lambda tx, incident=incident: notices.count_one(tx, incident, at=desk.now))  # type: ignore[misc]

    await forget_group(desk.services, OPERATOR, "family")

    assert await _alerts(desk) == ["The assistant of “garden” was stopped.", f"No message to {foreign}."]
    assert await desk.run(lambda tx: notices.names(tx, prefix="files:")) == {f"files:{foreign}"}


async def test_alerts_about_the_folder_go_and_those_that_only_contain_it_stay(desk: Desk) -> None:
    await desk.run(lambda tx: tx.execute("UPDATE groups SET name = 'Roses' WHERE folder = 'family'"))
    about = [
        say(Say.OPERATOR_NOT_SET_UP, "en", group="family", why="groups/family/AGENT.md is broken."),
        say(Say.CHAT_MET, "en", name="Lilies", trigger="@Andy", folder="family"),
        say(Say.PROPOSAL_ALERT, "en", number=7, group="family", wish="write", effect="> psst"),
    ]
    others = [
        say(Say.OPERATOR_NOT_SET_UP, "en", group="garden", why="The family is away."),
        say(Say.CHAT_MET, "en", name="family", trigger="family", folder="family-2"),
        say(Say.PROPOSAL_ALERT, "en", number=8, group="garden", wish="write", effect=f"> {about[0]}"),
    ]
    for text in (*about, *others):
        await desk.run(lambda tx, text=text: alerts.add(tx, text, at=desk.now))  # type: ignore[misc]

    await forget_group(desk.services, OPERATOR, "family")

    assert await _alerts(desk) == others


async def test_a_file_that_was_sent_in_an_answer_to_a_person_goes(desk: Desk) -> None:
    await _talk(desk)
    paths = desk.services.paths
    paths.spool.mkdir(parents=True, exist_ok=True)
    (paths.spool / "sent-1").write_text(CANARY)
    await desk.run(lambda tx: tx.execute("UPDATE outbox SET spool_name = 'sent-1'"))
    (answer,) = await desk.run(lambda tx: tx.all("SELECT id FROM outbox"))
    (paths.console_files / str(answer["id"])).mkdir(parents=True)
    (paths.console_files / str(answer["id"]) / "sent.txt").write_text(CANARY)

    await forget_person(desk.services, OPERATOR, ANN)

    assert _holding(desk, CANARY) == []


async def test_the_main_group_is_not_forgotten(desk: Desk) -> None:
    await desk.run(lambda tx: tx.execute("UPDATE groups SET is_main = 1 WHERE folder = 'family'"))

    with pytest.raises(InvalidRequest, match="is main"):
        await forget_group(desk.services, OPERATOR, GroupFolder("family"))

    assert await desk.run(lambda tx: tx.one("SELECT 1 FROM groups WHERE folder = 'family'")) is not None


@pytest.mark.parametrize("name", ["../family", "", "global", "a/b"])
async def test_attack_what_is_no_folder_of_a_group_is_refused(desk: Desk, name: str) -> None:
    with pytest.raises(InvalidRequest, match="can't be the folder"):
        await forget_group(desk.services, OPERATOR, name)


async def test_attack_a_link_in_the_place_of_a_session_home_is_removed_and_not_followed(
    desk: Desk, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("kept")
    (desk.services.paths.sessions / "family").symlink_to(outside)

    await forget_group(desk.services, OPERATOR, "family")

    assert (outside / "precious").read_text() == "kept"
    assert not (desk.services.paths.sessions / "family").is_symlink()
