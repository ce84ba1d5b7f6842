"""The lines of `dovecote status`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from orchestrator.commands.standing import StatusReport
from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.standing import Backlog, LastHeard, Standing
from orchestrator.contracts.wire.agent_words import queued_in_words, stand_of
from orchestrator.core.chat.bounds import Bound, met_bound
from orchestrator.core.incidents import in_words
from orchestrator.core.tasks.schedule import zone_or_utc
from orchestrator.core.text_cleaning import clean_name, clean_text

_MAX_WHY_CHARS: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAt:
    """Where it was looked. pid: who runs there; None: nobody does."""

    home: str
    pid: int | None


def status_lines(report: StatusReport, place: LookedAt) -> list[str]:
    """All of them, each with its head, which is not said twice."""
    rows = list(_rows(report, place))
    width = max(len(head) for head, _ in rows)
    lines: list[str] = []
    before = ""
    for head, text in rows:
        lines.append(f"{'' if head == before else head:<{width}}  {text}")
        before = head
    return lines


def age(since: datetime, now: datetime) -> str:
    """How long ago that was, such as `5 min`; an instant to come is `0 s`."""
    seconds = max(int((now - since).total_seconds()), 0)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min"
    if seconds < 2 * 86_400:
        return f"{seconds // 3600} h"
    return f"{timedelta(seconds=seconds).days} days"


def heard_in_words(kinds: Sequence[LastHeard], now: datetime) -> str:
    """When a channel was heard last, by kind of chat."""
    last = {each.is_group: each.last_at for each in kinds}
    words = [
        f"in {name} {'never' if (at := last.get(is_group)) is None else f'{age(at, now)} ago'}"
        for is_group, name in ((True, "groups"), (False, "direct chats"))
    ]
    return f"heard {', '.join(words)}"


def refused_in_words(by_code: Mapping[str, int]) -> str:
    """How many spawns were refused in the last day, and why: the most frequent reason first."""
    count = sum(by_code.values())
    in_order = sorted(by_code.items(), key=lambda each: (-each[1], each[0]))
    reasons = ", ".join(f"{number} {code}" for code, number in in_order)
    return f"{count} spawn{' was' if count == 1 else 's were'} refused in the last day: {reasons}"


def _rows(report: StatusReport, place: LookedAt) -> Iterator[tuple[str, str]]:
    standing = report.standing
    runs = "none runs here" if place.pid is None else f"process {place.pid} runs, version {report.version}"
    yield "orchestrator", f"{runs}; home {place.home}"
    yield from _channels(report)
    names = [_group(each) for each in standing.groups]
    yield "groups", f"{len(names)}: {', '.join(names)}" if names else "none"
    yield from _queue(report)
    yield from _bounds(standing)
    yield "agents", _agents(standing, is_known=place.pid is not None)
    yield from _tasks(standing)
    yield "outbox", _outbox(standing)
    yield from _asked(standing)
    yield from _errors(report)
    yield "usage", _usage(standing)


def _group(group: Group) -> str:
    """Its folder, and what sets the assistant off there."""
    trigger = clean_name(group.trigger) if group.requires_trigger else "every message"
    return f"{group.folder} ({'main, ' if group.is_main else ''}{trigger})"


def _channels(report: StatusReport) -> Iterator[tuple[str, str]]:
    standing = report.standing
    known = {name: list(kinds) for name, kinds in groupby(standing.heard, key=lambda each: each.channel)}
    for name, kinds in known.items():
        trouble = report.troubles.get(name)
        state = f"not open: {_told(trouble)}; " if trouble else ""
        yield "channels", f"{name}: {state}{heard_in_words(kinds, standing.at)}"
    if not known:
        yield "channels", "nothing was ever heard"


def _told(why: str) -> str:
    """A reason on one line; of a very long one the beginning, and where the rest is."""
    text = " ".join(clean_text(why).split())
    return text if len(text) <= _MAX_WHY_CHARS else f"{text[:_MAX_WHY_CHARS]}… (the rest: dovecote doctor)"


def _queue(report: StatusReport) -> Iterator[tuple[str, str]]:
    """What waits for an agent, and which agents wait for a place."""
    standing = report.standing
    waiting = _backlog(standing.waiting, standing.at, one="message waits", more="messages wait")
    working = f"; {standing.at_work.count} with an agent" if standing.at_work.count else ""
    yield "queue", f"{waiting}{working}"
    queued = standing.agents.get(AgentStatus.PENDING, 0)
    for reason, count in report.queued.items():
        yield "queue", f"{_agents_wait(count)}: {queued_in_words(reason)}"
    if (others := queued - sum(report.queued.values())) > 0:
        yield "queue", _agents_wait(others)


def _agents_wait(count: int) -> str:
    return f"{count} agent{' waits' if count == 1 else 's wait'} for a place"


def _bounds(standing: Standing) -> Iterator[tuple[str, str]]:
    for each in bounds_in_words(standing):
        yield "bounds", each


def bounds_in_words(standing: Standing) -> list[str]:
    """Who is not answered now, until when, and by which setting."""
    chats = {each.jid: each for each in standing.groups}
    words = []
    for incident in standing.bounds:
        met = met_bound(incident.name, incident.opened_at, chats=chats)
        if met is not None:
            whom = "programs are" if met.bound is Bound.BOTS else "nobody is"
            whom = whom if met.sender is None else f"{clean_name(met.sender)} is"
            until = met.until.astimezone()
            where = chats[met.chat].folder
            words.append(f"in {where} {whom} not answered until {until:%H:%M %Z} ({met.setting})")
    return words


def _backlog(backlog: Backlog, now: datetime, *, one: str, more: str) -> str:
    if backlog.oldest_at is None:
        return f"no {one}"
    whose = "" if backlog.chat is None else f" ({clean_name(backlog.chat)})"
    words = one if backlog.count == 1 else more
    return f"{backlog.count} {words}, the oldest for {age(backlog.oldest_at, now)}{whose}"


def _agents(standing: Standing, *, is_known: bool) -> str:
    """How many stand how. is_known: by whom minds them; else it is what was so last."""
    words = ", ".join(f"{count} {stand_of(status)}" for status, count in standing.agents.items())
    return (words if is_known else f"last known: {words}") if words else "none lives"


def _tasks(standing: Standing) -> Iterator[tuple[str, str]]:
    counts = [f"{count} {status}" for status, count in standing.schedule.by_status.items()]
    yield "tasks", ", ".join(counts) or "none"
    for task in standing.schedule.next_tasks:
        if task.due_at is not None:
            local = task.due_at.astimezone(zone_or_utc(task.timezone))
            yield "next", f"{local:%Y-%m-%d %H:%M} {task.timezone}  {task.group}: {clean_name(task.title)}"


def _outbox(standing: Standing) -> str:
    outgoing = standing.outgoing
    words = [_backlog(outgoing.waiting, standing.at, one="text waits", more="texts wait")]
    if outgoing.unknown.count:
        words.append(f"{outgoing.unknown.count} of unknown fate")
    if outgoing.failed.count:
        words.append(f"{outgoing.failed.count} failed in the last day")
    return "; ".join(words)


def _asked(standing: Standing) -> Iterator[tuple[str, str]]:
    if standing.proposals:
        yield "asked", f"{standing.proposals} wishes wait for your yes or no (dovecote proposal list)"
    if standing.questions:
        yield "asked", f"{standing.questions} questions of agents have no answer yet"


def _errors(report: StatusReport) -> Iterator[tuple[str, str]]:
    standing = report.standing
    folders = {str(each.jid): str(each.folder) for each in standing.groups}
    channels = {each.channel for each in standing.heard}
    found = [
        f"{words.what} Since {age(each.opened_at, standing.at)}. → {words.mend}"
        for each in standing.incidents
        if (words := in_words(each.name, folders=folders)) is not None
    ]
    found += [f"{name}: {_told(why)}" for name, why in report.troubles.items() if name not in channels]
    if report.refused:
        found.append(f"{report.refused} requests were refused in the last day (dovecote errors)")
    if standing.refused_spawns:
        found.append(f"{refused_in_words(standing.refused_spawns)} (dovecote errors)")
    for text in found or ["none that is not over (dovecote doctor looks closer)"]:
        yield "errors", text


def _usage(standing: Standing) -> str:
    used = standing.used_today
    cost = "" if used.cost_usd is None else f", {used.cost_usd:.4f} USD"
    unpriced = f" and {used.unpriced_calls} calls without a price" if used.unpriced_calls else ""
    failed = f" ({used.failed_calls} failed)" if used.failed_calls else ""
    return f"today {used.calls} calls{failed}, {used.tokens:,} tokens{cost}{unpriced}"
