"""`dovecote agent check` and `dovecote provider list` as people meet them."""

import json
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from orchestrator.cli.agent_checks import agent_findings
from orchestrator.cli.findings import Health, Patient
from orchestrator.paths import Paths
from orchestrator.settings.tree import AgentSettings, Settings
from orchestrator.store.migrate import shipped_migrations
from orchestrator.store.opening import open_store
from tests.edges.cli.conftest import Dovecote
from tests.support.store_rows import NOON
from tests.support.store_template import lay_store

KEY = "canary-of-the-operator"


def write(home: Path, folder: str, text: str) -> None:
    """The group's `AGENT.md`."""
    (home / "groups" / folder / "AGENT.md").write_text(text, encoding="utf-8")


def test_a_check_names_the_line_and_what_mends_it_and_ends_with_1(home: Path, dovecote: Dovecote) -> None:
    dovecote("group", "add", "a", "--jid", "console:a")
    dovecote("group", "add", "b", "--jid", "console:b")
    write(home, "b", "---\npermissions: all\n---\n")

    everything = dovecote("agent", "check")
    one = dovecote("agent", "check", "a")

    assert (everything.returncode, one.returncode) == (1, 0)
    lines = everything.stdout.splitlines()
    assert "a: well" in lines
    wrong = lines.index("b: no agent can be started")
    assert lines[wrong + 1] == "  ! groups/b/AGENT.md line 2 has the field permissions, which is 'all'."
    assert lines[wrong + 2] == "    → It must be 'deny-all', 'approve-reads' or 'approve-all'."
    assert "instructions" in one.stdout
    assert "instructions" not in everything.stdout


def test_a_check_names_all_that_is_wrong_also_beside_a_name_that_nearly_is_the_field(
    home: Path, dovecote: Dovecote
) -> None:
    dovecote("group", "add", "a", "--jid", "console:a")
    write(home, "a", "---\nprovidr: claude\nprovider: clode\ntool: x\ntools: [groups]\n---\n")

    checked = dovecote("agent", "check", "a")

    wrong = [line for line in checked.stdout.splitlines() if line.startswith("  ! ")]
    assert [line.partition("AGENT.md ")[2][:24] for line in wrong] == [
        "line 2 has the field pro",
        "line 3 has the field pro",
        "line 4 has the field too",
        "line 5 has the tools gro",
    ]
    assert "'clode'" in wrong[1]


def test_a_check_that_finds_something_wrong_ends_without_the_long_text(
    home: Path, dovecote: Dovecote
) -> None:
    dovecote("group", "add", "a", "--jid", "console:a")
    write(home, "a", "---\nprovider: claude\n---\nA long text.\n")
    wrong = dovecote("agent", "check", "a")
    write(home, "a", "---\nenv: {API_KEY: sk-0123456789abcdef0123}\n---\nA long text.\n")
    doubtful = dovecote("agent", "check", "a")

    assert (wrong.returncode, doubtful.returncode) == (1, 0)
    assert "A long text." not in wrong.stdout
    text, doubt = doubtful.stdout.index("A long text."), doubtful.stdout.index("  ? env.API_KEY")
    assert text < doubt


def test_a_credential_is_shown_as_set_or_missing_and_never_itself(home: Path, dovecote: Dovecote) -> None:
    dovecote("group", "add", "a", "--jid", "console:a")
    write(home, "a", "---\nprovider: mine\n---\n")
    (home / "providers.toml").write_text(
        '[mine]\nextends = "claude"\nslots = [{name = "k", target_env = "K", secret_ref = "env:MINE"}]\n',
        encoding="utf-8",
    )

    missing = dovecote("agent", "check", "a", "--json")
    found = dovecote("agent", "check", "a", "--json", more={"MINE": KEY})

    (without,), (with_key,) = json.loads(missing.stdout), json.loads(found.stdout)
    assert (missing.returncode, found.returncode) == (1, 0)
    assert [without["credentials"][0]["state"], with_key["credentials"][0]["state"]] == ["missing", "set"]
    assert without["troubles"][0]["mend"] == "Start Dovecote with the variable MINE in its environment."
    assert with_key["fields"]["provider"] == "mine"
    assert KEY not in found.stdout + found.stderr


def test_an_unknown_group_and_a_home_without_groups_are_told_as_such(home: Path, dovecote: Dovecote) -> None:
    nothing = dovecote("agent", "check")
    dovecote("group", "add", "a", "--jid", "console:a")
    unknown = dovecote("agent", "check", "nobody")

    assert (nothing.returncode, nothing.stdout) == (
        0,
        "No groups yet. The first start registers console:main.\n",
    )
    assert unknown.returncode == 1
    assert "nobody" in unknown.stderr


def test_providers_are_listed_with_their_upstream_as_it_is_set(home: Path, dovecote: Dovecote) -> None:
    named = {"DOVECOTE_PROVIDERS__CLAUDE_CODE__BASE_URL": "http://127.0.0.1:9"}
    (home / "dovecote.toml").write_text('providers.claude.base_url = "http://127.0.0.1:8"\n')

    listed = dovecote("provider", "list", "--json", more=named)
    table = dovecote("provider", "list")

    bases = {each["name"]: each["base_url"] for each in json.loads(listed.stdout)}
    assert bases["claude"] == "http://127.0.0.1:8"
    assert bases["claude-code"] == "http://127.0.0.1:9"
    assert bases["gemini"] == "https://generativelanguage.googleapis.com"
    assert table.stdout.splitlines()[0].split() == ["PROVIDER", "DRIVER", "MODEL", "CREDENTIAL", "UPSTREAM"]
    assert list(home.iterdir()) == [home / "dovecote.toml"]


def test_a_broken_provider_is_listed_with_its_reason(home: Path, dovecote: Dovecote) -> None:
    (home / "providers.toml").write_text('[mine]\ndriver = "gpt"\n', encoding="utf-8")

    listed = dovecote("provider", "list")

    assert listed.returncode == 0
    assert "mine" in listed.stdout
    assert "'builtin', 'claude', 'acp' or 'script'" in listed.stdout


def test_the_doctor_looks_at_each_group(home: Path) -> None:
    paths = Paths(home=home)
    paths.ensure()
    with closing(sqlite3.connect(paths.database)) as connection:
        for step in shipped_migrations():
            connection.executescript(step.sql)
        for folder, is_main in (("a", 1), ("b", 0), ("c", 0), ("d", 0)):
            connection.execute(
                "INSERT INTO groups (folder, jid, name, trigger, assistant_name, is_main, added_ms) "
                "VALUES (?, ?, 'x', '@x', 'x', ?, 0)",
                (folder, f"console:{folder}", is_main),
            )
            (paths.groups / folder).mkdir()
        connection.commit()
    write(home, "b", "---\nprovider: claude\n---\n")
    write(home, "c", "---\nenv: {MY_TOKEN: x}\n---\n")

    write(home, "d", "---\ngithub_token: secret:providers/github/bot\n---\n")

    findings = agent_findings(Patient(paths=paths, settings=Settings(), pid=None))

    assert [(each.what, each.health) for each in findings] == [
        ("agent a", Health.OK),
        ("agent b", Health.FAILURE),
        ("agent c", Health.WARNING),
        ("agent d", Health.FAILURE),
    ]
    assert findings[1].mend == "Set it: dovecote secret set providers/claude/api_key"
    assert findings[3].mend == "Set it: dovecote secret set providers/github/bot"


def lay_group(paths: Paths) -> None:
    """A store with the group `a`, and its folder."""
    paths.ensure()
    lay_store(paths.database)
    with closing(open_store(paths.database, cached_statements=1)) as connection:
        connection.execute(
            "INSERT INTO groups (folder, jid, name, trigger, assistant_name, is_main, added_ms) "
            "VALUES ('a', 'console:a', 'x', '@x', 'x', 1, 0)"
        )
    (paths.groups / "a").mkdir()


@pytest.mark.parametrize(
    ("command", "health"),
    [
        ("no-such-program --acp", Health.FAILURE),
        ("sh -c true", Health.OK),
        ("/workspace/extra/tools/mine", Health.OK),
    ],
    ids=["not there", "there", "where only an agent can look"],
)
def test_the_doctor_names_a_program_that_agents_would_not_find(
    home: Path, command: str, health: Health
) -> None:
    paths = Paths(home=home)
    lay_group(paths)
    write(home, "a", f"---\nprovider: acp\ncommand: {command}\n---\n")
    settings = Settings(agent=AgentSettings(runner="process", allow_unisolated=True))

    (finding,) = agent_findings(Patient(paths=paths, settings=settings, pid=None))

    assert finding.health is health
    if health is Health.FAILURE:
        assert "'no-such-program'" in finding.why
        assert "groups/a/AGENT.md" in (finding.mend or "")
        assert "image build" not in (finding.mend or "")


@pytest.mark.parametrize(
    "command",
    ["python3 tools/agent.py --acp", "python3 agent.py", "./agent", "python3 /workspace/group/agent.py"],
)
def test_a_script_among_the_files_of_a_group_is_missed_before_an_agent_is_started(
    home: Path, command: str
) -> None:
    paths = Paths(home=home)
    lay_group(paths)
    write(home, "a", f"---\nprovider: acp\ncommand: {command}\n---\n")
    settings = Settings(agent=AgentSettings(runner="process", allow_unisolated=True))
    patient = Patient(paths=paths, settings=settings, pid=None)

    (without,) = agent_findings(patient)
    workspace = home / "groups" / "a" / "workspace"
    (workspace / "tools").mkdir(parents=True)
    for name in ("agent.py", "agent", "tools/agent.py"):
        (workspace / name).touch()
    (with_it,) = agent_findings(patient)

    assert without.health is Health.FAILURE
    assert "is not where agents run" in without.why
    assert (without.mend or "").startswith("Put it into groups/a/workspace.")
    assert with_it.health is Health.OK


def test_a_tool_servers_program_that_is_missing_is_doubted_where_the_agent_uses_none(home: Path) -> None:
    paths = Paths(home=home)
    lay_group(paths)
    write(home, "a", "---\nmcp_servers: {notes: {command: no-such-program}, well: {command: sh}}\n---\n")
    settings = Settings(agent=AgentSettings(runner="process"))

    unused, missing = agent_findings(Patient(paths=paths, settings=settings, pid=None))

    assert (unused.health, missing.health) == (Health.WARNING, Health.WARNING)
    assert "The provider builtin uses no tool servers, so these stay unused: notes, well." in unused.why
    assert "The program 'no-such-program' of its tool server 'notes' is not where agents run" in missing.why


def test_the_doctor_names_all_that_is_wrong_with_a_group_one_a_line(home: Path) -> None:
    paths = Paths(home=home)
    lay_group(paths)
    write(home, "a", "---\npermissions: maybe\nmax_turns: 0\n---\n")

    first, second = agent_findings(Patient(paths=paths, settings=Settings(), pid=None))

    assert [each.health for each in (first, second)] == [Health.FAILURE, Health.FAILURE]
    assert first.why == "groups/a/AGENT.md line 2 has the field permissions, which is 'maybe'."
    assert second.why == "groups/a/AGENT.md line 3 has the field max_turns, which is 0."
    assert "approve-reads" in (first.mend or "")


def test_a_check_says_as_the_doctor_does_that_a_program_is_not_where_agents_run(
    home: Path, dovecote: Dovecote
) -> None:
    (home / "dovecote.toml").write_text('agent = {runner = "process", allow_unisolated = true}\n')
    dovecote("group", "add", "a", "--jid", "console:a")
    write(home, "a", "---\nprovider: acp\ncommand: no-such-program --x\n---\n")

    checked = dovecote("agent", "check", "a")
    examined = dovecote("doctor")

    lines = checked.stdout.splitlines()
    assert checked.returncode == 1
    assert lines[0] == "a: no agent can be started"
    assert lines[1] == "  ! Its program 'no-such-program' is not where agents run, or can't be run."
    assert lines[1].removeprefix("  ! ") in examined.stdout
    assert lines[2].startswith("    → Mend the command in groups/a/AGENT.md")


def test_a_check_finds_all_that_is_wrong_whatever_else_is(home: Path, dovecote: Dovecote) -> None:
    dovecote("group", "add", "a", "--jid", "console:a")
    front = "provider: cluade\npermissions: maybe\nmax_turns: 0\nadditional_dirs: [{name: e, path: /etc}]"
    write(home, "a", f"---\n{front}\n---\nHello {{{{ nobody }}}} and {{{{ group.x }}}}\n")

    checked = dovecote("agent", "check", "a")

    found = [line.removeprefix("  ! ") for line in checked.stdout.splitlines() if line.startswith("  ! ")]
    assert len(found) == 6
    for part in ("permissions", "max_turns", "'cluade'", "/etc", "names 'nobody'", "uses an attribute"):
        assert sum(part in line for line in found) == 1, part


def test_a_check_makes_no_second_fault_of_a_first_one(home: Path, dovecote: Dovecote) -> None:
    dovecote("group", "add", "a", "--jid", "console:a")
    write(home, "a", "---\nprovder: acp\ncommand: my-agent\n---\nHello.\n")

    checked = dovecote("agent", "check", "a")

    (found,) = [line for line in checked.stdout.splitlines() if line.startswith("  ! ")]
    assert "line 2 has the field provder" in found


@pytest.mark.parametrize(("started", "is_told"), [(NOON, True), (NOON.replace(year=2100), False)])
def test_a_check_says_that_an_agent_still_runs_by_what_was_said_before(
    home: Path, dovecote: Dovecote, started: datetime, *, is_told: bool
) -> None:
    dovecote("group", "add", "a", "--jid", "console:a")
    with closing(sqlite3.connect(Paths(home=home).database)) as connection:
        connection.execute(
            "INSERT INTO agents (agent_id, tree_id, folder, chat_jid, box, runner, provider, status, is_main,"
            " started_ms) VALUES ('x', 'x', 'a', 'console:a', 'a', 'process', 'builtin', 'running', 0, ?)",
            (started.timestamp() * 1000,),
        )
        connection.commit()

    checked = dovecote("agent", "check", "a")

    assert checked.returncode == 0
    assert ("was started before the last change" in checked.stdout) is is_told
    assert ("To end it: dovecote agent stop x" in checked.stdout) is is_told
