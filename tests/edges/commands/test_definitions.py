"""Definitions from the operator's real files: read at each start, never from memory. agents.md section 4."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from orchestrator.commands.setup.definition_faults import check_agent, list_providers
from orchestrator.commands.setup.definitions import definition_now, load_providers
from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.definitions import ExtraDirectory
from orchestrator.contracts.records.egress import Secret
from orchestrator.contracts.records.groups import Group
from orchestrator.paths import Paths
from orchestrator.settings.tree import AgentSettings, Settings

GROUP = Group(
    folder=GroupFolder("family"),
    jid=Jid("1@g.us"),
    name="Family",
    trigger="@Andy",
    assistant_name="Andy",
    added_at=datetime(2026, 1, 1, tzinfo=UTC),
    number=1,
)


class Desk:
    """A home with one group, and the operator's configuration beside it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.paths = Paths(home=root / "dovecote")
        self.settings = Settings()
        for folder in ("global", "family"):
            (self.paths.groups / folder / "workspace").mkdir(parents=True)

    def write(self, text: str, folder: str = "family") -> None:
        """An `AGENT.md`."""
        (self.paths.groups / folder / "AGENT.md").write_text(text, encoding="utf-8")

    def allow(self, text: str) -> None:
        """The operator's `mounts.toml`."""
        place = self.root / "config" / "dovecote" / "mounts.toml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def extras(self, text: str, group: Group = GROUP) -> tuple[ExtraDirectory, ...]:
        """The additional directories of a definition with this front matter."""
        self.write(f"---\n{text}\n---\n")
        return definition_now(self.paths, self.settings, group, has_walls=True).extra_directories

    def refusal(self, text: str) -> str:
        """What is said of this `AGENT.md`."""
        self.write(text)
        with pytest.raises(InvalidSettings) as refused:
            definition_now(self.paths, self.settings, GROUP, has_walls=True)
        return str(refused.value)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    return Desk(tmp_path)


class OneSecret:
    """Only this credential is set."""

    def __init__(self, ref: str = "") -> None:
        self._ref = ref

    async def get(self, ref: str) -> Secret | None:
        """It."""
        return Secret("canary") if ref == self._ref else None


def test_a_change_counts_from_the_next_look_on(desk: Desk) -> None:
    def name() -> str:
        return definition_now(desk.paths, desk.settings, GROUP, has_walls=True).name

    desk.write("---\nname: One\n---\n")
    first = name()
    desk.write("---\nname: Two\n---\n")

    assert (first, name()) == ("One", "Two")


def test_without_any_file_there_is_a_definition_all_the_same(desk: Desk) -> None:
    assert definition_now(desk.paths, desk.settings, GROUP, has_walls=True).provider.name == "builtin"


def test_the_file_for_all_groups_comes_first(desk: Desk) -> None:
    desk.write("For all.", "global")
    desk.write("For us.")

    found = definition_now(desk.paths, desk.settings, GROUP, has_walls=True)

    assert found.instructions.endswith("</dovecote>\n\nFor all.\n\nFor us.")


def test_a_broken_file_for_all_groups_is_named(desk: Desk) -> None:
    desk.write("---\nmodel: [\n---\n", "global")

    assert desk.refusal("").startswith("groups/global/AGENT.md line 2 is not YAML")


def test_what_is_wrong_in_both_files_is_told_at_once(desk: Desk) -> None:
    desk.write("---\nmax_turns: 0\n---\n", "global")

    said = desk.refusal("---\npermissions: maybe\nlocale: '?'\n---\n")

    assert "groups/global/AGENT.md line 2 has the field max_turns" in said
    assert "groups/family/AGENT.md line 2 has the field permissions" in said
    assert "groups/family/AGENT.md line 3 has the field locale" in said


def test_what_fits_no_provider_no_group_and_no_list_is_told_at_once(desk: Desk) -> None:
    (desk.root / "photos").mkdir()

    said = desk.refusal(
        f"---\nprovider: acp\ntools: [groups]\nadditional_dirs:\n  - {{name: a, path: {desk.root}/photos}}\n"
        f"  - {{name: b, path: {desk.root}/none}}\n---\n"
    )

    assert "line 2 has the provider acp, which needs the command of a program" in said
    assert "line 3 has the tools groups" in said
    assert "photos', is not below any root" in said
    assert "none', is not there" in said


def test_faults_are_told_by_line_and_a_directory_is_judged_beside_what_else_is_wrong_with_it(
    desk: Desk,
) -> None:
    desk.allow("")

    said = desk.refusal(
        "---\nprovider: cluade\nmax_turns: many\n"
        "additional_dirs:\n  - {name: etc, path: /etc, mode: w}\nlocale: '?'\n---\n"
    ).splitlines()

    assert [line.partition(" has the field ")[2].partition(",")[0] for line in said] == [
        "provider",
        "max_turns",
        "additional_dirs[0].mode",
        "locale",
        "",
    ]
    assert "which is 'cluade'. Did you mean claude?" in said[0]
    assert "'/etc'" in said[4]


async def test_a_check_tells_each_fault_by_itself(desk: Desk) -> None:
    desk.write("---\npermissions: maybe\nmax_turns: 0\n---\n")

    view = await check_agent(desk.paths, desk.settings, OneSecret(), GROUP, has_walls=True)

    assert not view.is_well
    assert [each.what.partition(" has ")[0] for each in view.troubles] == [
        "groups/family/AGENT.md line 2",
        "groups/family/AGENT.md line 3",
    ]
    assert all(each.mend for each in view.troubles)


def test_what_is_no_text_is_refused(desk: Desk) -> None:
    (desk.paths.groups / "family" / "AGENT.md").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidSettings, match="not UTF-8 at byte 0"):
        definition_now(desk.paths, desk.settings, GROUP, has_walls=True)

    (desk.paths.groups / "family" / "AGENT.md").unlink()
    (desk.paths.groups / "family" / "AGENT.md").symlink_to("/etc/passwd")
    with pytest.raises(InvalidSettings, match=r"groups/family/AGENT.md can't be read"):
        definition_now(desk.paths, desk.settings, GROUP, has_walls=True)


def test_providers_come_from_the_home_and_from_the_settings(desk: Desk) -> None:
    desk.paths.providers_file.write_text('[mine]\nextends = "claude"\nmodel = "m"\n', encoding="utf-8")
    settings = Settings(providers={"mine": {"base_url": "http://127.0.0.1:1"}})

    found = load_providers(desk.paths, settings).named("mine")

    assert found.api is not None
    assert (found.model, found.api.base, found.api.is_named_by_operator) == ("m", "http://127.0.0.1:1", True)


@pytest.mark.parametrize(("content", "said"), [("[x", "is not TOML"), (None, "is not a file")])
def test_a_file_of_providers_that_can_not_be_read_stops_every_start(
    desk: Desk, content: str | None, said: str
) -> None:
    if content is None:
        desk.paths.providers_file.mkdir()
    else:
        desk.paths.providers_file.write_text(content, encoding="utf-8")

    assert said in desk.refusal("")


def test_tool_servers_of_the_settings_are_checked(desk: Desk) -> None:
    desk.settings = Settings(agent=AgentSettings(mcp_servers={"a": {"cmd": "x"}}))

    assert "The setting agent.mcp_servers.a.cmd is not known here." in desk.refusal("")


# Source: the table "Edge cases" of seed 004, its rows on definitions and places.
@pytest.mark.parametrize(
    ("row", "text", "said"),
    [
        ("Command cannot be parsed", 'provider: acp\ncommand: "x \'y"', "a command as for a shell"),
        ("Additional dir is relative", "additional_dirs: [{name: a, path: b}]", "an absolute path"),
        ("Additional dir is missing", "additional_dirs: [{name: a, path: /none/such}]", "is not there"),
    ],
)
def test_edge_cases_of_a_launch_that_fail_before_it(desk: Desk, row: str, text: str, said: str) -> None:
    assert said in desk.refusal(f"---\n{text}\n---\n"), row


def test_a_provider_may_leave_the_model_open(desk: Desk) -> None:
    desk.write("---\nprovider: acp\ncommand: mine\n---\n")

    assert definition_now(desk.paths, desk.settings, GROUP, has_walls=True).model is None


def test_an_allowed_directory_is_mounted_by_where_its_links_lead(desk: Desk) -> None:
    (desk.root / "photos").mkdir()
    (desk.root / "link").symlink_to(desk.root / "photos")
    desk.allow(f'[[roots]]\npath = "{desk.root}/photos"\n')

    found = desk.extras(f"additional_dirs: [{{name: p, path: {desk.root}/link}}]")

    assert found == (ExtraDirectory(name="p", path=desk.root / "photos"),)


def test_the_workspace_itself_is_passed_over_and_a_double_dropped(desk: Desk) -> None:
    (desk.root / "photos").mkdir()
    desk.allow(f'[[roots]]\npath = "{desk.root}/photos"\n')
    workspace = desk.paths.groups / "family" / "workspace"
    lines = [f"  - {{name: a, path: {workspace}}}"]
    lines += [f"  - {{name: {name}, path: {desk.root}/photos}}" for name in ("b", "c")]

    assert [each.name for each in desk.extras("additional_dirs:\n" + "\n".join(lines))] == ["b"]


def test_without_a_list_or_with_a_broken_one_only_groups_that_want_directories_suffer(desk: Desk) -> None:
    (desk.root / "photos").mkdir()
    wish = f"---\nadditional_dirs: [{{name: a, path: {desk.root}/photos}}]\n---\n"

    assert "is not below any root" in desk.refusal(wish)
    desk.allow(f'roots = ["{desk.root}/photos"]')
    assert "mounts.toml has the field roots[0]" in desk.refusal(wish)
    assert desk.extras("name: x") == ()


async def test_a_check_shows_all_but_the_credential(desk: Desk) -> None:
    desk.write("---\nprovider: claude\nenv: {MY_TOKEN: x}\n---\nHello")
    ref = "secret:providers/claude/api_key"

    view = await check_agent(desk.paths, desk.settings, OneSecret(ref), GROUP, has_walls=True)

    assert view.is_well
    assert [(slot.name, slot.state) for slot in view.credentials] == [("api_key", "set")]
    assert (view.fields["provider"], view.fields["env"]) == ("claude", ["MY_TOKEN"])
    assert [each.is_fatal for each in view.troubles] == [False]
    assert "MY_TOKEN" in view.troubles[0].what
    assert "canary" not in repr(view)


async def test_a_check_names_a_missing_credential_and_the_command_that_sets_it(desk: Desk) -> None:
    desk.write("---\nprovider: claude\n---\n")

    view = await check_agent(desk.paths, desk.settings, OneSecret(), GROUP, has_walls=True)

    assert not view.is_well
    assert view.troubles[0].mend == "Set it: dovecote secret set providers/claude/api_key"


@pytest.mark.parametrize(
    ("reference", "mend"),
    [
        ("secret:providers/github/bot", "Set it: dovecote secret set providers/github/bot"),
        ("env:FORGE", "Start Dovecote with the variable FORGE in its environment."),
    ],
)
async def test_a_check_looks_for_the_token_for_github(desk: Desk, reference: str, mend: str) -> None:
    desk.write(f"---\nprovider: builtin\ngithub_token: {reference}\n---\n")

    missing = await check_agent(desk.paths, desk.settings, OneSecret(), GROUP, has_walls=True)
    found = await check_agent(desk.paths, desk.settings, OneSecret(reference), GROUP, has_walls=True)

    assert (missing.is_well, [each.mend for each in missing.troubles]) == (False, [mend])
    assert "github_token of AGENT.md is not set" in missing.troubles[0].what
    assert (found.is_well, found.troubles) == (True, ())
    states = [(each.name, each.state) for view in (missing, found) for each in view.credentials]
    assert states == [("github_token", "missing"), ("github_token", "set")]


async def test_a_check_says_that_a_tool_server_can_not_be_reached(desk: Desk) -> None:
    servers = "mcp_servers: {a: {url: 'https://a.org/x'}, b: {url: 'https://b.org'}}"
    desk.write(f"---\nprovider: acp\ncommand: mine\n{servers}\negress: ['b.org:443']\n---\n")

    view = await check_agent(desk.paths, desk.settings, OneSecret(), GROUP, has_walls=True)

    assert (view.is_well, [each.mend for each in view.troubles]) == (
        True,
        ["Add its host to egress: a.org:443"],
    )


@pytest.mark.parametrize(
    ("front", "unused"),
    [
        ("mcp_servers: {notes: {command: x}}", ["these stay unused: notes."]),
        ("provider: acp\ncommand: mine\nmcp_servers: {notes: {command: x}}", []),
        ("locale: de", []),
    ],
    ids=["of an agent without a model", "of one with a model", "only those of all agents"],
)
async def test_a_check_doubts_tool_servers_that_the_agent_does_not_use(
    desk: Desk, front: str, unused: list[str]
) -> None:
    desk.write(f"---\n{front}\n---\n")
    settings = Settings(agent=AgentSettings(mcp_servers={"shared": {"command": "x"}}))

    view = await check_agent(desk.paths, settings, OneSecret(), GROUP, has_walls=True)

    assert view.is_well
    assert [each.what.partition(", so ")[2] for each in view.troubles] == unused


async def test_a_model_without_walls_is_told_before_it_is_tried(desk: Desk) -> None:
    desk.write("---\nprovider: acp\ncommand: mine\n---\n")
    consent = Settings(agent=AgentSettings(allow_unisolated=True))

    bare = await check_agent(desk.paths, desk.settings, OneSecret(), GROUP, has_walls=False)
    allowed = await check_agent(desk.paths, consent, OneSecret(), GROUP, has_walls=False)

    assert (bare.is_well, allowed.is_well) == (False, True)
    assert "no walls" in bare.troubles[0].what


async def test_a_check_of_a_broken_file_says_what_mends_it(desk: Desk) -> None:
    desk.write("---\nmax_turns: 0\n---\n")

    view = await check_agent(desk.paths, desk.settings, OneSecret(), GROUP, has_walls=True)

    assert (view.is_well, view.fields) == (False, {})
    assert "max_turns" in view.troubles[0].what


async def test_the_list_of_providers_has_the_broken_ones_too(desk: Desk) -> None:
    desk.paths.providers_file.write_text('[mine]\ndriver = "gpt"\n', encoding="utf-8")

    views = {view.name: view for view in await list_providers(desk.paths, desk.settings, OneSecret())}

    assert views["claude"].base_url == "https://api.anthropic.com"
    assert "'builtin', 'claude', 'acp' or 'script'" in (views["mine"].trouble or "")
