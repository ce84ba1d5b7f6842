"""What the built-in driver answers about its helpers: agents that it starts by the tools that a model has."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from container.drivers.asking_back import AskedBack, Told
from container.drivers.builtin_words import WishKind
from container.drivers.shown_text import plain, short
from container.drivers.tree_lines import ShownAgent, ended_lines, over_lines, shown_agents, tree_lines
from container.tool_answers import ToolAnswer
from container.tools import ToolBelt
from orchestrator.contracts.errors import InvalidRequest

_NAME: Final = re.compile(r"helper ([0-9]{1,6})")
_NUMBER: Final = re.compile(r"#?([0-9]{1,6})")
_WHAT: Final = "What shall the helper do? For example: `{verb} what time is it`"
_NONE_YET: Final = (
    "I have no helpers yet. Try `spawn count to 60` and then `show tree`, or `ask helper what time is it`."
)
_ENDED: Final = "No helper is at work. These have ended lately:"
_OVER: Final = "There is nothing to stop, it has ended:"
_NOT_HERE: Final = (
    "I can't have helpers here. For a chat's agent, the operator adds `spawn` to `tools` in its `AGENT.md`; "
    "it counts from the next conversation on."
)
_MOST_SAID_CHARS: Final = 8_000


class ChildAnswers:
    """Starts helpers, numbers them, shows and stops them. Methods raise DovecoteError.

    is_helper: it is one itself, so it ends when it has answered, and its own helpers end with it.
    """

    def __init__(self, belt: ToolBelt, *, now: Callable[[], datetime], is_helper: bool) -> None:
        self._belt = belt
        self._now = now
        self._answers: Mapping[WishKind, Callable[[str], Awaitable[Told]]] = {
            # A helper that did not wait for its own would only be the end of it.
            WishKind.SPAWN: self._ask if is_helper else self._spawn,
            WishKind.ASK_HELPER: self._ask,
            WishKind.SHOW_TREE: self._show_tree,
            WishKind.SHOW_HELPER: self._show,
            WishKind.STOP_HELPER: self._stop,
            WishKind.STOP_HELPERS: self._stop_all,
        }

    async def answer(self, kind: WishKind, words: str) -> Told:
        """Do what is wished, if this agent may have helpers at all."""
        if "spawn_agent" not in self._belt.tools:
            return _NOT_HERE
        return await self._answers[kind](words)

    async def _spawn(self, task: str) -> Told:
        if not task.strip():
            return AskedBack(text=_WHAT.format(verb="spawn"), go_on=self._spawn, takes_commands=True)
        name, _ = await self._start(task, wait="none")
        number = name.removeprefix("helper ")
        return (
            f"**{name}** is at work: {short(task)}\n`show tree` shows how it stands, `show helper {number}` "
            f"what it says at its end, `stop helper {number}` stops it."
        )

    async def _ask(self, task: str) -> Told:
        if not task.strip():
            return AskedBack(text=_WHAT.format(verb="ask helper"), go_on=self._ask, takes_commands=True)
        name, result = await self._start(task, wait="result")
        return _said(
            name,
            how=str(result.get("lifecycle") or result.get("status")),
            output=str(result.get("output") or ""),
            error=str(result.get("error") or result.get("status")),
        )

    async def _start(self, task: str, *, wait: str) -> tuple[str, Mapping[str, object]]:
        taken = [int(found[1]) for each in await self._children() if (found := _NAME.fullmatch(each.name))]
        name = f"helper {max(taken, default=0) + 1}"
        return name, await self._call("spawn_agent", {"task": task, "name": name, "wait": wait})

    async def _show_tree(self, _: str) -> Told:
        content = await self._call("get_agent_status", {})
        agents, now = shown_agents(content), self._now()
        if len(agents) <= 1:
            earlier = shown_agents({"agents": content.get("earlier")})
            return "\n".join([_ENDED, *ended_lines(earlier, now=now)]) if earlier else _NONE_YET
        return "\n".join(["This is our tree:", *tree_lines(agents, now=now)])

    async def _show(self, which: str) -> Told:
        found = _meant(which, await self._children(), go_on=self._show)
        if isinstance(found, AskedBack):
            return found
        if found.is_live:
            return f"**{short(found.name)}** is not done yet ({found.stand}): {short(found.task)}"
        content = await self._call("get_agent_status", {"agent_id": found.agent_id})
        [whole] = shown_agents(content) or [found]
        return _said(whole.name, how=whole.lifecycle, output=whole.output, error=whole.error)

    async def _stop(self, which: str) -> Told:
        content = await self._call("get_agent_status", {})
        children = _children(content)
        live = [agent for agent in children if agent.is_live]
        over = [agent for agent in children if not agent.is_live]
        over += shown_agents({"agents": content.get("earlier")})
        if which.strip() and not _named(which, live) and (ended := _named(which, over)):
            return "\n".join([_OVER, *over_lines(ended, now=self._now())])
        if not live:
            return "No helper is at work."
        found = _meant(which, live, go_on=self._stop)
        return found if isinstance(found, AskedBack) else await self._end(found)

    async def _stop_all(self, _: str) -> Told:
        live = [agent for agent in await self._children() if agent.is_live]
        return "\n".join([await self._end(agent) for agent in live]) or "No helper is at work."

    async def _end(self, agent: ShownAgent) -> str:
        content = await self._call("terminate_agent", {"agent_id": agent.agent_id})
        if not content.get("success"):
            return f"**{short(agent.name)}** was told to stop, but is not gone yet: `show tree` shows it."
        return f"**{short(agent.name)}** is stopped: {short(agent.task)}"

    async def _children(self) -> list[ShownAgent]:
        """Those that this agent itself has started, oldest first."""
        return _children(await self._call("get_agent_status", {}))

    async def _call(self, tool: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        answer = await self._belt.call(tool, arguments)
        if answer.is_error:
            raise _refusal(answer)
        return answer.content


def _children(content: Mapping[str, object]) -> list[ShownAgent]:
    """Of an answer of `get_agent_status` those that who asked has started itself."""
    agents = shown_agents(content)
    ids = {agent.agent_id for agent in agents}
    tops = {agent.agent_id for agent in agents if agent.parent_id not in ids}
    return [agent for agent in agents if agent.parent_id in tops]


def _named(which: str, children: Sequence[ShownAgent]) -> list[ShownAgent]:
    """Those that are meant by a number, a name, an id or words of a task."""
    words = " ".join(which.split()).casefold()
    number = _NUMBER.fullmatch(words)
    name = words if number is None else f"helper {int(number[1])}"
    exact = [each for each in children if name in (each.name.casefold(), each.agent_id)]
    return exact or ([] if number else [each for each in children if words in each.task.casefold()])


def _meant(
    which: str, children: Sequence[ShownAgent], *, go_on: Callable[[str], Awaitable[Told]]
) -> ShownAgent | AskedBack:
    """The one that is named by its number, its name, its id or words of its task. Raises InvalidRequest."""
    if not children:
        raise InvalidRequest("There are no helpers yet.", suggestion="Try `spawn count to 60`.")
    found = _named(which, children)
    if not found:
        raise InvalidRequest(f"There is no helper **{short(which)}**.", suggestion="`show tree` shows them.")
    if len(found) == 1:
        return found[0]
    lines = [f"- **{short(each.name)}**: {short(each.task)}" for each in found]
    return AskedBack(text="\n".join(["Which one? Say its number:", *lines]), go_on=go_on)


def _said(name: str, *, how: str, output: str, error: str) -> str:
    """What a helper said in the end, at most so much that it can be read. how: it has ended."""
    shown = "\n".join(plain(line) for line in output.split("\n"))
    if len(shown) > _MOST_SAID_CHARS:
        shown = f"{shown[:_MOST_SAID_CHARS].rstrip()}…"
    if how != "completed":
        ended = "has ended early" if how == "terminated" else "has failed"
        return "\n".join(part for part in (f"**{short(name)}** {ended}: {short(error)}", shown) if part)
    return f"**{short(name)}** says:\n{shown}" if shown.strip() else f"**{short(name)}** is done."


def _refusal(answer: ToolAnswer) -> InvalidRequest:
    told = answer.content.get("error")
    error: Mapping[str, object] = told if isinstance(told, Mapping) else {}
    suggestion = error.get("suggestion")
    return InvalidRequest(
        str(error.get("message") or answer.text), suggestion=None if suggestion is None else str(suggestion)
    )
