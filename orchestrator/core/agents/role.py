"""The body of an `AGENT.md` with its facts filled in: a small part of Jinja2 that can only read them.

Texts, `{{ fact }}` with a few filters, `{% if %}`, and one `{% for %}` over a fact that is a list. Nothing
can be called, assigned, imported or reached into, so a text of bounded size renders in bounded time.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.faults import noted, raise_any
from orchestrator.core.agents.agent_file import AgentFile
from orchestrator.core.agents.forms import shown
from orchestrator.core.agents.front_matter import refusal

Fact: TypeAlias = str | bool | Sequence[str]

MAX_CHARS: Final = 128 * 1024
_FILTERS: Final = ("capitalize", "first", "join", "last", "length", "lower", "title", "trim", "upper")
_LOOP_VARIABLE: Final = "each"
_TESTS: Final = ("defined", "in", "none")
_ALLOWED: Final = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.If, nodes.For,
    nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Filter, nodes.Test,
)  # fmt: skip
_WORDS: Final[Mapping[type[nodes.Node], str]] = {
    nodes.Assign: "set",
    nodes.AssignBlock: "set",
    nodes.Call: "a call",
    nodes.Getattr: "an attribute",
    nodes.Getitem: "an index",
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "import",
    nodes.Extends: "extends",
    nodes.Macro: "macro",
}


def check_role(file: AgentFile, facts: Mapping[str, Fact]) -> None:
    """Raises InvalidSettings for all in the body that no facts of these names and kinds could mend."""
    if file.is_template:
        _parsed(_environment(), file, facts)


def render_role(file: AgentFile, facts: Mapping[str, Fact]) -> str:
    """The body with its facts. Raises InvalidSettings naming the line and what may stand there."""
    if not file.is_template:
        return file.body
    environment = _environment()
    tree = _parsed(environment, file, facts)
    try:
        pieces = environment.from_string(tree).generate(**facts)
        return _bounded(pieces, file)
    except (TemplateError, TypeError, ValueError, RecursionError) as error:
        raise _unrendered(error, file) from None


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    environment.globals.clear()
    return environment


def _parsed(
    environment: ImmutableSandboxedEnvironment, file: AgentFile, facts: Mapping[str, Fact]
) -> nodes.Template:
    faults: list[InvalidSettings] = []
    try:
        tree = environment.parse(file.body)
        _check(tree, file, facts, faults, above=file.body_line, loops=0)
    except TemplateSyntaxError as error:
        line = file.body_line + error.lineno - 1
        mend = "Mend it, or put {% raw %} before and {% endraw %} behind what is no template."
        raise refusal(file.where, line, f"can't be read: {str(error.message)[:200]}", mend) from None
    except RecursionError as error:
        raise _unrendered(error, file) from None
    raise_any(faults)
    return tree


def _unrendered(error: Exception, file: AgentFile) -> InvalidSettings:
    what = f"can't be rendered: {str(error)[:200]}"
    return refusal(file.where, None, what, "Mend its {{ }} and {% %}.")


def _bounded(pieces: Iterable[str], file: AgentFile) -> str:
    found: list[str] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > MAX_CHARS:
            what = f"renders to more than {MAX_CHARS:,} characters"
            raise refusal(file.where, file.body_line, what, "Shorten it.")
        found.append(piece)
    return "".join(found).strip("\n")


def _check(
    node: nodes.Node,
    file: AgentFile,
    facts: Mapping[str, Fact],
    faults: list[InvalidSettings],
    *,
    above: int,
    loops: int,
) -> None:
    """Adds to `faults` what the small part does not have. above: the line of what holds it."""
    known_line: int | None = node.lineno  # parts of an expression have none of their own
    line = above if known_line is None else file.body_line + known_line - 1
    if not isinstance(node, _ALLOWED):
        what = _WORDS.get(type(node), type(node).__name__.lower())
        faults.append(refusal(file.where, line, f"uses {what}", "Use facts, if and for: see docs/agents.md."))
        return
    with noted(faults):
        if isinstance(node, nodes.Filter | nodes.Test):
            _check_word(node, file, line)
        if isinstance(node, nodes.Name) and node.ctx == "load" and node.name not in facts:
            _check_name(node, file, line, facts, loops=loops)
    if isinstance(node, nodes.For):
        try:
            _check_loop(node, file, line, facts, loops=loops)
        except InvalidSettings as error:
            faults.append(error)  # what is in it can't be judged without it
            return
        loops += 1
    for child in node.iter_child_nodes():
        _check(child, file, facts, faults, above=line, loops=loops)


def _check_name(
    node: nodes.Name, file: AgentFile, line: int, facts: Mapping[str, Fact], *, loops: int
) -> None:
    if node.name != _LOOP_VARIABLE or not loops:
        mend = f"Known are: {', '.join(sorted(facts))}."
        raise refusal(file.where, line, f"names {shown(node.name)}, which is no fact", mend)


def _check_word(node: nodes.Filter | nodes.Test, file: AgentFile, line: int) -> None:
    known = _FILTERS if isinstance(node, nodes.Filter) else _TESTS
    if node.name not in known:
        kind = "filter" if isinstance(node, nodes.Filter) else "test"
        raise refusal(file.where, line, f"uses the {kind} {shown(node.name)}", f"Use: {', '.join(known)}.")


def _check_loop(
    node: nodes.For, file: AgentFile, line: int, facts: Mapping[str, Fact], *, loops: int
) -> None:
    target, over = node.target, node.iter
    is_plain = isinstance(target, nodes.Name) and target.name == _LOOP_VARIABLE
    is_list = isinstance(over, nodes.Name) and isinstance(facts.get(over.name), tuple | list)
    if loops or node.recursive or not is_plain or not is_list:
        lists = ", ".join(name for name, fact in facts.items() if isinstance(fact, tuple | list))
        mend = f"Write {{% for {_LOOP_VARIABLE} in LIST %}}, not inside another, with a LIST of: {lists}."
        raise refusal(file.where, line, "has a loop of another kind", mend)
