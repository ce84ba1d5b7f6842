"""`dovecote reference`: tables of the README that are drawn from the code, so that they cannot lag."""

import difflib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import typer
import typer.main

from orchestrator.api.render_errors import STATUS
from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.core.metrics import METRICS
from orchestrator.core.states.agent import AGENT
from orchestrator.core.states.message import MESSAGE
from orchestrator.core.states.outbox import OUTBOX
from orchestrator.core.states.proposal import PROPOSAL
from orchestrator.core.states.question import QUESTION
from orchestrator.core.states.task import TASK
from orchestrator.core.states.task_run import TASK_RUN
from orchestrator.core.states.workspace_root import WORKSPACE_ROOT
from orchestrator.settings.loading import ALIASES, PREFIX
from orchestrator.settings.tree import allowed_values, setting_fields

MEANINGS: Final[Mapping[ErrorCode, str]] = {
    ErrorCode.INVALID_REQUEST: "the words of the request are off: a field, a type, a range",
    ErrorCode.UNKNOWN_TYPE: "there is no request of this type in this directory",
    ErrorCode.FORBIDDEN: "the caller may not do this to that",
    ErrorCode.UNAUTHORIZED: "the credential is missing or not ours",
    ErrorCode.NOT_FOUND: "what was named is not there",
    ErrorCode.NOT_REGISTERED: "the chat is not a registered group",
    ErrorCode.TASK_NOT_FOUND: "there is no such task, or it is not the caller's",
    ErrorCode.ALREADY_REGISTERED: "the folder or the chat is registered already",
    ErrorCode.INVALID_SETTINGS: "a setting is unknown, of the wrong type or out of range",
    ErrorCode.INVALID_SCHEDULE: "the schedule or the timezone names no time; the message says which part",
    ErrorCode.LIMIT_EXCEEDED: "a bound was met; the message names it",
    ErrorCode.RATE_LIMITED: "too many requests; `Retry-After` says when to try again",
    ErrorCode.ATTACHMENT_REFUSED: "the file cannot be sent",
    ErrorCode.CONFIRMATION_NEEDED: "an operator was asked, and says yes or no by the number in `details`",
    ErrorCode.CHANNEL_UNAVAILABLE: "the chat network is away",
    ErrorCode.STORE_UNAVAILABLE: "the database cannot be read or written",
    ErrorCode.RUNNER_UNAVAILABLE: "no runner can start agents now",
    ErrorCode.START_FAILED: "the agent could not be started",
    ErrorCode.ALREADY_RUNNING: "an orchestrator runs in this home already",
    ErrorCode.NOT_RUNNING: "no orchestrator runs in this home",
    ErrorCode.MISSING_TASK: "a spawn says no task",
    ErrorCode.INVALID_TIMEOUT: "the time of an agent is below 1 ms or above the longest, 24 h at most",
    ErrorCode.INVALID_WORKSPACE: "the path of a workspace, or one below it, is none; it must be absolute",
    ErrorCode.TOKEN_EXPIRED: "the agent's token is too old; a live agent's is renewed in its file",
    ErrorCode.TOKEN_INVALID: "the token is not ours, was changed, or came by a way that is not its agent's",
    ErrorCode.TOKEN_TREE_INVALID: "the tree of the token's agent is over",
    ErrorCode.TOKEN_PARENT_INVALID: "the token's agent has ended or is being stopped",
    ErrorCode.SPAWN_DISABLED: "agents may not start agents here: `spawn.enabled`",
    ErrorCode.DEPTH_EXCEEDED: "the child would be deeper than `spawn.max_depth`",
    ErrorCode.QUOTA_EXCEEDED: "the tree has all its agents: `spawn.max_agents_per_tree`, or ever: "
    "`spawn.max_spawns_per_tree`",
    ErrorCode.PARENT_NOT_FOUND: "there is no such parent, or it is not the caller's",
    ErrorCode.PARENT_NOT_RUNNING: "the parent has ended or is being stopped",
    ErrorCode.WORKSPACE_NOT_ALLOWED: "the workspace is neither the parent's nor in an allowed directory",
    ErrorCode.AGENT_NOT_FOUND: "there is no such agent, or it is not below the caller",
    ErrorCode.WOULD_DEADLOCK: "the wait would close a circle of agents that wait for each other",
    ErrorCode.TIMEOUT: "it did not happen in time",
    ErrorCode.INTERNAL_ERROR: "a fault of Dovecote; its log says more",
}
"""What each code says, in the words of the README."""


def run_reference(program: typer.Typer, readme: Path, *, is_check: bool) -> int:
    """Rewrite what stands between the markers; with `is_check` only say what would change, and fail."""
    try:
        before = readme.read_text(encoding="utf-8")
    except OSError as error:
        raise DovecoteError(f"{readme} cannot be read: {error.strerror}.") from None
    after = with_tables(before, tables_of(program))
    if before == after:
        return 0
    if is_check:
        sys.stderr.writelines(
            difflib.unified_diff(
                before.splitlines(keepends=True), after.splitlines(keepends=True), str(readme), "the code"
            )
        )
        print("The tables are old. Write them again with: dovecote reference", file=sys.stderr)
        return 1
    readme.write_text(after, encoding="utf-8")
    return 0


def tables_of(program: typer.Typer) -> dict[str, str]:
    """Every table that the README holds, by the name of its markers."""
    return {
        "settings": settings_table(),
        "error codes": error_codes_table(),
        "commands": commands_table(program),
        "metrics": metrics_table(),
        "state diagrams": state_diagrams(),
    }


def with_tables(text: str, tables: Mapping[str, str]) -> str:
    """`text` with each table between its markers. Raises DovecoteError if a marker is missing."""
    for name, table in tables.items():
        start, end = f"<!-- reference: {name} -->", f"<!-- end: {name} -->"
        before, found_start, rest = text.partition(start)
        _, found_end, after = rest.partition(end)
        if not found_start or not found_end:
            raise DovecoteError(
                f"The markers of the table {name!r} are missing.", suggestion=f"Add: {start} … {end}"
            )
        text = f"{before}{start}\n{table}\n{end}{after}"
    return text


def settings_table() -> str:
    """Every setting: its name, default, what it may be, what it is for."""
    aliases = {key: name for name, (key, _, _) in ALIASES.items()}
    rows = [
        (
            f"`{name}`",
            f"`{_default(info.get_default(call_default_factory=True))}`",
            allowed_values(info).replace("|", "\\|"),
            info.description or "",
            f"`{aliases[name]}`" if name in aliases else "",
        )
        for name, info in setting_fields()
    ]
    note = (
        f"In the environment: `{PREFIX}` and the name in capitals, `__` for the dot: `{PREFIX}AGENT__RUNNER`."
    )
    return _table(("setting", "default", "values", "meaning", "also named"), rows) + f"\n\n{note}"


def error_codes_table() -> str:
    """Every error code with its meaning and HTTP status."""
    rows = [(f"`{code}`", str(STATUS[code]), MEANINGS[code]) for code in ErrorCode]
    return _table(("code", "HTTP", "meaning"), rows)


def commands_table(program: typer.Typer) -> str:
    """Every command with its help."""
    rows = [(f"`{name}`", text) for name, text in _commands(typer.main.get_command(program), "dovecote")]
    return _table(("command", "does"), rows)


def metrics_table() -> str:
    """Every number of `/metrics`."""
    rows = [
        (f"`{each.name}`", each.kind.value, ", ".join(f"`{label}`" for label in each.labels), each.meaning)
        for each in METRICS
    ]
    return _table(("metric", "kind", "labels", "meaning"), rows)


def state_diagrams() -> str:
    """Every state table as a diagram."""
    machines = (MESSAGE, OUTBOX, AGENT, TASK, TASK_RUN, PROPOSAL, QUESTION, WORKSPACE_ROOT)
    return "\n\n".join(
        f"**{machine.name}**\n\n```mermaid\n{machine.as_mermaid()}\n```" for machine in machines
    )


def _commands(command: object, path: str) -> Iterator[tuple[str, str]]:
    """Leaf commands with the first line of their help."""
    inner: Mapping[str, object] = getattr(command, "commands", {})
    for name, each in inner.items():
        yield from _commands(each, f"{path} {name}")
    if not inner:
        yield path, str(getattr(command, "help", "")).splitlines()[0]


def _default(value: object) -> str:
    match value:
        case None | () | dict():
            return "none"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"{value:_}"
        case _:
            return str(value)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
