"""The sentences in English, which every other language falls back on.

They are plain and short and name nothing that a person in the chat cannot see.
"""

from collections.abc import Mapping
from typing import Final

from orchestrator.core.sentence_keys import Say

ENGLISH: Final[Mapping[Say, str]] = {
    Say.STILL_WORKING: "Still working on it …",
    Say.CANNOT_START: (
        "The assistant can't be started at the moment. Your message is kept and will be answered "
        "as soon as it works again."
    ),
    Say.NOT_SET_UP: (
        "The assistant can't be started as it is set up: the operator has to look. Your message is kept and "
        "will be answered then."
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
    Say.HELPER_LOST: (
        "Dovecote broke off while a helper was at work, so it was lost: {helpers}. Ask again if you still "
        "need it."
    ),
    Say.HELPERS_LOST: (
        "Dovecote broke off while helpers were at work, so they were lost: {helpers}. Ask again for what you "
        "still need."
    ),
    Say.HELPER_STOPPED: (
        "Dovecote was stopped while a helper was at work, so it was stopped too: {helpers}. Ask again if you "
        "still need it."
    ),
    Say.HELPERS_STOPPED: (
        "Dovecote was stopped while helpers were at work, so they were stopped too: {helpers}. Ask again for "
        "what you still need."
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
    Say.MAYBE_UNANSWERED: (
        "The assistant may have left one of the last messages unanswered. If you miss an answer, ask again."
    ),
    Say.STOPPED: "Stopped.",
    Say.STOPPING: (
        "It has been told to stop, and that takes longer than usual. /status shows when it is over."
    ),
    Say.NOTHING_TO_STOP: "Nothing is running here.",
    Say.NOTHING_TO_RETRY: "There is nothing to run again.",
    Say.RETRYING: "Trying again …",
    Say.ONLY_OPERATORS: (
        "Only operators of the assistant may say /{word} here. /help shows what everybody may say."
    ),
    Say.ONLY_OPERATORS_AT_TERMINAL: (
        "Only operators may say /{word}, and in this chat you are none. To be one here, have this under "
        "[assistant] in dovecote.toml, and start Dovecote anew:\n"
        'operators = ["console:operator"]\n'
        "/help shows what you may say without."
    ),
    Say.ONLY_IN_MAIN_CHAT: "/{word} is said in the main chat, where the question stands.",
    Say.NOT_YOURS_TO_STOP: "Only who asked for what is being done now, or an operator, may stop it.",
    Say.NOT_YOURS_TO_ANSWER: (
        "Only who asked for what the question is about, or an operator, may answer it."
    ),
    Say.NO_GROUP_HERE: "The assistant is not registered in this chat any more, so there is nothing to do.",
    Say.WORD_FAILED: "Sorry, that went wrong. Whoever looks after the assistant finds the reason in its log.",
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
    Say.PROVIDER_REFUSES: (
        "The assistant's model service does not let it in: the operator has to look. Your message is kept "
        "and will be answered then."
    ),
    Say.OPERATOR_PROVIDER_REFUSES: (
        "The provider {provider} refuses the credential of “{group}”, or wants to be paid. Look with: "
        "dovecote provider check {provider}"
    ),
    Say.CONVERSATION_TOO_LONG: (
        "The conversation has become too long for the assistant, so it begins a new one."
    ),
    Say.BUDGET_NEAR: (
        "The assistant has used up most of its budget: {amount}. When that is spent, it pauses until {until}."
    ),
    Say.BUDGET_SPENT: (
        "The assistant has used up its budget, {amount}, and pauses until {until}. What you write is kept "
        "and will be answered then."
    ),
    Say.BUDGET_AGAIN: "The assistant has room in its budget again.",
    Say.BUDGET_TOKENS: "{used} of {limit} tokens a day",
    Say.BUDGET_USD: "{used} of {limit} US dollars a month",
    Say.OPERATOR_BUDGET_NEAR: (
        "The assistant of “{group}” has used up most of its budget: {amount}. When that is spent, it pauses "
        "until {until}."
    ),
    Say.OPERATOR_BUDGET_SPENT: (
        "The assistant of “{group}” has used up its budget, {amount}, and pauses until {until}. To let it go "
        "on before, raise the budget in groups/{folder}/AGENT.md."
    ),
    Say.OPERATOR_BUDGET_AGAIN: "The assistant of “{group}” has room in its budget again.",
    Say.OPERATOR_UNPRICED: (
        "The dollar budget of “{group}” can't be kept: the price of the model {model} is unknown. Add it to "
        "the provider {provider} in providers.toml, or set a budget in tokens."
    ),
    Say.OVER_BUDGET_BOX: (
        "The assistant was stopped because it did with its files what it may not. Write /retry to run your "
        "message again."
    ),
    Say.FILES_FULL: (
        "The assistant's files take more room than they may, so it can't be started until somebody who looks "
        "after it has removed some. What you write is kept and will be answered then."
    ),
    Say.FILES_FULL_STOPPED: (
        "The assistant was stopped because its files take more room than they may. It goes on when whoever "
        "looks after it has removed some; /retry then runs your last message again."
    ),
    Say.FILES_BYTES: "{place} holds more than {mib} MiB.",
    Say.FILES_COUNT: "{place} holds more than {entries} files and directories.",
    Say.FILES_DEPTH: "{place} has directories more than {depth} deep in one another.",
    Say.FILES_EXCHANGED: "{place} is no directory any more.",
    Say.STOPPED_FOR_ROOM: (
        "The assistant was stopped because the disk is nearly full and it was writing the most. Write /retry "
        "to run your message again when there is room."
    ),
    Say.OPERATOR_FILES: (
        "The assistant of “{group}” can't be started for now: {why} Remove what is not needed there; it goes "
        "on by itself then."
    ),
    Say.OPERATOR_NOT_SET_UP: (
        "The assistant of the group {group} can't be started.\n{why}\n"
        "What is written there is kept, and answered by itself when that is mended."
    ),
    Say.OPERATOR_BOX: "The assistant of “{group}” was stopped. {why}",
    Say.OPERATOR_DISK_LOW: (
        "The disk is nearly full: {free_mib} MiB are free. No assistant is started until {floor_mib} MiB are."
    ),
    Say.OPERATOR_DISK_WELL: "There is room on the disk again; assistants are started as before.",
    Say.OPERATOR_STOPPED_FOR_ROOM: (
        "The assistant of “{group}” was stopped: the disk is nearly full, and it was writing the most."
    ),
    Say.SENDERS_BROKEN: (
        "The list of who may call the assistant in “{group}” can't be read, so the last good one still "
        "holds. {why}"
    ),
    Say.SENDERS_UNREADABLE: (
        "The list of who may call the assistant in “{group}” can't be read, so only operators may. {why}"
    ),
    Say.SENDERS_MENDED: "The list of who may call the assistant in “{group}” can be read again.",
    Say.CHANNEL_DOWN: "{channel} can't be reached again and again; I keep trying. The reason: {why}.",
    Say.CHANNEL_UNLINKED: "{channel} needs you: {why}. `{command}` links it again.",
    Say.CHANNEL_WELL: "{channel} is connected again.",
    Say.CHAT_ASKED: (
        "{number}: I was added to the group “{name}”. Shall the assistant answer there, whenever somebody "
        "calls it by {trigger}? Write /yes {number} or /no {number} within 24 hours.\n{effect}"
    ),
    Say.CHAT_ALERT: (
        "{number}: I was added to the group “{name}”. Shall the assistant answer there, whenever somebody "
        "calls it by {trigger}? Within 24 hours: dovecote proposal confirm {number}, or decline {number}."
        "\n{effect}"
    ),
    Say.CHAT_MET: (
        "I was added to the group “{name}” and answer there, whenever somebody calls the assistant by "
        "{trigger}. To end that: dovecote group remove {folder}"
    ),
    Say.CHATS_MANY: (
        "I was added to more groups than I ask about at once. To see them all: dovecote whatsapp groups"
    ),
    Say.CHAT_LEFT: "I am not in the group “{name}” any more, so the assistant can't answer there.",
    Say.BOUND_SENDER: (
        "{name}, you have called me very often within an hour. "
        "I read on, and answer you again from {time} on."
    ),
    Say.BOUND_CHAT: (
        "I was called here very often within an hour. I read on, and answer again from {time} on."
    ),
    Say.BOUND_BOTS: (
        "Several times in a row I was called by programs only, so I leave them unanswered until {time}. "
        "People are answered as always."
    ),
    Say.QUESTION: "The assistant asks (question {number}):",
    Say.QUESTION_WITH_OPTIONS: "Answer with /answer 1 or another number, or with /answer and your own words.",
    Say.QUESTION_WITHOUT_OPTIONS: "Answer with /answer and your words.",
    Say.QUESTION_WITHDRAWN: "Question {number} needs no answer any more.",
    Say.QUESTION_EXPIRED: "Nobody answered question {number} in time. The assistant goes on without.",
    Say.NO_QUESTION: "There is no question to answer here.",
    Say.ANSWER_TAKEN: "Answered: {answer}",
    Say.ANSWER_TOO_LATE: "That comes too late: the question is not open any more.",
    Say.ANSWER_WHICH: "Several questions are open here. Name one by its number, as in /answer #12 yes.",
    Say.ANSWER_EMPTY: "Write your answer behind it, as in /answer yes.",
    Say.ANSWER_NO_SUCH_OPTION: "The question has no option of that number.",
    Say.PROPOSAL_ASKED: (
        "{number}: the assistant of “{group}” wants to {wish}. Others than operators spoke to it, so I ask. "
        "Write /yes {number} or /no {number} within 24 hours.\n{effect}"
    ),
    Say.PROPOSAL_ALERT: (
        "{number}: the assistant of “{group}” wants to {wish}. Others than operators spoke to it, so I ask. "
        "Within 24 hours: dovecote proposal confirm {number}, or decline {number}.\n{effect}"
    ),
    Say.WORKSPACE_ASKED: (
        "The {who} asks that helpers may work in a directory of this machine:\n> {path}\n"
        "To allow it: dovecote workspace approve PATH; to refuse it: dovecote workspace reject PATH."
    ),
    Say.PROPOSAL_DONE: "{number} is done ({wish}).",
    Say.PROPOSAL_FAILED: "{number} could not be done ({wish}). {why}",
    Say.PROPOSAL_DECLINED: "{number} is dropped ({wish}).",
    Say.PROPOSAL_EXPIRED: "{number} has lapsed, since nobody answered within 24 hours ({wish}).",
    Say.PROPOSAL_GRANTED_HERE: "The operator agreed, and it is done: {wish}.",
    Say.PROPOSAL_FAILED_HERE: "The operator agreed, but it could not be done: {wish}.",
    Say.PROPOSAL_DECLINED_HERE: "The operator said no to this: {wish}.",
    Say.PROPOSAL_EXPIRED_HERE: "The operator did not answer in time, so this was not done: {wish}.",
    Say.PROPOSAL_NOT_OPEN: "Nothing with the number {number} waits for an answer.",
    Say.PROPOSAL_WHICH: "Say which, such as /{word} {number}. These wait for an answer: {numbers}.",
    Say.PROPOSALS_NONE: "Nothing waits for an answer.",
    Say.TURN_CUT: "[… cut here: the answer was longer than 10 MiB]",
    Say.TURN_TOO_FAST: "[… cut here: the answer came in too many messages at once]",
    Say.RESENT_NOTE: "(Sent again: the connection broke off, so you may see this twice.)",
    Say.HELP: (
        "/status shows how things stand here.\n"
        "/tasks lists what is planned here.\n"
        "/new begins a new conversation.\n"
        "/stop stops what the assistant does.\n"
        "/retry runs again what went wrong.\n"
        "/answer answers a question of the assistant.\n"
        "/yes and /no say whether it may do what it proposes, in the main chat.\n"
        "/help shows this."
    ),
    Say.HELP_FOR_MEMBERS: (
        "/stop stops what you asked the assistant to do.\n"
        "/retry runs again what went wrong for you.\n"
        "/answer answers what the assistant asks you.\n"
        "/help shows this."
    ),
    Say.NEW_CONVERSATION: "Your next message begins a new conversation.",
    Say.STATUS_AT_WORK: "The assistant is at work.",
    Say.STATUS_AWAKE: "The assistant is awake and has nothing to do.",
    Say.STATUS_ASLEEP: "The assistant is asleep; a message wakes it.",
    Say.STATUS_WAITING: "Messages waiting: {count}.",
    Say.STATUS_FILES_FULL: (
        "It can't be started: its files take more room than they may, and somebody has to remove some."
    ),
    Say.STATUS_USED: "Used today: {tokens} tokens.",
    Say.STATUS_USED_WITH_COST: "Used today: {tokens} tokens; this month: {usd} US dollars.",
    Say.STATUS_BUDGET_SPENT: "It pauses, since its budget is used up.",
    Say.STATUS_QUESTION: "Question {number} waits for an answer: /answer.",
    Say.STATUS_PROPOSAL: "Proposal {number} waits for your word: /yes {number} or /no {number}.",
    Say.STATUS_NEXT_TASK: "Next task: “{title}”, {time}.",
    Say.STATUS_NO_TASK: "No task is planned.",
    Say.NO_TASKS: "There are no tasks here.",
    Say.TASK_PLANNED: "{number}. “{title}”, {time}",
    Say.TASK_RESTS: "{number}. “{title}”, paused",
    Say.TASKS_MORE: "… and {count} more.",
}
