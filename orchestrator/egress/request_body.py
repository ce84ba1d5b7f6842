"""The body of a call, read and judged before it goes on."""

import json
from dataclasses import dataclass
from typing import Any

from orchestrator.contracts.records.providers import WireFormat
from orchestrator.core.sandbox.provider_bodies import why_it_reaches_elsewhere
from orchestrator.core.sandbox.refusal import CallRefusal, forbidden, malformed
from orchestrator.core.sandbox.strict_json import UnreadableBody, parse_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A body that may go on. model: which one it asks for, if it says so."""

    body: bytes
    model: str | None


def check_body(wire: WireFormat, body: bytes, *, allows_provider_tools: bool) -> Checked | CallRefusal:
    """The body as the provider gets it. Blocks for a moment a megabyte.

    A stream of the chat format says its use only if asked, so it is asked. Anything else goes on as it came.
    """
    try:
        parsed = parse_object(body)
    except UnreadableBody as error:
        return malformed(str(error))
    if not allows_provider_tools and (reason := why_it_reaches_elsewhere(wire, parsed)) is not None:
        return forbidden(
            f"The request asks the provider to reach elsewhere: {reason}. The operator can allow it with "
            "`provider-tools` in `egress` of the group's AGENT.md."
        )
    model = parsed.get("model")
    named = model[:200] if isinstance(model, str) else None
    if wire is WireFormat.OPENAI_CHAT and parsed.get("stream") is True:
        return Checked(body=_asking_for_usage(parsed), model=named)
    return Checked(body=body, model=named)


def _asking_for_usage(parsed: dict[str, Any]) -> bytes:
    options = parsed.get("stream_options")
    kept = options if isinstance(options, dict) else {}
    return json.dumps({**parsed, "stream_options": {**kept, "include_usage": True}}).encode()
