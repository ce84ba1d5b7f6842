"""What the doctor finds in homes that are well and homes that are not."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.cli.doctor import examine, print_table, without_doctor
from orchestrator.cli.findings import Finding, Health, Patient, doubtful
from orchestrator.cli.name_checks import name_findings
from orchestrator.cli.own_program_checks import check_alerts, check_voice
from orchestrator.cli.place_checks import check_directories, check_disk, check_lock, check_log
from orchestrator.cli.store_checks import check_files, check_groups, check_store, sender_findings
from orchestrator.paths import Paths
from orchestrator.settings.tree import AlertSettings, AssistantSettings, Settings
from orchestrator.settings.voice import VoiceSettings
from orchestrator.store.instance_lock import InstanceLock, holder_pid
from orchestrator.store.migrate import shipped_migrations
from tests.edges.cli.conftest import Dovecote


@pytest.fixture
def paths(home: Path) -> Paths:
    paths = Paths(home=home)
    paths.ensure()
    return paths


def patient(paths: Paths, *, settings: Settings | None = None, pid: int | None = None) -> Patient:
    return Patient(paths=paths, settings=settings or Settings(), pid=pid)


def make_store(paths: Paths, *, schema: int, rows: str = "") -> None:
    with closing(sqlite3.connect(paths.database)) as connection:
        for step in shipped_migrations():
            connection.executescript(step.sql)
        connection.executescript(rows)
        connection.execute(f"PRAGMA user_version = {schema}")


GROUP = """
INSERT INTO groups (folder, jid, name, trigger, assistant_name, is_main, added_ms)
VALUES ('{folder}', 'console:{folder}', 'x', '@x', 'x', {is_main}, 0);
"""


def test_an_empty_home_is_well(home: Path) -> None:
    looked_at = patient(Paths(home=home))

    findings = [check(looked_at) for check in (check_directories, check_store, check_groups, check_log)]

    assert [finding.health for finding in findings] == [Health.OK] * 4
    assert list(home.iterdir()) == []


def test_a_broken_list_of_senders_is_named_with_its_line_and_what_mends_it(paths: Paths) -> None:
    rows = GROUP.format(folder="a", is_main=1) + GROUP.format(folder="b", is_main=0)
    make_store(paths, schema=len(shipped_migrations()), rows=rows)
    for folder in ("a", "b"):
        (paths.groups / folder).mkdir()
    (paths.groups / "b" / "senders.toml").write_text('mode = "drop"')
    (in_order,) = sender_findings(patient(paths))

    (paths.groups / "a" / "senders.toml").write_text('\nmode = "of course"')
    (finding,) = sender_findings(patient(paths))

    assert (in_order.health, in_order.why[:6]) == (Health.OK, "1 of 2")
    assert finding.health is Health.FAILURE
    assert finding.why.startswith("groups/a/senders.toml line 2 has the mode 'of course'.")
    assert '"anyone", "allowlist", "drop"' in finding.why
    assert finding.why.endswith("Only operators are heard there.")


def test_groups_that_were_made_before_a_name_was_set_are_named_with_what_changes_them(paths: Paths) -> None:
    rows = GROUP.format(folder="a", is_main=1) + GROUP.format(folder="b", is_main=0)
    make_store(paths, schema=len(shipped_migrations()), rows=rows)
    with closing(sqlite3.connect(paths.database)) as connection:
        connection.execute("UPDATE groups SET trigger = '@own' WHERE folder = 'b'")
        connection.commit()
    changed = Settings(assistant=AssistantSettings(name="Andy", locale="en"))

    untouched = name_findings(patient(paths))
    (found,) = name_findings(Patient(paths=paths, settings=changed, pid=None))

    assert untouched == []
    assert found.health is Health.OK
    assert found.why == "assistant.name is 'Andy', for groups made from now on; not yet so: a."
    assert (found.mend or "").endswith('dovecote group set a assistant_name="Andy" trigger="@Andy"')


def test_an_advice_for_several_findings_in_a_row_stands_once(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print_table([doubtful("x", "One.", "Do it."), doubtful("x", "Two.", "Do it."), doubtful("y", "A.", "B.")])

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["warn", "x", "One."],
        ["warn", "x", "Two."],
        ["→", "Do", "it."],
        ["warn", "y", "A."],
        ["→", "B."],
    ]


def test_a_group_whose_files_take_too_much_is_named_with_what_mends_it(paths: Paths) -> None:
    rows = GROUP.format(folder="a", is_main=1) + GROUP.format(folder="b", is_main=0)
    make_store(paths, schema=len(shipped_migrations()), rows=rows)
    in_order = check_files(patient(paths))
    with closing(sqlite3.connect(paths.database)) as connection:
        connection.execute("INSERT INTO notices (incident, opened_ms) VALUES ('files:console:a', 1)")
        connection.execute(
            "INSERT INTO notices (incident, opened_ms, told_ms) VALUES ('files:console:b', 1, 1)"
        )
        connection.commit()

    finding = check_files(patient(paths))

    assert in_order.health is Health.OK
    assert finding.health is Health.FAILURE
    assert finding.why.startswith("Those of b take more than they may:")
    assert finding.mend is not None
    assert "groups/b/workspace" in finding.mend


def test_a_home_that_is_not_there_is_named_with_what_makes_it(home: Path) -> None:
    finding = check_directories(patient(Paths(home=home / "gone")))

    assert finding.health is Health.FAILURE
    assert finding.mend == f"mkdir -p {home / 'gone'}"


def test_a_directory_that_others_can_read_is_a_warning_with_its_command(paths: Paths) -> None:
    paths.logs.chmod(0o755)

    finding = check_directories(patient(paths))

    assert finding.health is Health.WARNING
    assert finding.mend == f"chmod go-rw {paths.logs}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_store_of_another_user_is_broken(paths: Paths) -> None:
    os.chown(paths.store, 12345, 12345)

    assert check_directories(patient(paths)).health is Health.FAILURE


@pytest.mark.parametrize(
    ("floor", "health"), [(0, Health.OK), (1024**5, Health.FAILURE)], ids=["room", "no room"]
)
def test_free_space_is_measured_against_the_floor(paths: Paths, floor: int, health: Health) -> None:
    finding = check_disk(patient(paths, settings=Settings(disk_floor_bytes=floor)))

    assert finding.health is health
    assert "GiB free" in finding.why


def test_the_lock_tells_running_none_and_crashed_apart(paths: Paths) -> None:
    none = check_lock(patient(paths, pid=holder_pid(paths.lock)))
    with InstanceLock.acquire(paths.lock, pid=os.getpid()):
        runs = check_lock(patient(paths, pid=holder_pid(paths.lock)))
    paths.lock.write_text("4711\n")
    crashed = check_lock(patient(paths, pid=holder_pid(paths.lock)))

    assert (none.health, none.why) == (Health.WARNING, "None runs here.")
    assert (runs.health, runs.why) == (Health.OK, f"Process {os.getpid()} runs here.")
    assert "4711" in crashed.why
    assert "without shutting down" in crashed.why


def test_a_store_of_todays_schema_is_well_and_a_newer_one_is_not(paths: Paths) -> None:
    newest = len(shipped_migrations())

    make_store(paths, schema=newest)
    today = check_store(patient(paths))
    with closing(sqlite3.connect(paths.database)) as connection:
        connection.execute(f"PRAGMA user_version = {newest + 1}")
    newer = check_store(patient(paths))

    assert today.health is Health.OK
    assert newer.health is Health.FAILURE
    assert f"schema {newest + 1}" in newer.why


def test_a_file_that_is_no_database_is_broken_and_says_how_to_restore(paths: Paths) -> None:
    paths.database.write_bytes(b"not a database" * 1000)

    findings = [check_store(patient(paths)), check_groups(patient(paths))]

    assert {finding.health for finding in findings} == {Health.FAILURE}
    assert "data/backups" in (findings[0].mend or "")


@pytest.mark.parametrize(
    ("rows", "folders", "health", "word"),
    [
        (GROUP.format(folder="main", is_main=1), ["main"], Health.OK, "main is main"),
        (GROUP.format(folder="main", is_main=1), [], Health.FAILURE, "groups/main is gone"),
        (GROUP.format(folder="a", is_main=0), ["a"], Health.WARNING, "none is main"),
    ],
    ids=["well", "folder gone", "no main"],
)
def test_groups_have_their_folders_and_one_is_main(
    paths: Paths, rows: str, folders: list[str], health: Health, word: str
) -> None:
    make_store(paths, schema=len(shipped_migrations()), rows=rows)
    for folder in folders:
        (paths.groups / folder).mkdir()

    finding = check_groups(patient(paths))

    assert finding.health is health
    assert word in finding.why


def test_the_newest_error_of_the_log_is_shown(paths: Paths) -> None:
    lines = [
        {"event": "old.failed", "level": "error", "timestamp": "t1"},
        {
            "event": "engine.away",
            "level": "error",
            "timestamp": "t2",
            "error": "refused",
            "suggestion": "Start it.",
        },
        {"event": "message.stored", "level": "info", "timestamp": "t3"},
    ]
    paths.log_file.write_text(
        "half a line\n" + "".join(json.dumps(line) + "\n" for line in lines) + '{"event"'
    )

    finding = check_log(patient(paths))

    assert finding == Finding(
        what="log",
        health=Health.WARNING,
        why="2 errors since the last start. The last: engine.away at t2: refused",
        mend="Start it.",
    )


def test_an_agent_that_broke_off_is_told_of_in_words(paths: Paths) -> None:
    line = {
        "event": "agent.ended",
        "level": "error",
        "timestamp": "t1",
        "agent": "a-1",
        "group": "main",
        "reason": "crashed",
        "exit_code": 3,
    }
    paths.log_file.write_text(json.dumps(line) + "\n")

    finding = check_log(patient(paths))

    assert finding.why == (
        "1 error since the last start. The last: The agent a-1 of group main ended at t1. "
        "Its process broke off. Its exit code was 3."
    )
    assert finding.mend == "See what it did: dovecote agent logs a-1"


def test_the_doctor_prints_all_findings_and_fails_only_if_something_is_broken(
    home: Path, dovecote: Dovecote
) -> None:
    well = dovecote("doctor", "--json", more={"DOVECOTE_AGENT__RUNNER": "process"})
    (home / "dovecote.toml").write_text("[queue]\nmax_running = 0\n")
    broken = dovecote("doctor", more={"DOVECOTE_AGENT__RUNNER": "process"})

    findings = {each["what"]: each for each in json.loads(well.stdout)}
    assert well.returncode == 0, well.stdout
    assert set(findings) == {
        *("settings", "timezone", "permissions", "secrets", "disk", "orchestrator", "api", "doors", "keys"),
        *("store", "groups", "senders", "files", "runner", "limits", "image", "whatsapp", "alerts", "voice"),
        *("refusals", "service", "log", "providers", "workspaces"),
    }
    assert findings["orchestrator"]["mend"] == "dovecote serve"
    assert broken.returncode == 1
    assert "FAIL settings" in broken.stdout
    assert "queue.max_running" in broken.stdout


def test_errors_from_before_the_last_start_or_of_another_day_are_not_counted(paths: Paths) -> None:
    lines = [
        {"event": "old.failed", "level": "error", "timestamp": "2026-01-01T00:00:00Z"},
        {"event": "runner.chosen", "level": "info", "timestamp": "2026-01-01T00:00:01Z"},
        {"event": "stale.failed", "level": "error", "timestamp": "2026-01-01T00:00:02Z"},
    ]
    paths.log_file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert check_log(patient(paths)).health is Health.OK


def test_an_empty_database_is_one_that_was_not_made_yet(paths: Paths) -> None:
    paths.database.touch()

    assert check_store(patient(paths)).health is Health.OK
    assert check_groups(patient(paths)).health is Health.OK


def test_a_backup_is_advised_only_where_there_is_one(paths: Paths) -> None:
    paths.database.write_bytes(b"garbage" * 1000)
    without = check_store(patient(paths))
    (paths.backups / "dovecote-v1.db").touch()
    with_one = check_store(patient(paths))
    (paths.backups / "dovecote-20260301T120000Z.tar.gz").touch()
    with_whole = check_store(patient(paths))

    assert "There is no backup" in str(without.mend)
    assert "put data/backups/dovecote-v1.db there" in str(with_one.mend)
    assert "dovecote restore data/backups/dovecote-20260301T120000Z.tar.gz" in str(with_whole.mend)


def test_a_lock_that_is_a_directory_is_a_failure_with_advice(paths: Paths) -> None:
    paths.lock.mkdir()

    finding = check_lock(patient(paths))

    assert finding.health is Health.FAILURE
    assert str(paths.lock) in str(finding.mend)


def test_the_doctor_sends_nobody_to_the_doctor(paths: Paths) -> None:
    finding = Finding(what="api", health=Health.FAILURE, why="x", mend="Run `dovecote doctor`.")

    assert without_doctor(finding).mend == "Look into the log in data/logs."


@pytest.mark.parametrize(
    ("alerts", "health"),
    [
        (AlertSettings(), Health.OK),
        (AlertSettings(main_is_watched=False), Health.WARNING),
        (AlertSettings(command=("sh", "-c", "cat")), Health.OK),
        (AlertSettings(command=("/no/such/program",)), Health.FAILURE),
    ],
    ids=["read in main", "read by nobody", "told by a program", "a program that is not there"],
)
def test_whether_operators_are_reached_is_found_before_it_matters(
    paths: Paths, alerts: AlertSettings, health: Health
) -> None:
    finding = check_alerts(patient(paths, settings=Settings(alerts=alerts)))

    assert finding.health is health
    assert (finding.mend is None) == (health is Health.OK)


@pytest.mark.parametrize(
    ("command", "health"),
    [((), Health.OK), (("cat", "{file}"), Health.OK), (("/nowhere/whisper",), Health.FAILURE)],
)
def test_a_program_for_voice_messages_that_is_not_there_is_named(
    paths: Paths, command: tuple[str, ...], health: Health
) -> None:
    finding = check_voice(patient(paths, settings=Settings(voice=VoiceSettings(command=command))))

    assert finding.health is health
    assert health is Health.OK or "/nowhere/whisper" in finding.why


def test_each_wrong_setting_is_a_finding_with_what_mends_it(home: Path) -> None:
    (home / "dovecote.toml").write_text('[agent]\nrunner = "proces"\n[queue]\nmax_running = 0\n')

    found = [each for each in examine(home) if each.what == "settings"]

    assert [each.health for each in found] == [Health.FAILURE, Health.FAILURE]
    assert {"line 2" in each.why for each in found} == {True, False}
    assert all(each.mend and "remove it for the default" in each.mend for each in found)
