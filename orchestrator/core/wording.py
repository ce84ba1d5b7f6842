"""Every sentence that Dovecote itself says to people in a chat.

A catalogue is a table of templates for one language; another language is another table. Sentences
are plain and short and name nothing that a person in the chat cannot see.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Say(StrEnum):
    """What there is to say. The facts that a sentence takes are the fields of its template."""

    STILL_WORKING = "still_working"
    CANNOT_START = "cannot_start"
    NO_ROOM = "no_room"
    WORKING_AGAIN = "working_again"
    PARTIAL = "partial"
    FAILED = "failed"
    HELD_TOO_LONG = "held_too_long"
    TIMED_OUT = "timed_out"
    EMPTY_ANSWER = "empty_answer"
    STOPPED = "stopped"
    NOTHING_TO_STOP = "nothing_to_stop"
    NOTHING_TO_RETRY = "nothing_to_retry"
    RETRYING = "retrying"
    NOT_ALLOWED = "not_allowed"
    TASK_MISSED = "task_missed"
    TASK_INTERRUPTED = "task_interrupted"
    TASK_FAILED = "task_failed"
    TASK_PAUSED = "task_paused"
    TASK_UNREADABLE = "task_unreadable"
    DELIVERY_FAILED = "delivery_failed"
    DELAYED_PREFIX = "delayed_prefix"
    PROVIDER_TROUBLE = "provider_trouble"
    PROVIDER_BACK = "provider_back"
    OVER_BUDGET_BOX = "over_budget_box"
    TURN_CUT = "turn_cut"
    TURN_TOO_FAST = "turn_too_fast"
    RESENT_NOTE = "resent_note"
    HELP = "help"
    HELP_FOR_MEMBERS = "help_for_members"
    NEW_CONVERSATION = "new_conversation"
    STATUS_AT_WORK = "status_at_work"
    STATUS_AWAKE = "status_awake"
    STATUS_ASLEEP = "status_asleep"
    STATUS_WAITING = "status_waiting"
    STATUS_NEXT_TASK = "status_next_task"
    STATUS_NO_TASK = "status_no_task"
    NO_TASKS = "no_tasks"
    TASK_PLANNED = "task_planned"
    TASK_RESTS = "task_rests"
    TASKS_MORE = "tasks_more"


ENGLISH: Final[Mapping[Say, str]] = {
    Say.STILL_WORKING: "Still working on it …",
    Say.CANNOT_START: (
        "The assistant can't be started at the moment. Your message is kept and will be answered "
        "as soon as it works again."
    ),
    Say.NO_ROOM: (
        "There is too little space left on the disk to answer. Your message is kept and will be answered "
        "when there is room again."
    ),
    Say.WORKING_AGAIN: "The assistant is working again.",
    Say.PARTIAL: (
        "The assistant stopped half-way. What it has done so far stands. Write /retry to run your "
        "message again."
    ),
    Say.FAILED: (
        "Sorry, the assistant could not finish this after several tries. Write /retry to try once more."
    ),
    Say.HELD_TOO_LONG: (
        "Sorry, the assistant could not be reached for a whole day, so this was not answered. Write /retry "
        "to try once more."
    ),
    Say.TIMED_OUT: (
        "This took too long, so the assistant was stopped. What it has done so far stands. Write /retry "
        "to run your message again."
    ),
    Say.EMPTY_ANSWER: "The assistant had nothing to say to this. Try putting it another way.",
    Say.STOPPED: "Stopped.",
    Say.NOTHING_TO_STOP: "Nothing is running here.",
    Say.NOTHING_TO_RETRY: "There is nothing to run again.",
    Say.RETRYING: "Trying again …",
    Say.NOT_ALLOWED: "Sorry, you may not do that here.",
    Say.TASK_MISSED: "“{title}” was due while I was not running, too long ago to make up for.",
    Say.TASK_INTERRUPTED: "“{title}” was interrupted half-way. What it has done so far stands.",
    Say.TASK_FAILED: "“{title}” did not work this time.",
    Say.TASK_PAUSED: "“{title}” failed several times in a row, so it is paused now.",
    Say.TASK_UNREADABLE: "“{title}” is paused: its schedule or timezone can't be read any more.",
    Say.DELIVERY_FAILED: "A message to {chat_name} could not be delivered.",
    Say.DELAYED_PREFIX: "[from {time}] ",
    Say.PROVIDER_TROUBLE: (
        "The assistant's model service is busy or away at the moment. Your message is kept and will be "
        "answered when it is back."
    ),
    Say.PROVIDER_BACK: "The model service is back.",
    Say.OVER_BUDGET_BOX: (
        "The assistant was stopped because it did with its files what it may not. Write /retry to run your "
        "message again."
    ),
    Say.TURN_CUT: "[… cut here: the answer was longer than 10 MiB]",
    Say.TURN_TOO_FAST: "[… cut here: the answer came in too many messages at once]",
    Say.RESENT_NOTE: "(Sent again: the connection broke off, so you may see this twice.)",
    Say.HELP: (
        "/status shows how things stand here.\n"
        "/tasks lists what is planned here.\n"
        "/new begins a new conversation.\n"
        "/stop stops what the assistant does.\n"
        "/retry runs again what went wrong.\n"
        "/help shows this."
    ),
    Say.HELP_FOR_MEMBERS: (
        "/stop stops what you asked the assistant to do.\n"
        "/retry runs again what went wrong for you.\n"
        "/help shows this."
    ),
    Say.NEW_CONVERSATION: "Your next message begins a new conversation.",
    Say.STATUS_AT_WORK: "The assistant is at work.",
    Say.STATUS_AWAKE: "The assistant is awake and has nothing to do.",
    Say.STATUS_ASLEEP: "The assistant is asleep; a message wakes it.",
    Say.STATUS_WAITING: "Messages waiting: {count}.",
    Say.STATUS_NEXT_TASK: "Next task: “{title}”, {time}.",
    Say.STATUS_NO_TASK: "No task is planned.",
    Say.NO_TASKS: "There are no tasks here.",
    Say.TASK_PLANNED: "{number}. “{title}”, {time}",
    Say.TASK_RESTS: "{number}. “{title}”, paused",
    Say.TASKS_MORE: "… and {count} more.",
}

CATALOGUES: Final[Mapping[str, Mapping[Say, str]]] = {"en": ENGLISH}
"""Language to sentences. What a catalogue lacks is said in English."""


def knows_language(locale: str) -> bool:
    """Whether there are sentences in the language of `locale`."""
    return _language(locale) in CATALOGUES


def say(key: Say, locale: str, **facts: object) -> str:
    """The sentence in the language of `locale`, such as `en` or `pt_BR.UTF-8`; English if it is not known.

    facts: every field of the template; their values stand in the sentence as they are.
    """
    template = CATALOGUES.get(_language(locale), ENGLISH).get(key, ENGLISH[key])
    return template.format(**facts)


def _language(locale: str) -> str:
    return locale.replace("-", "_").partition("_")[0].partition(".")[0].lower()
