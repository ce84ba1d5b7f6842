"""What one request asks of a model, whatever its wire format."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

# What agent programs put beside the words of a person, as seen in their requests.
_OF_PROGRAMS: Final = (
    "<system-reminder>",
    "<session_context>",
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "[Request interrupted by user",
)


class Malformed(Exception):
    """The body is not what the wire format says; the text names the field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool that the model may call. namespace: what stands in front of its name, if the format has that."""

    name: str
    namespace: str | None = None

    @property
    def full_name(self) -> str:
        """Both parts in one."""
        return self.name if self.namespace is None else f"{self.namespace}__{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """texts, tool_results: what came since the model last spoke, in order. prompt: the last of the texts
    that a person said and not a program around him; an older one may have stayed without an answer.
    """

    model: str
    is_stream: bool
    texts: tuple[str, ...]
    prompt: str
    tool_results: tuple[str, ...]
    tools: tuple[OfferedTool, ...]
    wants_usage: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message of a conversation: of the model, or with texts of the user and results of tools."""

    by_model: bool = False
    texts: tuple[str, ...] = ()
    tool_results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What came since the model last spoke; the members are those of `Asked`."""

    texts: tuple[str, ...]
    prompt: str
    tool_results: tuple[str, ...]


def since_the_model_spoke(messages: Iterable[Said]) -> News:
    """What is new after the last message of the model."""
    news: list[Said] = []
    for each in messages:
        if each.by_model:
            news.clear()
        else:
            news.append(each)
    texts = tuple(text for each in news for text in each.texts)
    spoken = [text for text in texts if not text.lstrip().startswith(_OF_PROGRAMS)]
    return News(
        texts=texts,
        prompt=spoken[-1] if spoken else "",
        tool_results=tuple(result for each in news for result in each.tool_results),
    )


def member(body: Mapping[str, Any], name: str, kind: type) -> Any:
    """The member `name` of this type; raises Malformed."""
    value = body.get(name)
    if not isinstance(value, kind):
        raise Malformed(f"{name}: expected {kind.__name__}, got {type(value).__name__}")
    return value


def text_of(content: object) -> str:
    """All text in a content: a text, a list of parts, or anything with a `text` member."""
    match content:
        case str():
            return content
        case list():
            return "".join(text_of(part) for part in content)
        case {"text": str(text)}:
            return text
        case _:
            return ""
