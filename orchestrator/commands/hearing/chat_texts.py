"""What `/status` and `/tasks` show of a chat, in its language."""

from datetime import datetime
from typing import Final

from orchestrator.commands.services import Services
from orchestrator.commands.usage.dir_budgets import FULL
from orchestrator.commands.usage.spending_notes import SPENT
from orchestrator.commands.usage.usage_meter import spent_now, zone_of
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.tasks import Task, TaskStatus
from orchestrator.core.sentence_keys import Say
from orchestrator.core.tasks.schedule import zone_or_utc
from orchestrator.core.wording import say
from orchestrator.store import agents, messages, notices, proposals, questions, tasks
from orchestrator.store.transaction import Transaction

_MAX_LINES: Final = 20
_STATUS: Final = {True: Say.STATUS_AT_WORK, False: Say.STATUS_AWAKE, None: Say.STATUS_ASLEEP}


def status_text(tx: Transaction, services: Services, group: Group) -> str:
    """Whether its agent runs, how many messages wait, what it used and asked, what is planned next; in main
    also what waits for an operator's word."""
    planned = [(at, task) for task in tasks.of_group(tx, group.folder) if (at := _planned_at(task))]
    lines = [
        say(_STATUS[agents.is_chat_at_work(tx, group.jid)], group.locale),
        say(Say.STATUS_WAITING, group.locale, count=len(messages.pending_triggers(tx, group.jid))),
    ]
    if notices.is_told(tx, f"{FULL}:{group.jid}"):
        lines.insert(1, say(Say.STATUS_FILES_FULL, group.locale))
    if notices.is_told(tx, f"{SPENT}:{group.jid}"):
        lines.insert(1, say(Say.STATUS_BUDGET_SPENT, group.locale))
    lines += _used(tx, services, group)
    lines += [
        say(Say.STATUS_QUESTION, group.locale, number=question.number)
        for question in questions.open_in(tx, group.jid)
    ]
    if group.is_main:
        lines += [
            say(Say.STATUS_PROPOSAL, group.locale, number=proposal.number)
            for proposal in proposals.all_open(tx)
        ]
    if planned:
        at, task = min(planned, key=lambda each: (each[0], each[1].task_id))
        lines.append(
            say(Say.STATUS_NEXT_TASK, group.locale, title=task.title, time=_shown(at, task.timezone))
        )
    else:
        lines.append(say(Say.STATUS_NO_TASK, group.locale))
    return "\n".join(lines)


def _used(tx: Transaction, services: Services, group: Group) -> list[str]:
    """What it used of its provider, if it did."""
    spent = spent_now(tx, group, zone_of(services, group), at=services.clock.now())
    tokens, usd = f"{spent.tokens_today:,}", f"{spent.usd_this_month:,.2f}"
    if spent.usd_this_month:
        return [say(Say.STATUS_USED_WITH_COST, group.locale, tokens=tokens, usd=usd)]
    return [say(Say.STATUS_USED, group.locale, tokens=tokens)] if spent.tokens_today else []


def tasks_text(tx: Transaction, group: Group) -> str:
    """One line a task of the group that is active or paused, oldest first."""
    found = tasks.of_group(tx, group.folder)
    if not found:
        return say(Say.NO_TASKS, group.locale)
    lines = [_line(task, number, group.locale) for number, task in enumerate(found[:_MAX_LINES], start=1)]
    if len(found) > _MAX_LINES:
        lines.append(say(Say.TASKS_MORE, group.locale, count=len(found) - _MAX_LINES))
    return "\n".join(lines)


def _line(task: Task, number: int, locale: str) -> str:
    at = _planned_at(task)
    if at is None:
        return say(Say.TASK_RESTS, locale, number=number, title=task.title)
    time = _shown(at, task.timezone)
    return say(Say.TASK_PLANNED, locale, number=number, title=task.title, time=time)


def _planned_at(task: Task) -> datetime | None:
    return task.next_run_at if task.status is TaskStatus.ACTIVE else None


def _shown(at: datetime, zone: str) -> str:
    local = at.astimezone(zone_or_utc(zone))
    return f"{local:%Y-%m-%d %H:%M} ({local.tzinfo})"
