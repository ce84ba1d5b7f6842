"""The doctor's judgement of what waits: messages, agents, texts, tasks, wishes, alerts."""

from datetime import timedelta
from typing import Final

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.cli.status_lines import age, refused_in_words
from orchestrator.contracts.records.standing import Standing, TaskLine
from orchestrator.core.incidents import in_words
from orchestrator.core.text_cleaning import clean_name, clean_text

WAITS_LONG: Final = timedelta(minutes=15)
_SLACK: Final = timedelta(minutes=10)
_SERVE: Final = "dovecote serve"
_MAX_CHARS: Final = 200


def check_messages(standing: Standing, patient: Patient) -> Finding:
    """No message waits for long without a reason."""
    what, waiting = "messages", standing.waiting
    count = waiting.count + standing.at_work.count
    if patient.pid is None and count:
        return doubtful(what, f"{count} have no answer yet, and no orchestrator runs.", _SERVE)
    if (stuck := _stuck_turn(standing, patient)) is not None:
        return stuck
    since = waiting.oldest_at
    if since is None or standing.at - since < WAITS_LONG:
        return well(what, f"{count} have no answer yet." if count else "None waits.")
    said = f"{waiting.count} wait, the oldest of {waiting.chat} for {age(since, standing.at)}"
    folders = {str(each.jid): str(each.folder) for each in standing.groups}
    if waiting.chat not in folders:
        why = f"{said}; that chat is no registered group."
        return broken(what, why, f"dovecote group add FOLDER --jid {waiting.chat}")
    for incident in standing.incidents:
        if incident.name.endswith(f":{waiting.chat}"):
            known = in_words(incident.name, folders=folders)
            if known is not None:
                return doubtful(what, f"{said}: {known.what}", known.mend)
    limit = patient.settings.queue.max_running
    if standing.turns.count >= limit:
        why = f"{said}; all {limit} turns that may run at once do (queue.max_running)."
        return doubtful(what, why, "See who works: dovecote top; or set queue.max_running higher.")
    return broken(what, f"{said}, and nothing says why.", f"Restart: kill {patient.pid}, then: {_SERVE}")


def _stuck_turn(standing: Standing, patient: Patient) -> Finding | None:
    """A turn that should have been ended by its limit; the clocks of one that asks people stand still."""
    began = standing.turns.oldest_at
    longest = timedelta(seconds=patient.settings.agent.turn_limit_s) + _SLACK
    if began is None or standing.questions or standing.at - began < longest:
        return None
    old = age(began, standing.at)
    why = f"A turn in {standing.turns.chat} is {old} old; agent.turn_limit_s did not end it."
    return broken("messages", why, "Find it by `dovecote agent list`, then: dovecote agent stop ID")


def check_agents(standing: Standing, patient: Patient) -> Finding:
    """Agents that live have somebody who minds them, and none starts for ever."""
    what, count = "agents", sum(standing.agents.values())
    if patient.pid is None and count:
        why = f"{count} lived when the last orchestrator ended."
        return doubtful(what, why, f"{_SERVE}   (it goes on with them, or ends them)")
    since = standing.oldest_start_at
    longest = timedelta(seconds=patient.settings.agent.start_timeout_s) + _SLACK
    if since is not None and standing.at - since > longest:
        why = f"One has been starting for {age(since, standing.at)} (agent.start_timeout_s did not end it)."
        return broken(what, why, "Find it by `dovecote agent list`, then: dovecote agent stop ID")
    return well(what, f"{count} live." if count else "None lives.")


def check_outbox(standing: Standing, patient: Patient) -> Finding:
    """Texts leave, and none was lost on its way."""
    what, outgoing = "outbox", standing.outgoing
    since = outgoing.waiting.oldest_at
    if since is not None and patient.pid is None:
        return doubtful(what, f"{outgoing.waiting.count} texts wait, and no orchestrator runs.", _SERVE)
    if since is not None and standing.at - since > WAITS_LONG:
        why = (
            f"{outgoing.waiting.count} texts wait, the oldest for {outgoing.waiting.chat} since "
            f"{age(since, standing.at)}."
        )
        return doubtful(what, why, "See whether its channel is open: dovecote status")
    if outgoing.unknown.count:
        how = patient.settings.outbox.on_unknown_send
        why = (
            f"Nobody knows whether {outgoing.unknown.count} texts arrived (outbox.on_unknown_send is {how})."
        )
        return doubtful(what, why, "Look into the chat; `resend` sends such texts again, `hold` does not.")
    if outgoing.failed.count:
        error = clean_text(outgoing.last_error or "no reason was given")[:_MAX_CHARS]
        why = f"{outgoing.failed.count} texts of the last day could not be delivered. The newest: {error}"
        return doubtful(
            what, why, "Mend what the error names. The texts are not sent again; agents were told."
        )
    return well(what, "Every text of the last day has left, or is leaving.")


def check_schedule(standing: Standing, patient: Patient) -> Finding:
    """Tasks run when they should, and none was paused because it failed."""
    what, schedule = "schedule", standing.schedule
    if schedule.overdue:
        first = schedule.overdue[0]
        assert first.due_at is not None
        why = f"{_named(first)} should have run {age(first.due_at, standing.at)} ago"
        if patient.pid is None:
            return doubtful(what, f"{why}; no orchestrator runs.", _SERVE)
        return broken(what, f"{why}.", f"dovecote task show {first.task_id}; its log in data/logs says more.")
    if schedule.paused_by_failure:
        first = schedule.paused_by_failure[0]
        why = f"{_named(first)} is paused: {clean_text(first.paused_why or '')[:_MAX_CHARS]}."
        mend = f"dovecote task history {first.task_id}, then: dovecote task resume {first.task_id}"
        return doubtful(what, why, mend)
    failing = [task for task in schedule.next_tasks if task.failures]
    if failing:
        why = f"{_named(failing[0])} failed the last {failing[0].failures} times."
        return doubtful(what, why, f"dovecote task history {failing[0].task_id}")
    return well(what, f"{schedule.by_status.get('active', 0)} tasks are active; none is late.")


def _named(task: TaskLine) -> str:
    return f"The task {clean_name(task.title)!r} of {task.group}"


def check_wishes(standing: Standing, patient: Patient) -> Finding:
    """No agent waits for an operator's yes or no."""
    if standing.proposals:
        why = f"{standing.proposals} wishes of agents wait for your yes or no."
        return doubtful("wishes", why, "dovecote proposal list")
    return well("wishes", "None waits for your yes or no.")


def check_told(standing: Standing, patient: Patient) -> Finding:
    """What `alerts.command` is to be told was told."""
    since = standing.alerts.oldest_at
    if since is None or standing.at - since < WAITS_LONG:
        return well("told", "alerts.command has nothing to be told.")
    why = f"{standing.alerts.count} alerts for operators wait, the oldest since {age(since, standing.at)}."
    if patient.pid is None:
        return doubtful("told", why, _SERVE)
    mend = (
        "Try its program by hand, with a text on its standard input; the log in data/logs says how it failed."
    )
    return doubtful("told", why, mend)


def check_spawns(standing: Standing, patient: Patient) -> Finding:
    """No spawn was refused lately, by whatever way it was asked for."""
    what = "spawns"
    if standing.refused_spawns:
        return doubtful(what, f"{refused_in_words(standing.refused_spawns)}.", "dovecote errors")
    return well(what, "No spawn was refused in the last day.")
