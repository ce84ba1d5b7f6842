"""A message as the XML that an agent reads, and the spans that nobody else may read.

Source: contracts.md section 1.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from jinja2 import Environment, StrictUndefined, Template

from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import MessageStatus, SenderRole, StoredMessage
from orchestrator.contracts.records.spawns import SpawnedAgent
from orchestrator.contracts.records.tasks import Task, TaskRun

_TEMPLATE: Final = """\
<message id="{{ message.message_id | on_one_line }}" timestamp="{{ message.sent_at.isoformat() }}" \
sender="{{ message.sender_name | on_one_line }}" sender_id="{{ message.sender_jid | on_one_line }}" \
sender_role="{{ message.sender_role }}" role="user">
{% if message.quoted %}
<quoted id="{{ message.quoted.message_id | on_one_line }}" \
sender="{{ message.quoted.sender_name | on_one_line }}">{{ message.quoted.text | body }}</quoted>
{% endif %}
{% for file in message.attachments %}
<attachment name="{{ file.name | on_one_line }}" type="{{ file.media_type | on_one_line }}" \
size="{{ file.size_bytes }}"{% if file.path is not none %} path="{{ file.path | on_one_line }}"{% endif %}/>
{% endfor %}
{% if omitted %}
<omitted count="{{ omitted }}"/>
{% endif %}
{% if undelivered %}
<undelivered count="{{ undelivered }}"/>
{% endif %}
{{ message.text | body }}
</message>"""

# All that XML 1.0 does not allow; a carriage return is allowed but read as a newline.
_FORBIDDEN: Final = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INTERNAL_TAG: Final = re.compile(r"<\s*(?:(?P<end>/)\s*)?internal(?:\s[^<>]*|/)?>", re.IGNORECASE)
_AROUND_TAGS: Final = re.compile(r"(?=<)|(?<=>)")


def render_message(message: StoredMessage, *, omitted: int = 0, undelivered: int = 0) -> str:
    """The message as one `<message>` element, its text on lines of its own.

    omitted: how many earlier messages the agent is not shown. undelivered: how many of its own texts
    could not be sent since it was last told. No text, name or id can end the element or begin
    another: all of them are escaped, and what XML forbids is dropped.
    """
    return _template().render(message=message, omitted=omitted, undelivered=undelivered)


def render_task(task: Task, run: TaskRun) -> str:
    """A task's prompt as a message of the run itself, with the title in the sender's place."""
    message = StoredMessage(
        seq=0,
        chat_jid=task.chat_jid,
        message_id=MessageId(run.run_id),
        sender_jid=Jid(f"task:{task.task_id}"),
        sender_name=f"Scheduled task: {task.title}",
        sender_role=SenderRole(task.rights.value),
        text=task.prompt,
        sent_at=run.planned_at or run.claimed_at,
        status=MessageStatus.DISPATCHED,
        is_trigger=True,
    )
    return render_message(message)


def render_spawn(spawned: SpawnedAgent) -> str:
    """What a spawned agent is to do, as a message of who asked for it."""
    agent, spawn = spawned.agent, spawned.spawn
    parent = spawn.parent_agent_id
    message = StoredMessage(
        seq=0,
        chat_jid=agent.chat_jid,
        message_id=MessageId(agent.agent_id),
        sender_jid=Jid("operator" if parent is None else f"agent:{parent}"),
        sender_name="Whoever started this agent" if parent is None else f"Parent agent {parent}",
        sender_role=SenderRole(agent.rights.value),
        text=spawn.task,
        sent_at=spawn.created_at,
        status=MessageStatus.DISPATCHED,
        is_trigger=True,
    )
    return render_message(message)


def render_prompt(xml_messages: Iterable[str]) -> str:
    """All messages as the one text that agents made for NanoClaw 1.x read."""
    return "\n".join(xml_messages)


def strip_internal(text: str) -> str:
    """`text` without its `<internal>` spans: nested, unclosed, in any case, with attributes, over lines.

    A tag that only comes about by a removal counts too, so nothing is left to strip from the result.
    Takes time linear in the length of `text`.
    """
    kept: list[str] = []
    spans: list[int] = []  # how much was kept where each open span began
    for piece in _AROUND_TAGS.split(text):
        kept.append(piece)
        if not piece.endswith(">"):
            continue
        tag = _INTERNAL_TAG.fullmatch(_join_tag(kept, spans[-1] if spans else 0))
        if tag is None:
            continue
        kept.pop()
        if not tag["end"] and not tag[0].endswith("/>"):
            spans.append(len(kept))
        elif tag["end"] and spans:
            del kept[spans.pop() :]
    return "".join(kept[: spans[0]] if spans else kept)


def _join_tag(kept: list[str], from_index: int) -> str:
    """Make the pieces at the end of `kept` that form one tag into one piece, and return it.

    A joined piece ends in `>` and so is never looked through again: this keeps the time linear.
    """
    start = len(kept) - 1
    while start > from_index and not kept[start].startswith("<") and not kept[start - 1].endswith(">"):
        start -= 1
    kept[start:] = ["".join(kept[start:])]
    return kept[-1]


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters |= {"body": _body, "on_one_line": _on_one_line}
    return environment.from_string(_TEMPLATE)


def _body(text: str) -> str:
    # In this order: dropping a character can make a tag of what was none.
    return strip_internal(_allowed(text))


def _on_one_line(text: str) -> str:
    return _allowed(text).replace("\n", " ").replace("\t", " ")


def _allowed(text: str) -> str:
    return _FORBIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
