"""A group's definition: its own file over that of all groups, over its provider, over the settings."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.agents import ALL_PERMISSIONS
from orchestrator.contracts.records.definitions import Budget, Definition, ExtraDirectory, HostPort
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.providers import Permissions
from orchestrator.contracts.records.tool_servers import McpServer
from orchestrator.core.agents.agent_file import parse_agent_file
from orchestrator.core.agents.definition import Defaults, resolve_definition
from orchestrator.core.agents.provider_file import merge_providers, parse_provider_file
from orchestrator.core.agents.rights import permissions_of_root
from orchestrator.shipped import shipped_providers

GROUP = Group(
    folder=GroupFolder("family"),
    jid=Jid("1@g.us"),
    name="Family",
    trigger="@Andy",
    assistant_name="Andy",
    added_at=datetime(2026, 1, 1, tzinfo=UTC),
    number=1,
)
DEFAULTS = Defaults(
    provider="builtin", permissions=Permissions.APPROVE_READS, toolsets=("chat", "tasks"), timezone="UTC"
)


def resolve(
    own: str = "",
    shared: str = "",
    *,
    providers: str = "",
    defaults: Defaults = DEFAULTS,
    extras: tuple[ExtraDirectory, ...] = (),
) -> Definition:
    """The definition that these front matters make; providers: a layer over the shipped ones."""
    layers = [
        parse_provider_file(shipped_providers(), where="shipped", is_operators=False),
        parse_provider_file(providers, where="providers.toml"),
    ]
    return resolve_definition(
        group=GROUP,
        shared=parse_agent_file(f"---\n{shared}\n---\nFor all.", where="groups/global/AGENT.md"),
        own=parse_agent_file(f"---\n{own}\n---\nFor us.", where="groups/family/AGENT.md"),
        providers=merge_providers(layers),
        extras=extras,
        defaults=defaults,
    )


def refusal(own: str = "", shared: str = "", **more: object) -> str:
    """What is said of a definition that can't be resolved."""
    with pytest.raises(InvalidSettings) as refused:
        resolve(own, shared, **more)  # type: ignore[arg-type]  # plain values by name
    assert refused.value.suggestion
    return str(refused.value)


def test_without_a_word_it_is_what_the_settings_say() -> None:
    found = resolve()

    assert (found.provider.name, found.name, found.model) == ("builtin", "Andy", None)
    assert (found.permissions, found.tools) == (Permissions.APPROVE_READS, ("chat", "tasks"))
    assert (found.budget, found.egress, found.mcp_servers) == (Budget(), (), ())
    assert found.instructions.endswith("For all.\n\nFor us.")


def test_the_groups_own_word_counts_over_that_for_all_groups() -> None:
    shared = "provider: claude\nmodel: a\npermissions: deny-all\nmax_turns: 3\nbudget: {tokens_per_day: 9}"
    own = "model: b\npermissions: approve-all\nbudget: {usd_per_month: 2}"

    found = resolve(own, shared)

    assert (found.provider.name, found.model, found.permissions) == ("claude", "b", Permissions.APPROVE_ALL)
    assert (found.max_turns, found.budget) == (3, Budget(tokens_per_day=9, usd_per_month=2.0))


def test_variables_and_tool_servers_add_up_and_the_nearest_of_one_name_counts() -> None:
    settings = (McpServer(name="a", command=("settings",)), McpServer(name="b", command=("settings",)))
    providers = '[claude.mcp_servers]\nb = {command = "provider"}\nc = {command = "provider"}'
    own = "provider: claude\nmcp_servers: {d: {command: own}}\nenv: {X: own}"
    shared = "mcp_servers: {c: {command: all}, d: {command: all}}\nenv: {X: all, Y: all}"

    found = resolve(own, shared, providers=providers, defaults=replace(DEFAULTS, mcp_servers=settings))

    assert {each.name: each.command[0] for each in found.mcp_servers} == {
        "a": "settings", "b": "provider", "c": "all", "d": "own",
    }  # fmt: skip
    assert found.environment == {"X": "own", "Y": "all"}


def test_egress_is_hosts_and_the_leave_to_ask_the_provider() -> None:
    found = resolve("egress: ['a.example:443', provider-tools]", "egress: ['other.org:443']")

    assert (found.egress, found.allows_provider_tools) == ((HostPort(host="a.example", port=443),), True)
    assert not resolve("egress: []", "egress: [provider-tools]").allows_provider_tools


def test_a_program_that_logs_in_by_itself_reaches_its_provider_by_itself() -> None:
    found = resolve("provider: claude", providers='claude.auth_mode = "native_cli"')

    assert found.egress == (HostPort(host="api.anthropic.com", port=443),)


def test_the_command_is_the_definitions_else_the_providers() -> None:
    assert resolve("provider: gemini").command == "gemini --acp"
    assert resolve("provider: acp\ncommand: mine --acp").command == "mine --acp"


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (
            "provider: gpt",
            "groups/family/AGENT.md line 2 has the field provider, which is 'gpt'. Use one of: acp, ",
        ),
        ("provider: acp", "line 2 has the provider acp, which needs the command of a program"),
        ("\nprovider: claude\ncommand: x", "line 4 has a command, but the provider claude runs none"),
        ("provider: openai-compatible\nmodel: m", "openai-compatible needs to know where its model is"),
        ("tools: [groups]", "line 2 has the tools groups, which this group may not use"),
    ],
)
def test_what_does_not_go_together_is_refused_with_its_line(own: str, said: str) -> None:
    assert said in refusal(own)


def test_a_model_that_the_recipe_needs_has_to_be_named() -> None:
    upstream = 'openai-compatible.base_url = "http://127.0.0.1:11434/v1"'

    assert "needs the name of a model" in refusal("provider: openai-compatible", providers=upstream)
    assert resolve("provider: openai-compatible\nmodel: qwen3", providers=upstream).model == "qwen3"


def test_a_broken_provider_is_told_by_its_own_file() -> None:
    assert "providers.toml: the provider claude has the field driver" in refusal(
        "provider: claude", providers='claude.driver = "gpt"'
    )


def test_a_provider_that_the_settings_name_wrongly_is_refused_too() -> None:
    assert "There is no provider 'gpt'." in refusal(defaults=replace(DEFAULTS, provider="gpt"))


def test_the_operators_home_needs_no_walls_and_consent() -> None:
    text = 'claude.home_policy = "operator"'
    bare = replace(DEFAULTS, has_walls=False)

    assert "home_policy operator" in refusal("provider: claude", providers=text)
    assert "home_policy operator" in refusal("provider: claude", providers=text, defaults=bare)
    consent = replace(bare, allows_unisolated=True)
    assert resolve("provider: claude", providers=text, defaults=consent).provider.name == "claude"


def test_the_groups_that_may_register_are_offered_that_tool() -> None:
    more = replace(DEFAULTS, toolsets=("chat", "tasks", "groups"))

    assert resolve(defaults=more).tools == ("chat", "tasks", "groups")
    assert resolve("tools: [groups]", defaults=more).tools == ("groups",)
    assert resolve("tools: []").tools == ()


def test_spawn_is_offered_where_a_file_asks_for_it_and_nowhere_else() -> None:
    may = replace(DEFAULTS, more_toolsets=("spawn",))

    assert resolve(defaults=may).tools == ("chat", "tasks")
    assert resolve("tools: [chat, spawn]", defaults=may).tools == ("chat", "spawn")


def test_additional_directories_are_told_to_the_agent() -> None:
    found = resolve(extras=(ExtraDirectory(name="photos", path=Path("/srv/photos")),))

    assert "/workspace/extra/photos, to read." in found.instructions
    assert "/srv/photos" not in found.instructions


def test_a_github_token_is_the_groups_own_else_that_for_all() -> None:
    shared = "github_token: secret:providers/github/all"

    found = resolve("github_token: env:FORGE", shared).github
    for_all = resolve("", shared).github

    assert found is not None
    assert for_all is not None
    assert (found.secret_ref, for_all.secret_ref) == ("env:FORGE", "secret:providers/github/all")
    assert found.is_required
    assert resolve().github is None


def test_a_github_token_itself_has_no_place_in_the_file() -> None:
    said = refusal("github_token: ghp_0123456789")

    assert "github_token" in said
    assert "dovecote secret set" in said
    assert "ghp_" not in said, "what is refused goes into chats and logs"


def test_a_refused_value_of_a_tool_servers_environment_is_not_shown() -> None:
    long = "sk-" + "7" * 9_000
    said = refusal(f"mcp_servers: {{web: {{command: server, env: {{KEY: {long}}}}}}}")

    assert "mcp_servers.web.env.KEY" in said
    assert "sk-" not in said


def test_a_groups_agent_may_hand_down_a_github_token_only_if_it_has_one() -> None:
    slot = resolve("github_token: env:FORGE")

    assert permissions_of_root(slot) == ALL_PERMISSIONS
    assert permissions_of_root(resolve()) == replace(ALL_PERMISSIONS, inherit_github_token=False)
    assert permissions_of_root(None) == replace(ALL_PERMISSIONS, inherit_github_token=False)
