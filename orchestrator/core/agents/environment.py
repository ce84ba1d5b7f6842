"""What an agent finds in its environment: places, language, time zone, and what its provider needs.

In a container nothing is inherited. Without walls the provider's policy says what is.
Source: agents.md section 4.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.contracts.ids import AgentId, GroupFolder, Jid, TreeId
from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.records.egress import EGRESS_SOCKET, EGRESS_TARGET, Secret
from orchestrator.contracts.records.launch import (
    AGENTS_TARGET,
    BOX_TARGET,
    GITHUB_FILE,
    GLOBAL_TARGET,
    HOME_TARGET,
    PROGRAMS_TARGET,
    TOKEN_FILE,
    TOKEN_TARGET,
    TOOLS_TARGET,
    WORKSPACE_TARGET,
)
from orchestrator.contracts.records.providers import ENV_REFERENCE, AuthMode, EnvPolicy, HomePolicy
from orchestrator.core.agents.recipes import Recipe, filled

SEARCH_PATH: Final = "/opt/python/bin:/usr/local/bin:/usr/bin:/bin"
"""`/opt/python` is where a sandbox binds an interpreter that does not lie below `/usr`."""
PLACEHOLDER: Final = "dovecote-adds-the-credential"
"""What stands in a credential's variable: the way out puts the credential into the call."""
GITHUB_VARIABLE: Final = "GITHUB_TOKEN_FILE"
"""Names the file with the GitHub token; the token itself stands in no variable."""
OUR_PREFIX: Final = "DOVECOTE_"
_SENSITIVE: Final = (
    "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL",
    "AUTH", "COOKIE", "SESSION",
)  # fmt: skip
_SENSITIVE_END: Final = "_KEY"
_URL_WITH_PASSWORD: Final = re.compile(r"://[^/\s:@]*:[^/\s@]+@")
_ISOLATED: Final = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP", "LANG", "TERM", "COLORTERM",
        "NO_COLOR", "FORCE_COLOR",
    }
)  # fmt: skip
_ISOLATED_PREFIXES: Final = ("LC_", "XDG_")
_LOCAL: Final = "127.0.0.1,localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRun:
    """What is known of one run of a definition. home, workspace: as its program sees them.

    egress_port: of the way out on the program's own `127.0.0.1`; None: it has none. our_program: where
    the program `dovecote` lies, for an agent that sees it. channel: a coordination channel, if it is in one.
    has_github, may_spawn: whether it finds a GitHub token, and a session token.
    session_token: the token itself, where that may be shown.
    """

    agent_id: AgentId
    tree_id: TreeId
    home: str = HOME_TARGET
    workspace: str = WORKSPACE_TARGET
    egress_port: int | None = None
    our_program: str | None = None
    channel: str | None = None
    has_github: bool = False
    may_spawn: bool = False
    session_token: Secret | None = None


def agent_environment(
    *, group: GroupFolder, chat: Jid, timezone: str, toolsets: Sequence[str]
) -> dict[str, str]:
    """What every agent of `group` has, with the container's paths. timezone: an IANA name.

    toolsets: what its tool server offers.
    """
    return {
        "PATH": SEARCH_PATH,
        "HOME": HOME_TARGET,
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TZ": timezone,
        "PYTHONPATH": PROGRAMS_TARGET,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "DOVECOTE_WORKSPACE": WORKSPACE_TARGET,
        "DOVECOTE_GLOBAL": GLOBAL_TARGET,
        "DOVECOTE_BOX": BOX_TARGET,
        "DOVECOTE_TOOLS": TOOLS_TARGET,
        "DOVECOTE_AGENTS": AGENTS_TARGET,
        "DOVECOTE_GROUP": group,
        "DOVECOTE_CHAT": chat,
        "DOVECOTE_TOOLSETS": ",".join(toolsets),
    }


def inherited(policy: EnvPolicy, ours: Mapping[str, str]) -> dict[str, str]:
    """What an agent without walls takes over of our own variables: none that could hold a secret, none of
    an outer Dovecote."""
    kept = {name: value for name, value in ours.items() if not is_sensitive(name, value)}
    if policy is EnvPolicy.ISOLATED:
        kept = {
            name: value
            for name, value in kept.items()
            if name in _ISOLATED or name.startswith(_ISOLATED_PREFIXES)
        }
    return {name: value for name, value in kept.items() if not name.upper().startswith(OUR_PREFIX)}


def is_sensitive(name: str, value: str) -> bool:
    """Whether a variable's name or value looks as if it held a secret."""
    upper = name.upper()
    return (
        any(word in upper for word in _SENSITIVE)
        or upper.endswith(_SENSITIVE_END)
        or _URL_WITH_PASSWORD.search(value) is not None
    )


def build_environment(
    definition: Definition, run: ProgramRun, recipe: Recipe, ours: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What a definition adds to `agent_environment`: laid over it.

    ours: the orchestrator's own variables, for an agent without walls; None in a container. What is
    inherited of them lies below `agent_environment`; here they only say the path and the operator's home.
    """
    provider = definition.provider
    base = {} if ours is None else inherited_by(definition, ours)
    given = _about(definition, run)
    if ours is None or provider.home_policy is HomePolicy.ISOLATED:
        given |= home_variables(run.home)
    elif "HOME" in ours:
        given["HOME"] = ours["HOME"]
    given |= _way_out(run, recipe)
    given |= _spawning(run)
    if run.has_github:
        given[GITHUB_VARIABLE] = f"{TOKEN_TARGET}/{GITHUB_FILE}"
    given |= filled(provider.environment, recipe)
    given |= definition.environment
    given |= credential_placeholders(definition)
    path = SEARCH_PATH if ours is None else base.get("PATH", SEARCH_PATH)
    if run.our_program is not None:
        path = path_with(run.our_program.rpartition("/")[0], path)
    given["PATH"] = path_with(f"{AGENTS_TARGET}/bin", path)
    return given


def inherited_by(definition: Definition, ours: Mapping[str, str]) -> dict[str, str]:
    """What an agent without walls takes over of our own variables, by its provider's policy.

    A variable that a slot names as its credential is one, whatever it is called.
    """
    github = () if definition.github is None else (definition.github,)
    slots = (*definition.provider.slots, *github)
    named = {slot.secret_ref.removeprefix(ENV_REFERENCE) for slot in slots}
    others = {name: value for name, value in ours.items() if name not in named}
    return inherited(definition.provider.env_policy, others)


def path_with(directory: str, path: str) -> str:
    """`path` with `directory` in front, and nowhere else."""
    others = [each for each in path.split(":") if each and each != directory]
    return ":".join([directory, *others])


def credential_placeholders(definition: Definition) -> dict[str, str]:
    """The variables of the provider's credentials; the credentials themselves stay with the host."""
    if definition.provider.auth_mode is not AuthMode.BOUND_SECRET:
        return {}
    return {slot.target_env: PLACEHOLDER for slot in definition.provider.slots}


def _about(definition: Definition, run: ProgramRun) -> dict[str, str]:
    provider = definition.provider
    given = {
        "DOVECOTE_SESSION_ID": run.agent_id,
        "DOVECOTE_AGENT": definition.name,
        "DOVECOTE_AGENT_NAME": definition.name,
        "DOVECOTE_PROVIDER": provider.name,
        "DOVECOTE_PROVIDER_HARNESS": provider.harness or provider.driver,
        "DOVECOTE_PROVIDER_AUTH_MODE": provider.auth_mode,
        "DOVECOTE_PROVIDER_ENV_POLICY": provider.env_policy,
        "DOVECOTE_PROVIDER_HOME_POLICY": provider.home_policy,
        "DOVECOTE_TREE_ID": run.tree_id,
    }
    if definition.model is not None:
        given["DOVECOTE_MODEL"] = definition.model
    if run.our_program is not None:
        given["DOVECOTE_BIN"] = run.our_program
    if run.channel is not None:
        given["DOVECOTE_SESSION_CHANNEL"] = run.channel
        given["DOVECOTE_PEER_ID"] = f"{definition.name}.{run.agent_id}"
    return given


def home_variables(home: str) -> dict[str, str]:
    """What says to programs that `home` is theirs."""
    return {
        "HOME": home,
        "PROVIDER_HOME": home,
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "XDG_CACHE_HOME": f"{home}/.cache",
    }


def _spawning(run: ProgramRun) -> dict[str, str]:
    """How an agent that may start others asks for them over HTTP, by the names of seed 000."""
    if run.egress_port is None or not run.may_spawn:
        return {}
    given = {
        "PINOCCHIO_API_URL": f"http://127.0.0.1:{run.egress_port}",
        "PINOCCHIO_SESSION_TOKEN_FILE": f"{TOKEN_TARGET}/{TOKEN_FILE}",
    }
    shown = run.session_token
    return given if shown is None else given | {"PINOCCHIO_SESSION_TOKEN": shown.reveal()}


def _way_out(run: ProgramRun, recipe: Recipe) -> dict[str, str]:
    """Where the forwarder listens, and that everything else goes through it."""
    if run.egress_port is None:
        return {}
    proxy = f"http://127.0.0.1:{run.egress_port}"
    given = {
        "DOVECOTE_EGRESS_PORT": str(run.egress_port),
        "DOVECOTE_EGRESS_SOCKET": f"{EGRESS_TARGET}/{EGRESS_SOCKET}",
        "HTTPS_PROXY": proxy,
        "https_proxy": proxy,
        "NO_PROXY": _LOCAL,
        "no_proxy": _LOCAL,
    }
    return given if recipe.base_url is None else given | {"DOVECOTE_BASE_URL": recipe.base_url}
