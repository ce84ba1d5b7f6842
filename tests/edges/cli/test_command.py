"""The command as people meet it: help, errors, settings, doctor, reference."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from orchestrator.cli.main import app
from orchestrator.cli.reference import MEANINGS, commands_table, tables_of, with_tables
from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.contracts.version import VERSION
from tests.edges.cli.conftest import Dovecote

REPOSITORY = Path(__file__).parents[3]
HEAVY = ("rich", "pydantic", "asyncio", "sqlite3", "fastapi", "httpx", "docker", "prompt_toolkit")
LOADED_AFTER_HELP = f"""
import sys
from orchestrator.cli.main import main
sys.argv = ["dovecote", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""


# Typer itself loads pydantic as soon as it has to read an argument.
BY_TYPER = ["pydantic"]


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        (["--help"], []),
        (["group", "--help"], BY_TYPER),
        (["chat", "--help"], BY_TYPER),
        (["version"], BY_TYPER),
        (["--version"], []),
    ],
)
def test_help_loads_nothing_heavy(arguments: list[str], loaded: list[str]) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LOADED_AFTER_HELP, *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert ended.stderr.strip() == str(loaded)
    assert ended.stdout


def test_the_commands_are_public_and_change_only_on_purpose(dovecote: Dovecote) -> None:
    table = commands_table(app)

    assert [line.split("`")[1] for line in table.splitlines()[2:]] == [
        "dovecote serve",
        "dovecote chat",
        "dovecote config",
        "dovecote doctor",
        "dovecote status",
        "dovecote messages",
        "dovecote usage",
        "dovecote errors",
        "dovecote top",
        "dovecote events",
        "dovecote reference",
        "dovecote mcp",
        "dovecote version",
        "dovecote backup",
        "dovecote restore",
        "dovecote group add",
        "dovecote group list",
        "dovecote group show",
        "dovecote group set",
        "dovecote group remove",
        "dovecote task list",
        "dovecote task show",
        "dovecote task history",
        "dovecote task add",
        "dovecote task pause",
        "dovecote task resume",
        "dovecote task cancel",
        "dovecote task run",
        "dovecote proposal list",
        "dovecote proposal confirm",
        "dovecote proposal decline",
        "dovecote image build",
        "dovecote image check",
        "dovecote image prune",
        "dovecote secret set",
        "dovecote secret list",
        "dovecote secret remove",
        "dovecote agent check",
        "dovecote agent list",
        "dovecote agent tree",
        "dovecote agent show",
        "dovecote agent logs",
        "dovecote agent stop",
        "dovecote api-key add",
        "dovecote api-key list",
        "dovecote api-key remove",
        "dovecote workspace list",
        "dovecote workspace approve",
        "dovecote workspace reject",
        "dovecote workspace remove",
        "dovecote provider list",
        "dovecote provider check",
        "dovecote provider login",
        "dovecote whatsapp link",
        "dovecote whatsapp main",
        "dovecote whatsapp status",
        "dovecote whatsapp unlink",
        "dovecote whatsapp groups",
        "dovecote forget person",
        "dovecote forget group",
        "dovecote service install",
        "dovecote service status",
        "dovecote service uninstall",
    ]


def test_the_version_is_that_of_the_package(dovecote: Dovecote) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    for words in (["version"], ["--version"]):
        assert dovecote(*words).stdout == f"{project['version']}\n"
    assert project["version"] == VERSION


@pytest.mark.parametrize(
    "command",
    [
        ["serve"],
        ["chat"],
        ["config", "--json"],
        ["group", "list"],
        ["group", "add", "a", "--jid", "console:a"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_wrong_setting_stops_every_command_with_a_sentence_and_no_traceback(
    home: Path, dovecote: Dovecote, command: list[str]
) -> None:
    (home / "dovecote.toml").write_text("[queue]\nmax_running = 0\n")

    ended = dovecote(*command)

    assert ended.returncode == 1
    assert ended.stdout == ""
    assert (
        "queue.max_running is '0' (dovecote.toml line 2), but must be a whole number from 1 to 200"
        in ended.stderr
    )
    assert "Traceback" not in ended.stderr
    assert sorted(path.name for path in home.iterdir()) == ["dovecote.toml"]


def test_config_lists_the_settings_there_are_also_where_one_is_wrong(home: Path, dovecote: Dovecote) -> None:
    (home / "dovecote.toml").write_text("[foo]\nx = 1\n[queue]\nmax_running = 3\n")

    ended = dovecote("config")

    assert ended.returncode == 1
    assert "There is no setting foo.x (dovecote.toml line 2)." in ended.stderr
    first, *rows = ended.stdout.splitlines()
    assert "each with its default" in first
    assert ["queue.max_live", "20", "default"] in [row.split() for row in rows]


@pytest.mark.parametrize(
    "words", [["--help"], ["config"], ["doctor"], ["group", "list", "--json"], ["version"]]
)
def test_a_reader_that_has_what_he_wants_ends_a_command_in_silence(
    home: Path, environment: dict[str, str], words: list[str]
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "orchestrator", *words],
        cwd=home,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()
        said = command.stderr.read()

    assert (command.returncode, said) == (141, "")


def test_a_wrong_usage_is_exit_code_two(dovecote: Dovecote) -> None:
    assert dovecote("group", "add").returncode == 2
    assert dovecote("nonsense").returncode == 2


def test_config_prints_every_setting_with_its_origin(home: Path, dovecote: Dovecote) -> None:
    (home / "dovecote.toml").write_text("[agent]\nrunner = 'process'\n")

    ended = dovecote("config", "--json", more={"CONTAINER_TIMEOUT": "600000"})

    shown = json.loads(ended.stdout)
    assert shown["agent.runner"] == {"value": "process", "origin": "dovecote.toml line 2"}
    assert shown["agent.container_timeout_s"] == {"value": 600, "origin": "environment CONTAINER_TIMEOUT"}
    assert shown["queue.max_live"] == {"value": 20, "origin": "default"}
    assert ended.stderr == ""


@pytest.mark.parametrize("zone", ["Not/AZone", "CET-1CEST,M3.5.0,M10.5.0/3"])
def test_f5_a_bad_tz_is_a_warning_on_standard_error(dovecote: Dovecote, zone: str) -> None:
    """Case F5."""
    ended = dovecote("config", more={"TZ": zone})

    assert ended.returncode == 0
    assert zone in ended.stderr
    assert "assistant.timezone" in ended.stdout


def test_the_home_can_be_named_by_option_and_by_variable(tmp_path: Path, dovecote: Dovecote) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "dovecote.toml").write_text("[queue]\nmax_live = 7\n")

    by_option = dovecote("config", "--json", "--home", str(other))
    by_variable = dovecote("config", "--json", more={"DOVECOTE_HOME": str(other)})

    assert json.loads(by_option.stdout)["queue.max_live"]["value"] == 7
    assert by_option.stdout == by_variable.stdout


def test_the_reference_is_written_between_its_markers_and_checked(tmp_path: Path, dovecote: Dovecote) -> None:
    readme = tmp_path / "README.md"
    markers = "".join(f"<!-- reference: {name} -->outdated<!-- end: {name} -->\n" for name in tables_of(app))
    readme.write_text(f"before\n{markers}after\n")

    old = dovecote("reference", "--check", "--readme", str(readme))
    written = dovecote("reference", "--readme", str(readme))
    checked = dovecote("reference", "--check", "--readme", str(readme))

    text = readme.read_text()
    assert (old.returncode, written.returncode, checked.returncode) == (1, 0, 0)
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| `queue.max_running` | `5` | 1 to 200 |" in text
    assert "outdated" not in text
    assert set(MEANINGS) == set(ErrorCode)


def test_a_missing_marker_is_said_so() -> None:
    with pytest.raises(DovecoteError, match="markers"):
        with_tables("nothing here", tables_of(app))


def test_the_readme_of_this_tree_has_todays_tables(dovecote: Dovecote) -> None:
    ended = dovecote("reference", "--check", "--readme", str(REPOSITORY / "README.md"))

    assert ended.stderr == ""
    assert ended.returncode == 0
