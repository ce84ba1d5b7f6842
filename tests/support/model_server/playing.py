"""Which rule answers a request, and which of the offered tools its steps mean."""

import re
from collections.abc import Sequence
from typing import Final

from tests.support.model_server.asked import Asked, OfferedTool
from tests.support.model_server.script import CallTool, Rule, Say

_SEPARATORS: Final = re.compile(r"[_.\-:/]+")


class NoSuchTool(Exception):
    """The script calls a tool that the request does not offer, or one of several; the text names them."""


class Playing:
    """Rules in use: it counts how often each one fitted."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._fitted = [0] * len(self._rules)

    def choose(self, path: str, asked: Asked | None) -> Rule | None:
        """The first rule whose turn it is; None: there is none. Every rule that fits counts the request."""
        chosen: Rule | None = None
        for place, rule in enumerate(self._rules):
            if not _fits(rule, path, asked):
                continue
            turn = self._fitted[place] - rule.skip
            self._fitted[place] += 1
            if chosen is None and turn >= 0 and (rule.times is None or turn < rule.times):
                chosen = rule
        return chosen


def _fits(rule: Rule, path: str, asked: Asked | None) -> bool:
    if rule.path is not None:
        if rule.path != path:
            return False
        if asked is None:
            return rule.text is None and rule.tool_result is None and rule.model is None
    if asked is None:
        return False
    calls_a_tool = any(isinstance(step, CallTool) for step in rule.steps)
    return (
        (rule.text is None or rule.text in asked.prompt)
        and (rule.tool_result is None or any(rule.tool_result in each for each in asked.tool_results))
        and (rule.model is None or rule.model == asked.model)
        and (rule.has_tools is None or rule.has_tools == bool(asked.tools))
        and (not calls_a_tool or bool(asked.tools))
    )


def echo(asked: Asked) -> Rule:
    """The answer without a script."""
    if asked.tool_results:
        return Rule(steps=(Say(text=f"tool said: {asked.tool_results[-1]}"),))
    return Rule(steps=(Say(text=f"echo: {asked.prompt}"),))


def find_tool(wanted: str, offered: Sequence[OfferedTool]) -> OfferedTool:
    """The offered tool of that name, or the only one whose name ends so; raises NoSuchTool."""
    exact = [tool for tool in offered if wanted in (tool.name, tool.full_name)]
    end = f"_{_plain(wanted)}"
    found = exact or [tool for tool in offered if f"_{_plain(tool.full_name)}".endswith(end)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(sorted(tool.full_name for tool in offered))
    raise NoSuchTool(f"The script calls the tool {wanted!r}; {len(found)} of the offered ones fit: {names}")


def _plain(name: str) -> str:
    return _SEPARATORS.sub("_", name)
