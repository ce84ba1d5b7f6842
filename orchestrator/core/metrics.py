"""The numbers of `/metrics`: their names, and where their values come from."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.standing import Backlog, Standing
from orchestrator.core.incidents import kind_of

Sample = tuple[Mapping[str, str], float]
"""A value with its labels."""


class MetricKind(StrEnum):
    """What may become of a value: it goes up and down, or only up."""

    GAUGE = "gauge"
    COUNTER = "counter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the values are taken from. refused, troubles: as of `StatusReport`."""

    standing: Standing
    refused: int
    troubles: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One name. labels: what its values are told apart by."""

    name: str
    kind: MetricKind
    meaning: str
    samples: Callable[[Reading], Iterable[Sample]]
    labels: tuple[str, ...] = ()


def _one(value: float) -> list[Sample]:
    return [({}, value)]


def _by(label: str, counts: Mapping[str, int]) -> list[Sample]:
    return [({label: name}, count) for name, count in sorted(counts.items())]


def _age_s(backlog: Backlog, at: datetime) -> float:
    return 0.0 if backlog.oldest_at is None else max((at - backlog.oldest_at).total_seconds(), 0.0)


def _heard(reading: Reading) -> list[Sample]:
    return [
        ({"channel": each.channel, "kind": "group" if each.is_group else "direct"}, each.last_at.timestamp())
        for each in reading.standing.heard
        if each.last_at is not None
    ]


def _incidents(reading: Reading) -> list[Sample]:
    kinds = [kind_of(each.name) for each in reading.standing.incidents]
    return _by("kind", {kind: kinds.count(kind) for kind in kinds})


def _ever(name: str) -> Callable[[Reading], list[Sample]]:
    return lambda reading: _one(reading.standing.ever.get(name, 0))


def _gauge(name: str, meaning: str, samples: Callable[[Reading], Iterable[Sample]], *labels: str) -> Metric:
    return Metric(name=name, kind=MetricKind.GAUGE, meaning=meaning, samples=samples, labels=labels)


def _counter(name: str, meaning: str, samples: Callable[[Reading], Iterable[Sample]]) -> Metric:
    return Metric(name=name, kind=MetricKind.COUNTER, meaning=meaning, samples=samples)


METRICS: Final[Sequence[Metric]] = (
    _gauge("dovecote_groups", "registered groups", lambda r: _one(len(r.standing.groups))),
    _gauge(
        "dovecote_last_inbound_timestamp_seconds",
        "when the last message came, in Unix time; none where none ever came",
        _heard,
        "channel",
        "kind",
    ),
    _gauge(
        "dovecote_messages_waiting",
        "messages that set the assistant off and that no agent has yet",
        lambda r: _one(r.standing.waiting.count),
    ),
    _gauge(
        "dovecote_messages_waiting_oldest_seconds",
        "since when the oldest of them waits; 0 where none does",
        lambda r: _one(_age_s(r.standing.waiting, r.standing.at)),
    ),
    _gauge(
        "dovecote_messages_at_work",
        "messages that an agent has and that have no outcome",
        lambda r: _one(r.standing.at_work.count),
    ),
    _gauge("dovecote_agents", "agents that live", lambda r: _by("status", r.standing.agents), "status"),
    _gauge(
        "dovecote_outbox_texts",
        "texts on their way out",
        lambda r: _by("status", r.standing.outgoing.by_status),
        "status",
    ),
    _gauge(
        "dovecote_outbox_oldest_seconds",
        "since when the oldest of them waits to be sent; 0 where none does",
        lambda r: _one(_age_s(r.standing.outgoing.waiting, r.standing.at)),
    ),
    _gauge(
        "dovecote_outbox_failed_last_day",
        "texts of the last day that could not be delivered",
        lambda r: _one(r.standing.outgoing.failed.count),
    ),
    _gauge("dovecote_tasks", "tasks", lambda r: _by("status", r.standing.schedule.by_status), "status"),
    _gauge(
        "dovecote_tasks_overdue",
        "tasks whose time is past by more than 5 minutes and that did not run",
        lambda r: _one(r.standing.schedule.late),
    ),
    _gauge(
        "dovecote_incidents", "incidents that people were told of and that are not over", _incidents, "kind"
    ),
    _gauge(
        "dovecote_parts_in_trouble",
        "parts that are being started again, and channels that are not open",
        lambda r: _one(len(r.troubles)),
    ),
    _gauge(
        "dovecote_requests_refused_last_day",
        "requests of agents that were refused in the last day",
        lambda r: _one(r.refused),
    ),
    _gauge(
        "dovecote_spawns_refused_last_day",
        "spawns that were refused in the last day, by box, HTTP or tool, by the code of the error",
        lambda r: _by("code", r.standing.refused_spawns),
        "code",
    ),
    _gauge(
        "dovecote_proposals_open", "wishes that wait for an operator", lambda r: _one(r.standing.proposals)
    ),
    _gauge(
        "dovecote_questions_open",
        "questions of agents without an answer",
        lambda r: _one(r.standing.questions),
    ),
    _gauge(
        "dovecote_usage_tokens_today",
        "tokens that agents used since midnight of assistant.timezone",
        lambda r: _one(r.standing.used_today.tokens),
    ),
    _gauge(
        "dovecote_usage_usd_today",
        "what they cost in US dollars, as far as prices are known",
        lambda r: _one(r.standing.used_today.cost_usd or 0.0),
    ),
    _gauge(
        "dovecote_provider_calls_failed_today",
        "calls to providers since that midnight that failed",
        lambda r: _one(r.standing.used_today.failed_calls),
    ),
    _counter(
        "dovecote_messages_numbered_total",
        "numbers given to messages; one that is delivered twice may take two",
        _ever("messages"),
    ),
    _counter(
        "dovecote_texts_numbered_total",
        "numbers given to texts on their way out, one each; one that is met again may take two",
        _ever("outbox"),
    ),
    _counter("dovecote_events_total", "events of agents that were noted", _ever("event_log")),
)
"""All of them, in the order of the answer."""
