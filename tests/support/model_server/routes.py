"""Which call of which provider a request is, by its method and path."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs

from tests.support.model_server.wires.anthropic import Anthropic
from tests.support.model_server.wires.gemini import Gemini
from tests.support.model_server.wires.openai_chat import OpenAiChat
from tests.support.model_server.wires.openai_responses import OpenAiResponses
from tests.support.model_server.wires.wire import Wire

MODEL: Final = "fake-model"
"""The one model of the lists of models; every name is answered."""
_GEMINI_CALL: Final = re.compile(r"/v1(?:beta)?/models/([^/:]+):([A-Za-z]+)")
_MODEL_LIST: Final = re.compile(r"/v1(beta)?/models(?:/([^/:]+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Generate:
    """An answer of a model is wanted."""

    wire: Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """The answer is the same for everybody with a key."""

    wire: Wire
    answer: Mapping[str, Any]


Route = Generate | Plain


def route(method: str, path: str, query: str, headers: Mapping[str, str]) -> Route | None:
    """The call; None: no provider has one there."""
    if method == "POST":
        return _post(path, query)
    return _models(path, headers) if method == "GET" else None


def _post(path: str, query: str) -> Route | None:
    match path:
        case "/v1/messages":
            return Generate(wire=Anthropic())
        case "/v1/messages/count_tokens":
            return Plain(wire=Anthropic(), answer={"input_tokens": 100})
        case "/v1/chat/completions":
            return Generate(wire=OpenAiChat())
        case "/v1/responses":
            return Generate(wire=OpenAiResponses())
        case _:
            return _gemini(path, query)


def _gemini(path: str, query: str) -> Route | None:
    found = _GEMINI_CALL.fullmatch(path)
    if found is None:
        return None
    model, verb = found.groups()
    is_sse = parse_qs(query).get("alt") == ["sse"]
    match verb:
        case "generateContent" | "streamGenerateContent":
            is_stream = verb == "streamGenerateContent"
            return Generate(wire=Gemini(model=model, is_stream=is_stream, is_sse=is_sse))
        case "countTokens":
            return Plain(wire=Gemini(), answer={"totalTokens": 100})
        case _:
            return None


def _models(path: str, headers: Mapping[str, str]) -> Route | None:
    """Both providers have their list at `/v1/models`; Anthropic's clients say which version they speak."""
    found = _MODEL_LIST.fullmatch(path)
    if found is None:
        return None
    beta, name = found.groups()
    if beta:
        one: dict[str, Any] = {"name": f"models/{name or MODEL}", "inputTokenLimit": 1_048_576}
        return Plain(wire=Gemini(), answer=one if name else {"models": [one]})
    if "anthropic-version" in headers:
        one = {"type": "model", "id": name or MODEL, "display_name": name or MODEL}
        return Plain(wire=Anthropic(), answer=one if name else {"data": [one], "has_more": False})
    one = {"id": name or MODEL, "object": "model", "created": 1_764_288_000, "owned_by": "dovecote"}
    return Plain(wire=OpenAiChat(), answer=one if name else {"object": "list", "data": [one]})
