"""What may stand in a provider's table, with what its wire format says where the table does not."""

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from orchestrator.contracts.records.providers import ApiCall, WireFormat
from orchestrator.core.agents.forms import (
    Command,
    Form,
    McpServers,
    ModelName,
    Plain,
    ProviderName,
    SecretReference,
    VariableName,
    Variables,
    WebAddress,
)

CALLS: Final[Mapping[WireFormat, tuple[str, ...]]] = {
    WireFormat.ANTHROPIC: (
        "POST /v1/messages",
        "POST /v1/messages/count_tokens",
        "GET /v1/models",
        "GET /v1/models/*",
    ),
    WireFormat.OPENAI_CHAT: ("POST /chat/completions", "GET /models", "GET /models/*"),
    WireFormat.OPENAI_RESPONSES: ("POST /responses", "GET /models", "GET /models/*"),
    WireFormat.GEMINI: (
        "POST /v1beta/models/*:generateContent",
        "POST /v1beta/models/*:streamGenerateContent",
        "POST /v1beta/models/*:countTokens",
        "GET /v1beta/models",
        "GET /v1beta/models/*",
    ),
}
"""Sending messages, counting tokens, listing models: all that agents may do at a provider."""
KEY_HEADERS: Final[Mapping[WireFormat, tuple[str, str]]] = {
    WireFormat.ANTHROPIC: ("x-api-key", ""),
    WireFormat.OPENAI_CHAT: ("authorization", "Bearer"),
    WireFormat.OPENAI_RESPONSES: ("authorization", "Bearer"),
    WireFormat.GEMINI: ("x-goog-api-key", ""),
}
"""Where a credential is written, and the word before it."""
_CALL: Final = re.compile(r"(GET|POST) (/[A-Za-z0-9._~*:@-]+)+")
_MAX_FILE_CHARS: Final = 64 * 1024


def api_call(text: str) -> ApiCall:
    """The call that `POST /path` names."""
    method, _, path = text.partition(" ")
    return ApiCall(method=method, path=path)


def _known_call(text: str) -> str:
    if not _CALL.fullmatch(text) or ".." in text:
        raise ValueError("GET or POST and a path, such as POST /v1/messages")
    return text


def _below_home(path: str) -> str:
    parts = path.split("/")
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        raise ValueError("a path relative to the home, such as .codex/config.toml")
    return path


class SlotForm(Form):
    """A credential. secret_ref: without it `secret:providers/<provider>/<name>`."""

    name: ProviderName
    target_env: VariableName
    secret_ref: SecretReference | None = None
    required: bool = True


class PriceForm(Form):
    """US dollars for a million tokens."""

    model: Annotated[str, Field(pattern=r"^[A-Za-z0-9._:/@-]{1,127}\*?$")]
    input_usd: Annotated[float, Field(ge=0)]
    output_usd: Annotated[float, Field(ge=0)]
    cache_read_usd: Annotated[float, Field(ge=0)] | None = None
    cache_write_usd: Annotated[float, Field(ge=0)] | None = None


HomePath = Annotated[str, Field(max_length=512), AfterValidator(_below_home)]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,63}$")]
ModeName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
PermissionName = Literal["deny-all", "approve-reads", "approve-all"]


class ProviderForm(Form):
    """A provider's table; as the record `Provider`, with the upstream's fields beside the others."""

    driver: Literal["builtin", "claude", "acp", "script"]
    harness: Literal["pi_acp"] | None = None
    command: Command | Literal[""] = ""
    login: Command | Literal[""] = ""
    program: ProviderName | None = None
    model: ModelName | None = None
    auth_mode: Literal["bound_secret", "native_cli", "none"] = "none"
    env_policy: Literal["filtered", "isolated"] = "filtered"
    home_policy: Literal["isolated", "operator"] = "isolated"
    slots: Annotated[list[SlotForm], Field(max_length=8)] = Field(default_factory=list)
    base_url: WebAddress | None = None
    wire: Literal["anthropic", "openai-chat", "openai-responses", "gemini"] | None = None
    calls: Annotated[list[Annotated[str, AfterValidator(_known_call)]], Field(max_length=64)] | None = None
    auth_header: HeaderName | None = None
    auth_scheme: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{0,32}$")] | None = None
    environment: Variables = Field(default_factory=dict)
    files: Mapping[HomePath, Annotated[Plain, Field(max_length=_MAX_FILE_CHARS)]] = Field(
        default_factory=dict
    )
    modes: Mapping[PermissionName, list[ModeName]] = Field(default_factory=dict)
    mode_option: ModeName | None = None
    offers_files: bool = True
    stop_wait_s: Annotated[float, Field(ge=0, le=30)] = 5.0
    memory_bytes: Annotated[int, Field(ge=64 * 1024**2, le=1024**4)] | None = None
    prices: Annotated[list[PriceForm], Field(max_length=256)] = Field(default_factory=list)
    mcp_servers: McpServers = Field(default_factory=dict)
