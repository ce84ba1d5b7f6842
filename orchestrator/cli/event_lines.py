"""Events of agents as lines for people: when, of whom, what, and in words what that means."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from orchestrator.cli.labels import instant, without_marks
from orchestrator.contracts.records.spawns import StoppedWith, StopReason
from orchestrator.contracts.wire.agent_words import asker_in_words, stand_of, stopped_in_words
from orchestrator.core.text_cleaning import clean_name, clean_text

Plain = Mapping[str, Any]
_BREAK: Final = " / "
"""Stands for the end of a line where all has to be one."""
_MOST_SAID_CHARS: Final = 100
_KIND_WIDTH: Final = len("spawn.depth_limit_exceeded")
"""Of the longest there is."""
_WITH_US: Final = {
    StoppedWith.ORCHESTRATOR.value: "stopped by Dovecote, or with it",
    StoppedWith.ORCHESTRATOR_DIED.value: "ended, since Dovecote ended while it ran",
}
_ASKED: Final = "who asked: dovecote errors"

_GAPS: Final = {"overflow": "they came faster than they were read", "expired": "they are not kept any more"}
_ORPHANS: Final = {
    "parent_not_found": "there is no record of what had started it",
    "parent_terminated": "what had started it has ended",
    "tree_terminated": "its tree is over",
}
_TOKENS: Final = {
    "malformed": "it is no token",
    "key_unknown": "the key that signed it is not known",
    "foreign_socket": "it came by a way that is not its agent's",
    "not_issued": "nobody was given it",
    "revoked": "it was taken back",
    "tree_ended": "the tree of its agent is over",
    "agent_ended": "its agent has ended or is being stopped",
}


def event_line(event: Plain) -> str:
    """An event as one line for people."""
    when = instant(str(event.get("timestamp") or ""))
    if event["type"] == "gap":
        span = f"{event['firstSeq']} to {event['lastSeq']} " if "firstSeq" in event else ""
        whose = "" if event["treeId"] == "*" else event["treeId"]
        why = _GAPS.get(str(event["reason"]), "nobody knows why")
        return f"{when:<23}  {whose:<22}  events {span}are missing: {why}"
    who = event.get("agentId") or event.get("treeId") or ""
    return f"{when:<23}  {who:<22}  {event['type']:<{_KIND_WIDTH}}  {_said(event)}".rstrip()


def _said(event: Plain) -> str:
    """What an event says beside who and what."""
    kind = str(event["type"])
    if kind.startswith("agent."):
        return _of_agent(event)
    if kind.startswith("spawn."):
        return _of_spawn(event)
    if kind.startswith("token."):
        return _of_token(event)
    return _of_stop(event)


def _of_agent(event: Plain) -> str:
    match event:
        case {"type": "agent.started"}:
            return f"started: {_first(event, 'task')}"
        case {"type": "agent.progress", "progress": percent}:
            return f"{percent:g}%  {_first(event, 'description')}".rstrip()
        case {"type": "agent.completed"}:
            return ": ".join(each for each in ("ended well", _first(event, "output")) if each)
        case {"type": "agent.failed"}:
            return f"failed: {_first(event, 'error', 'output')}"
        case {"type": "agent.terminated", "reason": reason}:
            return _how_stopped(event, str(reason))
        case {"type": "agent.restarted", "restarts": count}:
            return (
                f"started again, for the {_nth(count)} time: {_first(event, 'error') or 'it had ended well'}"
            )
        case {"type": "agent.restarts_given_up"}:
            return f"not started again, since it ended too often: {_first(event, 'error')}"
    return _first(event, "message")


def _of_spawn(event: Plain) -> str:
    match event:
        case {"type": "spawn.nested"}:
            return f"{_asked_for(event)}: {_first(event, 'task')}"
        case {"depth": depth, "maxDepth": most}:
            return f"refused: its parent is at depth {depth}, and {most} is the deepest"
        case {"totalAgents": total, "maxAgents": most}:
            return f"refused: its tree has {total} agents, and {most} is the most"
        case {"parentAgentId": parent, "parentStatus": status}:
            how = stand_of(str(status))
            return f"refused: {_name(parent)}, which was to be its parent, is {_name(how)}; {_ASKED}"
        case {"parentAgentId": parent}:
            return f"refused: there is no parent {_name(parent)}; {_ASKED}"
    return ""


def _of_token(event: Plain) -> str:
    match event["type"]:
        case "token.generated":
            return "was given a token"
        case "token.expired":
            return "its token was refused: it is too old"
        case "token.signature_invalid":
            return "a token was refused: its signature is not ours"
        case _:
            return f"a token was refused: {_TOKENS.get(str(event.get('reason')), 'it does not hold')}"


def _of_stop(event: Plain) -> str:
    match event:
        case {"type": "terminate.cascade", "terminatedCount": count, "reason": reason}:
            below = "" if count == 1 else f", with {count - 1} below it"
            return f"{_how_stopped(event, str(reason))}{below}"
        case {"type": "terminate.orphan", "reason": reason}:
            return f"stopped: {_ORPHANS.get(str(reason), 'what had started it is gone')}"
        case {"totalAgents": total}:
            return f"the tree is over; it had {total} agent{'' if total == 1 else 's'}"
    return ""


def _how_stopped(event: Plain, reason: str) -> str:
    """As its record says it; but an event calls the end of Dovecote a cascade too."""
    asker = event.get("terminatedBy")
    words = _name(stopped_in_words(reason, None if asker is None else str(asker)))
    if (stopped_with := event.get("stoppedWith")) in _WITH_US:
        return _WITH_US[str(stopped_with)]
    if stopped_with is not None:
        return words
    # One that was written before that was kept.
    if reason != StopReason.CASCADE or asker:
        return words
    if event["type"] == "agent.terminated" and not event.get("parentAgentId"):
        return "stopped by Dovecote, or with it"
    return f"{words}, or with Dovecote"


def _asked_for(event: Plain) -> str:
    parent, asker = _name(event["parentAgentId"]), event.get("askedBy")
    if asker is None:
        return f"asked for by {parent}"
    return f"asked for by {_name(asker_in_words(str(asker)))}, below {parent}"


def _first(event: Plain, *names: str) -> str:
    """The first of these fields that says something, in one line."""
    words: Sequence[str] = [_BREAK.join(str(event[name]).splitlines()) for name in names if event.get(name)]
    whole = without_marks(clean_text(words[0])) if words else ""
    return whole if len(whole) <= _MOST_SAID_CHARS else f"{whole[:_MOST_SAID_CHARS].rstrip()} …"


def _name(value: object) -> str:
    return clean_name(str(value))


def _nth(count: int) -> str:
    ending = "th" if count % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"
