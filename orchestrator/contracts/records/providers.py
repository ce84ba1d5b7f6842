"""Who supplies a model or an agent program: one value a provider, read from `providers.toml`.

Source: agents.md section 4.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.tool_servers import McpServer

ENV_REFERENCE: Final = "env:"
"""A secret reference that names a variable of the orchestrator's own environment: `env:NAME`."""
SECRET_REFERENCE: Final = "secret:"
"""A secret reference that names an entry of the secret store: `secret:providers/<provider>/<slot>`."""


class AuthMode(StrEnum):
    """How a provider's program proves who pays.

    BOUND_SECRET: a credential of the operator's, added by the egress proxy. NATIVE_CLI: the program's own
    login in its session home. NONE: no credential at all.
    """

    BOUND_SECRET = "bound_secret"
    NATIVE_CLI = "native_cli"
    NONE = "none"


class EnvPolicy(StrEnum):
    """Which of the orchestrator's own variables an agent without walls inherits."""

    FILTERED = "filtered"
    ISOLATED = "isolated"


class HomePolicy(StrEnum):
    """Where a program's settings and sessions live. OPERATOR: only without walls and with consent."""

    ISOLATED = "isolated"
    OPERATOR = "operator"


class Permissions(StrEnum):
    """What an agent's program may do unasked."""

    DENY_ALL = "deny-all"
    APPROVE_READS = "approve-reads"
    APPROVE_ALL = "approve-all"


class WireFormat(StrEnum):
    """How a provider's API talks; the egress proxy reads usage and refuses bodies by it."""

    ANTHROPIC = "anthropic"
    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    GEMINI = "gemini"


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialSlot:
    """One credential of a provider. target_env: the variable its program reads; in a container it holds a
    placeholder. secret_ref: `env:NAME` or `secret:providers/<provider>/<slot>`."""

    name: str
    target_env: str
    secret_ref: str
    is_required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """A call that agents may make. path: below the upstream's base; `*` stands for one segment's part."""

    method: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens of one model; model: a name, or its beginning and `*`."""

    model: str
    input_usd: float
    output_usd: float
    cache_read_usd: float | None = None
    cache_write_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderApi:
    """The one place a provider's agents may reach through the proxy.

    base: `https://host[:port][/path]`; `http` only where the operator names it. calls: all that is let
    through. auth_header, auth_scheme: how the credential is written, such as `x-api-key` and "", or
    `authorization` and `Bearer`. is_named_by_operator: it may be a private address or this machine.
    """

    base: str
    wire: WireFormat
    calls: tuple[ApiCall, ...]
    auth_header: str = "authorization"
    auth_scheme: str = "Bearer"
    is_named_by_operator: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """What the host knows of one provider.

    driver: `builtin` | `claude` | `acp` | `script`. harness: what the driver does beside its protocol, such
    as `pi_acp`; None: nothing. command: of an ACP program, split like a shell's, run
    without one. login: the command of its program's own login, for `native_cli`. program: what
    `dovecote image build --with` calls it; None: nothing is to be installed.
    environment, files: for its program; files are laid read-only over the session home, by path relative
    to it. In both `{base_url}`, `{home}`, `{workspace}`, `{model}` and `{placeholder}` are filled in.
    modes: session modes to try, by permission, before the table that all share. mode_option: the config
    option that stands for a mode where the program has no modes. stop_wait_s: how long it may take to end
    by itself once its standard input is closed. memory_bytes: what it needs at least.
    """

    name: str
    driver: str
    harness: str | None = None
    command: str = ""
    login: str = ""
    program: str | None = None
    model: str | None = None
    auth_mode: AuthMode = AuthMode.NONE
    env_policy: EnvPolicy = EnvPolicy.FILTERED
    home_policy: HomePolicy = HomePolicy.ISOLATED
    slots: tuple[CredentialSlot, ...] = ()
    api: ProviderApi | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[Permissions, tuple[str, ...]] = field(default_factory=dict)
    mode_option: str | None = None
    offers_files: bool = True
    stop_wait_s: float = 5.0
    memory_bytes: int | None = None
    prices: tuple[Price, ...] = ()
    mcp_servers: tuple[McpServer, ...] = ()
