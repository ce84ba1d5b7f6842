"""The environment of an agent: what is inherited, what is ours, what its provider's recipe says."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.records.egress import Secret
from orchestrator.contracts.records.launch import AGENTS_TARGET
from orchestrator.contracts.records.providers import (
    AuthMode,
    CredentialSlot,
    EnvPolicy,
    HomePolicy,
    Permissions,
    Provider,
)
from orchestrator.core.agents.environment import (
    PLACEHOLDER,
    SEARCH_PATH,
    ProgramRun,
    build_environment,
    inherited,
    inherited_by,
    path_with,
)
from orchestrator.core.agents.recipes import Recipe, filled, home_directories

# The list of agents.md section 4, written out once more on purpose.
SECRET_NAMES = [
    "OPENAI_API_KEY", "my_apikey_x", "AWS_ACCESS_KEY_ID", "SSH_PRIVATE_KEY_FILE", "GITHUB_TOKEN", "TOKENS",
    "CLIENT_SECRET", "DB_PASSWORD", "PGPASSWD", "GOOGLE_CREDENTIALS", "SSH_AUTH_SOCK", "GIT_AUTHOR_NAME",
    "COOKIE_JAR", "XDG_SESSION_ID", "DBUS_SESSION_BUS_ADDRESS", "SIGNING_KEY", "signing_key",
]  # fmt: skip
PLAIN_NAMES = ["EDITOR", "OPENAI_BASE_URL", "KEYBOARD", "KEY", "MONKEY_BUSINESS", "JAVA_HOME"]
ISOLATED = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP", "LANG", "LC_ALL", "LC_CTYPE", "TERM",
    "COLORTERM", "NO_COLOR", "FORCE_COLOR", "XDG_CONFIG_HOME",
]  # fmt: skip
RUN = ProgramRun(agent_id=AgentId("agent-1"), tree_id=TreeId("tree-1"), egress_port=18_080)
RECIPE = Recipe(
    base_url="http://127.0.0.1:18080",
    home="/home/agent",
    workspace="/workspace/group",
    model="m-1",
    placeholder=PLACEHOLDER,
)


def definition(**fields: object) -> Definition:
    """An agent of a provider with one credential; fields are the provider's."""
    plain: dict[str, object] = {
        "name": "lab",
        "driver": "acp",
        "auth_mode": AuthMode.BOUND_SECRET,
        "slots": (CredentialSlot(name="k", target_env="LAB_KEY", secret_ref="env:K"),),
        "environment": {"LAB_URL": "{base_url}/x", "LAB_HOME": "{home}/.lab", "LAB_MODEL": "{model}"},
    }
    return Definition(
        name="scout",
        provider=Provider(**(plain | fields)),  # type: ignore[arg-type]  # plain values by name
        command="x",
        model="m-1",
        permissions=Permissions.DENY_ALL,
        instructions="",
        environment={"COLOUR": "green"},
    )


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_no_policy_hands_down_what_could_be_a_secret(name: str) -> None:
    assert inherited(EnvPolicy.FILTERED, {name: "x"}) == {}
    assert inherited(EnvPolicy.ISOLATED, {name: "x"}) == {}


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_filtered_keeps_the_rest_and_isolated_does_not(name: str) -> None:
    assert inherited(EnvPolicy.FILTERED, {name: "x"}) == {name: "x"}
    assert inherited(EnvPolicy.ISOLATED, {name: "x"}) == {}


@pytest.mark.parametrize("name", ISOLATED)
def test_isolated_keeps_a_short_list(name: str) -> None:
    assert inherited(EnvPolicy.ISOLATED, {name: "x"}) == {name: "x"}


@pytest.mark.parametrize(
    ("value", "is_kept"),
    [
        ("postgres://me:pass@db/x", False),
        ("http://:pass@proxy:3128", False),
        ("http://me@proxy:3128", True),
        ("http://proxy:3128/a:b@c", True),
        ("see http://u:p@h for more", False),
    ],
)
def test_an_address_with_a_password_is_not_handed_down(value: str, is_kept: bool) -> None:
    assert (inherited(EnvPolicy.FILTERED, {"DATABASE_URL": value}) != {}) is is_kept


@pytest.mark.parametrize(
    "name", ["DOVECOTE_PEER_ID", "DOVECOTE_MODEL", "dovecote_home", "DOVECOTE_EGRESS_PORT"]
)
def test_what_an_outer_dovecote_set_is_cleared(name: str) -> None:
    assert inherited(EnvPolicy.FILTERED, {name: "stale"}) == {}


@given(
    st.sampled_from(EnvPolicy),
    st.dictionaries(st.from_regex(r"[A-Za-z_]{1,12}", fullmatch=True), st.text(max_size=10), max_size=8),
)
def test_isolated_is_never_more_than_filtered_and_neither_invents(
    policy: EnvPolicy, ours: dict[str, str]
) -> None:
    kept = inherited(policy, ours)

    assert kept.items() <= ours.items()
    assert inherited(EnvPolicy.ISOLATED, ours).items() <= inherited(EnvPolicy.FILTERED, ours).items()


def test_in_a_container_nothing_is_inherited_and_everything_is_said() -> None:
    assert build_environment(definition(), RUN, RECIPE) == {
        "DOVECOTE_SESSION_ID": "agent-1",
        "DOVECOTE_AGENT": "scout",
        "DOVECOTE_AGENT_NAME": "scout",
        "DOVECOTE_PROVIDER": "lab",
        "DOVECOTE_PROVIDER_HARNESS": "acp",
        "DOVECOTE_PROVIDER_AUTH_MODE": "bound_secret",
        "DOVECOTE_PROVIDER_ENV_POLICY": "filtered",
        "DOVECOTE_PROVIDER_HOME_POLICY": "isolated",
        "DOVECOTE_TREE_ID": "tree-1",
        "DOVECOTE_MODEL": "m-1",
        "HOME": "/home/agent",
        "PROVIDER_HOME": "/home/agent",
        "XDG_CONFIG_HOME": "/home/agent/.config",
        "XDG_DATA_HOME": "/home/agent/.local/share",
        "XDG_STATE_HOME": "/home/agent/.local/state",
        "XDG_CACHE_HOME": "/home/agent/.cache",
        "DOVECOTE_EGRESS_PORT": "18080",
        "DOVECOTE_EGRESS_SOCKET": "/run/dovecote/egress/proxy.sock",
        "DOVECOTE_BASE_URL": "http://127.0.0.1:18080",
        "HTTPS_PROXY": "http://127.0.0.1:18080",
        "https_proxy": "http://127.0.0.1:18080",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "LAB_URL": "http://127.0.0.1:18080/x",
        "LAB_HOME": "/home/agent/.lab",
        "LAB_MODEL": "m-1",
        "COLOUR": "green",
        "LAB_KEY": PLACEHOLDER,
        "PATH": f"{AGENTS_TARGET}/bin:{SEARCH_PATH}",
    }


def test_without_walls_the_policy_comes_first_and_our_words_over_it() -> None:
    run = ProgramRun(
        agent_id=AgentId("agent-1"), tree_id=TreeId("tree-1"), home="/h", our_program="/opt/d/dovecote"
    )
    ours = {"PATH": "/usr/bin:/opt/d:/bin", "HOME": "/root", "PYTHONPATH": "/x", "API_KEY": "x"}

    found = build_environment(definition(), run, RECIPE, ours)

    assert (found["PATH"], found["HOME"]) == (f"{AGENTS_TARGET}/bin:/opt/d:/usr/bin:/bin", "/h")
    assert (found["COLOUR"], found["DOVECOTE_BIN"]) == ("green", "/opt/d/dovecote")
    assert found.keys().isdisjoint({"PYTHONPATH", "API_KEY"})


def test_with_the_operators_home_that_home_stays() -> None:
    found = build_environment(definition(home_policy=HomePolicy.OPERATOR), RUN, RECIPE, {"HOME": "/root"})

    assert found["HOME"] == "/root"
    assert "PROVIDER_HOME" not in found


def test_a_coordination_channel_comes_with_the_name_of_the_peer() -> None:
    run = ProgramRun(agent_id=AgentId("agent-1"), tree_id=TreeId("tree-1"), channel="works")

    found = build_environment(definition(), run, RECIPE)

    assert (found["DOVECOTE_SESSION_CHANNEL"], found["DOVECOTE_PEER_ID"]) == ("works", "scout.agent-1")
    assert "DOVECOTE_PEER_ID" not in build_environment(definition(), RUN, RECIPE)


@pytest.mark.parametrize("mode", [AuthMode.NATIVE_CLI, AuthMode.NONE])
def test_only_a_bound_secret_has_a_placeholder(mode: AuthMode) -> None:
    assert "LAB_KEY" not in build_environment(definition(auth_mode=mode), RUN, RECIPE)


def test_what_names_an_address_that_there_is_not_is_left_out() -> None:
    recipe = Recipe(base_url=None, home="/h", workspace="/w", model=None, placeholder="p")
    templates = {
        "A": "{base_url}",
        "B": "{placeholder}",
        "C": "{home}{workspace}",
        "D": "{model}",
        "E": "{other}",
    }

    assert filled(templates, recipe) == {"C": "/h/w", "E": "{other}"}


@given(st.lists(st.from_regex(r"/[a-z]{1,6}", fullmatch=True), max_size=6), st.sampled_from(["/a", "/bin"]))
def test_our_directory_stands_in_the_path_once_and_first(path: list[str], ours: str) -> None:
    found = path_with(ours, ":".join(path)).split(":")

    assert found == [ours, *(each for each in path if each != ours)]


def test_the_homes_of_a_recipe_are_made_parents_first() -> None:
    found = home_directories(["{home}/.claude", "1", "{home}/.pi/agent"], [".codex/config.toml", "top.json"])

    assert found == (
        ".cache", ".claude", ".codex", ".config", ".local", ".local/share", ".local/state", ".pi",
        ".pi/agent",
    )  # fmt: skip


def test_fp12_an_agent_that_may_start_others_finds_where_and_by_which_file_and_no_token() -> None:
    run = ProgramRun(
        agent_id=AgentId("agent-1"), tree_id=TreeId("tree-1"), egress_port=18_080, may_spawn=True
    )

    found = build_environment(definition(), run, RECIPE)

    assert {name: value for name, value in found.items() if name.startswith("PINOCCHIO_")} == {
        "PINOCCHIO_API_URL": "http://127.0.0.1:18080",
        "PINOCCHIO_SESSION_TOKEN_FILE": "/run/dovecote/token/session",
    }


def test_fp12_an_agent_with_a_github_token_finds_the_file_and_no_token() -> None:
    run = ProgramRun(agent_id=AgentId("agent-1"), tree_id=TreeId("tree-1"), has_github=True)

    found = build_environment(definition(), run, RECIPE)

    assert found["GITHUB_TOKEN_FILE"] == "/run/dovecote/token/github"
    plain = build_environment(definition(), replace(run, has_github=False), RECIPE)
    assert found.keys() - plain.keys() == {"GITHUB_TOKEN_FILE"}


def test_the_variable_that_a_github_token_comes_from_is_not_inherited() -> None:
    slot = CredentialSlot(name="github_token", target_env="GITHUB_TOKEN_FILE", secret_ref="env:FORGE")
    ours = {"FORGE": "ghp-1", "COLOUR": "blue"}

    assert inherited_by(replace(definition(), github=slot), ours) == {"COLOUR": "blue"}


def test_only_where_the_settings_want_it_the_token_itself_is_in_the_environment() -> None:
    shown = ProgramRun(
        agent_id=AgentId("agent-1"),
        tree_id=TreeId("tree-1"),
        egress_port=18_080,
        may_spawn=True,
        session_token=Secret("dvt1.x"),
    )
    plain = ProgramRun(agent_id=AgentId("agent-1"), tree_id=TreeId("tree-1"), egress_port=18_080)

    assert build_environment(definition(), shown, RECIPE)["PINOCCHIO_SESSION_TOKEN"] == "dvt1.x"
    assert not any(name.startswith("PINOCCHIO_") for name in build_environment(definition(), plain, RECIPE))
