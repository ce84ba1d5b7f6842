"""Providers as data: what is shipped, what a home adds, and what is said of a wrong one."""

from dataclasses import replace

import pytest

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.records.providers import (
    ApiCall,
    AuthMode,
    EnvPolicy,
    HomePolicy,
    Permissions,
    Provider,
    WireFormat,
)
from orchestrator.core.agents.provider_file import (
    ProviderLayer,
    Providers,
    merge_providers,
    parse_provider_file,
)
from orchestrator.shipped import shipped_providers

SHIPPED = parse_provider_file(shipped_providers(), where="shipped", is_operators=False)


def merged(*tomls: str) -> Providers:
    """The shipped providers with these layers of an operator over them."""
    layers = [parse_provider_file(text, where=f"layer {n}") for n, text in enumerate(tomls, start=1)]
    return merge_providers([SHIPPED, *layers])


def refusal(*tomls: str, name: str = "mine") -> str:
    """What is said of a provider that can't be used."""
    with pytest.raises(InvalidSettings) as refused:
        merged(*tomls).named(name)
    return str(refused.value)


def test_what_is_shipped_is_whole_and_sound() -> None:
    found = merge_providers([SHIPPED])

    assert found.troubles == {}
    assert set(found.known) == {
        "builtin", "script", "claude", "claude-code", "codex", "gemini", "opencode", "pi", "acp",
        "anthropic-compatible", "openai-compatible",
    }  # fmt: skip
    for provider in found.known.values():
        assert provider.api is None or provider.api.base.startswith("https://")
        assert provider.api is None or not provider.api.is_named_by_operator
        assert provider.home_policy is HomePolicy.ISOLATED


@pytest.mark.parametrize(
    ("name", "driver", "wire", "header", "slot"),
    [
        ("claude", "claude", WireFormat.ANTHROPIC, "x-api-key", "ANTHROPIC_API_KEY"),
        ("claude-code", "acp", WireFormat.ANTHROPIC, "x-api-key", "ANTHROPIC_API_KEY"),
        ("pi", "acp", WireFormat.ANTHROPIC, "x-api-key", "DOVECOTE_PROVIDER_KEY"),
        ("codex", "acp", WireFormat.OPENAI_RESPONSES, "authorization", "DOVECOTE_PROVIDER_KEY"),
        ("gemini", "acp", WireFormat.GEMINI, "x-goog-api-key", "GEMINI_API_KEY"),
        ("opencode", "acp", WireFormat.OPENAI_CHAT, "authorization", "DOVECOTE_PROVIDER_KEY"),
    ],
)
def test_each_shipped_model_has_a_driver_a_wire_and_a_required_credential(
    name: str, driver: str, wire: WireFormat, header: str, slot: str
) -> None:
    provider = merge_providers([SHIPPED]).named(name)

    assert provider.driver == driver
    assert provider.api is not None
    assert (provider.api.wire, provider.api.auth_header) == (wire, header)
    assert (provider.auth_mode, provider.env_policy) == (AuthMode.BOUND_SECRET, EnvPolicy.FILTERED)
    assert [(each.target_env, each.secret_ref, each.is_required) for each in provider.slots] == [
        (slot, f"secret:providers/{name}/api_key", True)
    ]
    assert provider.model is not None


def test_agents_may_send_count_and_list_and_nothing_else() -> None:
    methods = {
        (call.method, call.path)
        for provider in merge_providers([SHIPPED]).known.values()
        if provider.api is not None
        for call in provider.api.calls
    }

    assert methods == {
        ("POST", "/v1/messages"), ("POST", "/v1/messages/count_tokens"), ("GET", "/v1/models"),
        ("GET", "/v1/models/*"), ("POST", "/chat/completions"), ("POST", "/responses"), ("GET", "/models"),
        ("GET", "/models/*"), ("POST", "/v1beta/models/*:generateContent"),
        ("POST", "/v1beta/models/*:streamGenerateContent"), ("POST", "/v1beta/models/*:countTokens"),
        ("GET", "/v1beta/models"), ("GET", "/v1beta/models/*"),
    }  # fmt: skip


def test_one_line_names_another_upstream_and_only_then_may_it_be_this_machine() -> None:
    before = merge_providers([SHIPPED]).named("claude")
    after = merged('claude.base_url = "http://127.0.0.1:8080/"').named("claude")

    assert before.api is not None
    assert after.api is not None
    assert after == replace(
        before, api=replace(before.api, base="http://127.0.0.1:8080", is_named_by_operator=True)
    )


def test_a_later_layer_adds_to_variables_and_replaces_the_rest() -> None:
    home = '[claude]\nmodel = "a"\n[claude.environment]\nEXTRA = "1"\nDISABLE_TELEMETRY = "0"'
    provider = merged(home, 'claude.model = "b"').named("claude")

    assert provider.model == "b"
    assert provider.environment["EXTRA"] == "1"
    assert provider.environment["DISABLE_TELEMETRY"] == "0"
    assert provider.environment["DISABLE_AUTOUPDATER"] == "1"


def test_j13_a_provider_of_ones_own_extends_another() -> None:
    text = '[local]\nextends = "openai-compatible"\nbase_url = "http://127.0.0.1:11434/v1"\nmodel = "qwen3"'
    provider = merged(text).named("local")

    assert (provider.name, provider.command, provider.model) == ("local", "opencode acp", "qwen3")
    assert provider.api is not None
    assert provider.api.is_named_by_operator
    assert provider.slots[0].secret_ref == "secret:providers/local/api_key"
    assert not provider.slots[0].is_required


def test_j13_a_whole_provider_can_be_written_out() -> None:
    text = """
[mine]
driver = "acp"
command = "mine --acp"
auth_mode = "bound_secret"
env_policy = "isolated"
slots = [{ name = "key", target_env = "MINE_KEY", secret_ref = "env:MY_KEY", required = false }]
base_url = "https://models.example.org/api"
wire = "openai-chat"
calls = ["POST /chat/completions"]
auth_header = "X-Token"
auth_scheme = ""
stop_wait_s = 1
[mine.modes]
approve-all = ["yolo"]
[mine.mcp_servers.notes]
command = "notes"
"""
    provider = merged(text).named("mine")

    assert provider == Provider(
        name="mine",
        driver="acp",
        command="mine --acp",
        auth_mode=AuthMode.BOUND_SECRET,
        env_policy=EnvPolicy.ISOLATED,
        slots=provider.slots,
        api=provider.api,
        modes={Permissions.APPROVE_ALL: ("yolo",)},
        stop_wait_s=1.0,
        mcp_servers=provider.mcp_servers,
    )
    assert provider.slots[0].secret_ref == "env:MY_KEY"
    assert provider.api is not None
    assert provider.api.calls == (ApiCall(method="POST", path="/chat/completions"),)
    assert (provider.api.auth_header, provider.api.auth_scheme) == ("X-Token", "")
    assert [server.command for server in provider.mcp_servers] == [("notes",)]


def test_native_login_has_no_slots_and_says_so_in_one_line() -> None:
    provider = merged('claude.auth_mode = "native_cli"').named("claude")

    assert (provider.auth_mode, provider.slots) == (AuthMode.NATIVE_CLI, ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('mine = "x"', "layer 1: 'mine' is 'x'. Write it as a table: [mine]."),
        ("[mine]", "layer 1: the provider mine has the field driver, which is missing. Add driver."),
        ('[mine]\ndriver = "gpt"', "which is 'gpt'. It must be 'builtin', 'claude', 'acp' or 'script'"),
        (
            '[mine]\ndriver = "acp"\nbase = "x"',
            "has the field base, which is not known here. Did you mean base_url?",
        ),
        ('[mine]\ndriver = "acp"\nauth_mode = "key"', "'bound_secret', 'native_cli' or 'none'"),
        ('[mine]\ndriver = "acp"\nauth_mode = "bound_secret"', "is bound_secret and has no slots"),
        (
            '[mine]\ndriver = "acp"\nauth_mode = "bound_secret"\nslots = [{name = "k", target_env = "K"}]',
            "is bound_secret and has no wire",
        ),
        ('[mine]\ndriver = "acp"\nslots = [{name = "k", target_env = "K"}]', "is none and has slots"),
        ('[mine]\ndriver = "acp"\nbase_url = "https://x"', "has a base_url and no wire"),
        (
            '[mine]\ndriver = "acp"\nwire = "soap"',
            "'anthropic', 'openai-chat', 'openai-responses' or 'gemini'",
        ),
        ('[mine]\ndriver = "acp"\nbase_url = "ftp://x"', "It must be https://host[:port][/path]"),
        ('[mine]\ndriver = "acp"\ncalls = ["DELETE /v1/files"]', "GET or POST and a path"),
        ('[mine]\ndriver = "acp"\nfiles = {"../x" = ""}', "a path relative to the home"),
        ('[mine]\ndriver = "acp"\nenvironment = {LD_PRELOAD = ""}', "without LD_PRELOAD"),
        ('[mine]\ndriver = "acp"\nextends = "nobody"', "It must be another provider: acp, "),
        ('[mine]\nextends = "cluade"', "Did you mean claude? It must be another provider: acp, "),
        (
            '[mine]\ndriver = "acp"\nauth_mode = "bound_secret"\nbase_url = "https://x"',
            "has no slots. Add slots, or set auth_mode.\nlayer 1: the provider mine is bound_secret and has ",
        ),
        ('[mine]\nextends = "mine"', "has the field extends, which is 'mine'"),
        ('[a]\nextends = "mine"\n[mine]\nextends = "a"', "has the field extends"),
        ('[mine]\ndriver = "acp"\nmodes = {yes = ["x"]}', "'deny-all', 'approve-reads' or 'approve-all'"),
        (
            '[mine]\ndriver = "acp"\nslots = [{name = "k", target_env = "K", secret_ref = "vault:x"}]',
            "slots[0].secret_ref",
        ),
    ],
)
def test_a_wrong_provider_is_named_with_its_file_its_field_and_what_it_may_be(text: str, said: str) -> None:
    assert said in refusal(text)


def test_one_broken_provider_spoils_no_other() -> None:
    found = merged('[mine]\ndriver = "gpt"\n[yours]\ndriver = "builtin"')

    assert found.named("yours").driver == "builtin"
    assert list(found.troubles) == ["mine"]


def test_of_a_provider_that_is_nearly_known_the_one_meant_is_named_first() -> None:
    assert "Did you mean claude? Else use one of: " in refusal(name="cluade")


def test_an_unknown_provider_is_answered_by_those_there_are() -> None:
    said = refusal(name="gpt")

    assert "There is no provider 'gpt'." in said
    assert "anthropic-compatible, builtin, claude" in said


def test_a_file_that_is_no_toml_is_named() -> None:
    with pytest.raises(InvalidSettings, match=r"^layer is not TOML: .*line 1"):
        parse_provider_file("mine = = 1", where="layer")


def test_a_shipped_upstream_never_goes_without_tls() -> None:
    layer = ProviderLayer(
        where="shipped",
        tables={"x": {"driver": "acp", "wire": "openai-chat", "base_url": "http://x.org"}},
        is_operators=False,
    )

    assert "without TLS" in str(merge_providers([layer]).troubles["x"])
