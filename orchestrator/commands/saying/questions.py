"""Questions of agents to people, and their answers. Source: contracts.md section 6."""

from datetime import datetime
from typing import Final

from orchestrator.commands.saying.outgoing import presentable, queue_notice, queue_text
from orchestrator.commands.saying.word_answers import answer_word, refuse_word
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, TurnId, is_file_name
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.messages import SenderRole, TextSource
from orchestrator.contracts.records.questions import Question, QuestionStatus
from orchestrator.contracts.records.words import SpokenWord
from orchestrator.contracts.wire.container_io import WaitingInput
from orchestrator.core.chat.answers import ReadAnswer, Unclear, read_answer
from orchestrator.core.chat.senders import is_same_person
from orchestrator.core.chat.splitting import split_text
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.question import QUESTION, QuestionEvent
from orchestrator.core.text_cleaning import cap_text, clean_name
from orchestrator.core.wording import say
from orchestrator.store import agents, contacts, groups, messages, questions
from orchestrator.store.transaction import Transaction

_MAX_QUESTION_BYTES: Final = 4_096
_MAX_OPTIONS: Final = 20
_MAX_OPTION_CHARS: Final = 400
_UNCLEAR: Final = {
    Unclear.WHICH: Say.ANSWER_WHICH,
    Unclear.EMPTY: Say.ANSWER_EMPTY,
    Unclear.NO_SUCH_OPTION: Say.ANSWER_NO_SUCH_OPTION,
}


def ask(
    tx: Transaction,
    services: Services,
    agent: Agent,
    event: WaitingInput,
    *,
    turn_id: TurnId | None,
    at: datetime,
) -> str | None:
    """Put an agent's question into its chat, in our own frame. Asked again it changes nothing.

    Returns why it is not asked, for the agent; None if it is.
    """
    # Cut before they are cleaned: an event may hold a MiB, and all chats wait for the store's thread.
    cut = cap_text(event.question[: _MAX_QUESTION_BYTES + 1], _MAX_QUESTION_BYTES)
    text = presentable(cut)
    options = tuple(clean_name(option[:_MAX_OPTION_CHARS]) for option in event.options[: _MAX_OPTIONS + 1])
    if any(each.question_id == event.question_id for each in questions.of_agent(tx, agent.agent_id)):
        return None
    refusal = _refusal(tx, services, agent, event, text, options)
    if refusal is not None or turn_id is None or not _is_open(tx, agent, turn_id):
        return refusal or "a question can only be asked in a turn"
    question = questions.add(
        tx,
        agent_id=agent.agent_id,
        question_id=event.question_id,
        turn_id=turn_id,
        chat=agent.chat_jid,
        question=text,
        options=options,
        status=QUESTION.start,
        at=at,
    )
    if question is not None:
        _show(tx, services, question, at)
    return None


def _is_open(tx: Transaction, agent: Agent, turn_id: TurnId) -> bool:
    """Whether the turn goes on: an agent can say of one that has ended that it begins again, and again."""
    turn = agents.turn(tx, agent.agent_id, turn_id)
    return turn is not None and turn.ended_at is None


def _refusal(
    tx: Transaction,
    services: Services,
    agent: Agent,
    event: WaitingInput,
    text: str,
    options: tuple[str, ...],
) -> str | None:
    most = services.settings.questions.max_open
    if event.question_id and not is_file_name(event.question_id):
        return "questionId has not the form of an id"
    if not text:
        return "the question is empty"
    if len(options) > _MAX_OPTIONS or not all(options):
        return f"there may be {_MAX_OPTIONS} options, none of them empty"
    if len(questions.open_in(tx, agent.chat_jid)) >= most:
        return f"{most} questions are open in this chat, which is the limit"
    return None


def _show(tx: Transaction, services: Services, question: Question, at: datetime) -> None:
    locale = _locale(services, groups.by_jid(tx, question.chat_jid))
    quoted = [f"> {line}" for line in question.question.splitlines()]
    numbered = [f"{place}. {option}" for place, option in enumerate(question.options, start=1)]
    how = Say.QUESTION_WITH_OPTIONS if question.options else Say.QUESTION_WITHOUT_OPTIONS
    lines = [say(Say.QUESTION, locale, number=question.number), *quoted, *numbered, say(how, locale)]
    queue_text(
        tx,
        chat=question.chat_jid,
        parts=split_text("\n".join(lines), services.text_limit(question.chat_jid)),
        source=TextSource.NOTICE,
        source_key=f"question:{question.number}",
        at=at,
        agent_id=question.agent_id,
        turn_id=question.turn_id,
    )


def answer_question(tx: Transaction, services: Services, word: SpokenWord, *, at: datetime) -> AgentId | None:
    """Take what a person says to `/answer`, and tell the chat; the agent that is to hear it, if one is."""
    read = read_answer(word.argument, questions.open_in(tx, word.chat_jid))
    if isinstance(read, Unclear):
        answer_word(tx, services, word, _why_unclear(tx, word, read), at)
        return None
    if not _may_answer(tx, word, read.question):
        refuse_word(tx, services, word, Say.NOT_YOURS_TO_ANSWER, at)
        return None
    if not _settle(tx, read):
        answer_word(tx, services, word, Say.ANSWER_TOO_LATE, at)
        return None
    answer_word(tx, services, word, Say.ANSWER_TAKEN, at, answer=cap_text(read.text, 100, note=" …"))
    return read.question.agent_id


def _why_unclear(tx: Transaction, word: SpokenWord, unclear: Unclear) -> Say:
    if unclear is not Unclear.NOT_OPEN:
        return _UNCLEAR[unclear]
    was_asked = questions.newest_in(tx, word.chat_jid) is not None
    return Say.ANSWER_TOO_LATE if was_asked else Say.NO_QUESTION


def _settle(tx: Transaction, read: ReadAnswer) -> bool:
    now = QUESTION.after(read.question.status, QuestionEvent.ANSWERED)
    return questions.move(tx, read.question, now=now, answer=read.text, chosen=read.chosen)


def _may_answer(tx: Transaction, word: SpokenWord, question: Question) -> bool:
    """An operator, or whoever set off the turn that asks."""
    if messages.role_of(tx, word.chat_jid, word.message_id) is SenderRole.OPERATOR:
        return True
    sender = contacts.ids_of(tx, word.sender_jid)
    return any(
        each.is_trigger and each.turn_id == question.turn_id and is_same_person(sender, each.sender_jid)
        for each in messages.of_agent(tx, question.agent_id)
    )


def withdraw_questions(tx: Transaction, services: Services, agent_id: AgentId, *, at: datetime) -> None:
    """The turn that asked is over, or its agent is no more: nobody need answer any longer."""
    for question in questions.of_agent(tx, agent_id):
        if question.status in QUESTION.sources(QuestionEvent.TURN_OVER):
            now = QUESTION.after(question.status, QuestionEvent.TURN_OVER)
            _close(tx, services, question, now, Say.QUESTION_WITHDRAWN, at)


def expire_questions(tx: Transaction, services: Services, agent_id: AgentId, *, at: datetime) -> None:
    """Nobody answered in time: the agent goes on without."""
    for question in questions.of_agent(tx, agent_id):
        if question.status in QUESTION.sources(QuestionEvent.RAN_OUT):
            now = QUESTION.after(question.status, QuestionEvent.RAN_OUT)
            _close(tx, services, question, now, Say.QUESTION_EXPIRED, at)


def _close(
    tx: Transaction, services: Services, question: Question, now: QuestionStatus, what: Say, at: datetime
) -> None:
    if questions.move(tx, question, now=now):
        incident = f"question:{question.number}:{now}"
        chat, number = question.chat_jid, question.number
        queue_notice(tx, services, chat=chat, what=what, incident=incident, at=at, number=number)


def _locale(services: Services, group: Group | None) -> str:
    return services.settings.assistant.locale if group is None else group.locale
