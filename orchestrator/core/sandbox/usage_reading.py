"""What a provider's answer says of its use, read while it passes. Source: agents.md section 5."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, assert_never

from orchestrator.contracts.records.providers import WireFormat

# An answer that repeats the whole request, as OpenAI's last event does, still fits.
_MAX_EVENT_BYTES: Final = 8 * 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call; None: not said. input_tokens: those that no cache held or now holds."""

    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None


class UsageReader:
    """Sees the bytes of one answer and knows at any time what they said so far."""

    def __init__(self, wire: WireFormat, *, is_stream: bool) -> None:
        self._wire = wire
        self._is_stream = is_stream
        self._held = bytearray()
        self._event: list[bytes] = []
        self._is_skipping = False
        self.usage = Usage()
        self.has_error = False
        """Whether the provider broke off in the middle, in words of its own."""

    def feed(self, chunk: bytes) -> None:
        """The next bytes of the body."""
        if self._is_stream:
            self._feed_lines(chunk)
        elif len(self._held) + len(chunk) <= _MAX_EVENT_BYTES and not self._is_skipping:
            self._held += chunk
        else:
            self._is_skipping = True
            self._held.clear()

    def end(self) -> None:
        """The body is at its end, or will get no further."""
        if self._is_stream:
            self._feed_lines(b"\n\n")
        elif self._held:
            self._read(bytes(self._held))
            self._held.clear()

    def _feed_lines(self, chunk: bytes) -> None:
        self._held += chunk
        if b"\n" in chunk:
            *lines, rest = bytes(self._held).split(b"\n")
            self._held = bytearray(rest)
            for line in lines:
                self._take_line(line.rstrip(b"\r"))
        if len(self._held) > _MAX_EVENT_BYTES:
            self._held.clear()
            self._is_skipping = True

    def _take_line(self, line: bytes) -> None:
        if self._is_skipping:
            # The rest of a line that was too long; the next one is whole again.
            self._is_skipping = False
        elif line.startswith(b"data:"):
            self._event.append(line[5:])
        elif not line and self._event:
            event = b"\n".join(self._event)
            self._event.clear()
            # Most events are pieces of text: those are passed without a look inside.
            if b"usage" in event or b'"error"' in event or b'"response.failed"' in event:
                self._read(event)

    def _read(self, text: bytes) -> None:
        try:
            plain = json.loads(text)
        except (ValueError, RecursionError):
            return
        for each in plain if isinstance(plain, list) else [plain]:
            if isinstance(each, Mapping):
                self.usage = _with(self._wire, self.usage, each)
                self.has_error = self.has_error or _is_error(each)


def _with(wire: WireFormat, known: Usage, plain: Mapping[str, Any]) -> Usage:
    """What is known once `plain` was read too: later figures replace earlier ones."""
    found = known
    for holder in (plain, plain.get("message"), plain.get("response")):
        if not isinstance(holder, Mapping):
            continue
        model = holder.get("modelVersion" if wire is WireFormat.GEMINI else "model")
        usage = holder.get("usageMetadata" if wire is WireFormat.GEMINI else "usage")
        if isinstance(model, str) and model:
            found = replace(found, model=model[:200])
        if isinstance(usage, Mapping):
            figures = {key: value for key, value in _figures(wire, usage).items() if value is not None}
            found = replace(found, **figures)
    return found


def _figures(wire: WireFormat, usage: Mapping[str, Any]) -> dict[str, Any]:
    match wire:
        case WireFormat.ANTHROPIC:
            return {
                "input_tokens": _count(usage, "input_tokens"),
                "output_tokens": _count(usage, "output_tokens"),
                "cache_read_tokens": _count(usage, "cache_read_input_tokens"),
                "cache_write_tokens": _count(usage, "cache_creation_input_tokens"),
            }
        case WireFormat.OPENAI_CHAT:
            return _openai_figures(usage, "prompt_tokens", "completion_tokens")
        case WireFormat.OPENAI_RESPONSES:
            return _openai_figures(usage, "input_tokens", "output_tokens")
        case WireFormat.GEMINI:
            cached = _count(usage, "cachedContentTokenCount")
            asked = _sum(usage, "promptTokenCount", "toolUsePromptTokenCount")
            return {
                "input_tokens": _less(asked, cached),
                "output_tokens": _sum(usage, "candidatesTokenCount", "thoughtsTokenCount"),
                "cache_read_tokens": cached,
            }
        case _:
            assert_never(wire)


def _openai_figures(usage: Mapping[str, Any], asked: str, answered: str) -> dict[str, int | None]:
    details = usage.get(f"{asked}_details")
    cached = _count(details, "cached_tokens") if isinstance(details, Mapping) else None
    return {
        "input_tokens": _less(_count(usage, asked), cached),
        "output_tokens": _count(usage, answered),
        "cache_read_tokens": cached,
    }


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _sum(usage: Mapping[str, Any], *names: str) -> int | None:
    counts = [count for name in names if (count := _count(usage, name)) is not None]
    return sum(counts) if counts else None


def _less(whole: int | None, part: int | None) -> int | None:
    return None if whole is None else max(whole - (part or 0), 0)


def _is_error(plain: Mapping[str, Any]) -> bool:
    return plain.get("type") in {"error", "response.failed"} or isinstance(plain.get("error"), Mapping)
