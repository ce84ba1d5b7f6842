"""The form of `groups/{folder}/senders.toml`, which says who may set the assistant off there.

mode = "allowlist"                            # anyone | allowlist | drop
senders = ["491701234567@s.whatsapp.net"]     # whom allowlist and drop let through
"""

import re
import tomllib
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.faults import raise_any
from orchestrator.contracts.ids import Jid, is_chat_id
from orchestrator.contracts.records.senders import SenderMode, SenderRules
from orchestrator.contracts.toml_text import load_toml

_MODES: Final = ", ".join(f'"{mode}"' for mode in SenderMode)
_EXAMPLE: Final = 'senders = ["491701234567@s.whatsapp.net"]'
_MAX_SHOWN_CHARS: Final = 80


class _SendersFile(BaseModel):
    """What may stand in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: SenderMode
    senders: tuple[str, ...] = ()


def parse_sender_rules(raw: bytes, *, where: str) -> SenderRules:
    """The rules that the file says. where: its name, for the error. Raises InvalidSettings."""
    try:
        text = raw.decode("utf-8")
        plain = load_toml(text)
    except UnicodeDecodeError as error:
        raise _broken(where, None, f"is not UTF-8 at byte {error.start}", "Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise _broken(where, None, f"is not TOML: {str(error)[:200]}", f"Write: {_EXAMPLE}") from None
    try:
        given = _SendersFile.model_validate(plain)
    except ValidationError as error:
        faults = [_refusal(each, text, where) for each in error.errors(include_url=False)]
        raise_any([*faults, *_strangers(plain.get("senders"), text, where)])
        raise
    faults = _strangers(given.senders, text, where)
    if given.mode is SenderMode.ANYONE and given.senders:
        what = 'lists senders, but mode = "anyone" lets everybody through'
        mend = 'Set mode = "allowlist" or "drop", or remove the list.'
        faults.append(_broken(where, _line_of(text, "senders"), what, mend))
    raise_any(faults)
    return SenderRules(mode=given.mode, senders=tuple(Jid(sender) for sender in given.senders))


def _strangers(senders: object, text: str, where: str) -> list[InvalidSettings]:
    """One fault for each text of the list that is no id."""
    listed = senders if isinstance(senders, list | tuple) else ()
    return [
        _broken(
            where,
            _line_of(text, f'"{sender}"') or _line_of(text, "senders"),
            f"names {_shown(sender)}, which is not the id of a person",
            f"Write it as in: {_EXAMPLE}",
        )
        for sender in listed
        if isinstance(sender, str) and not is_chat_id(sender)
    ]


def _refusal(fault: ErrorDetails, text: str, where: str) -> InvalidSettings:
    key = str(fault["loc"][0]) if fault["loc"] else ""
    line = _line_of(text, key)
    if fault["type"] == "missing":
        return _broken(where, None, "says no mode", f"Add mode = one of {_MODES}.")
    if fault["type"] == "extra_forbidden":
        return _broken(where, line, f"knows no {_shown(key)}", "Use mode and senders.")
    if key == "mode":
        return _broken(where, line, f"has the mode {_shown(fault['input'])}", f"Use one of {_MODES}.")
    what = f"has {_shown(fault['input'])} where a list of ids belongs"
    return _broken(where, line, what, f"Write it as in: {_EXAMPLE}")


def _broken(where: str, line: int | None, what: str, mend: str) -> InvalidSettings:
    place = where if line is None else f"{where} line {line}"
    return InvalidSettings(f"{place} {what}.", suggestion=mend, details={"where": where, "line": line})


def _shown(value: object) -> str:
    return ascii(value)[:_MAX_SHOWN_CHARS]


def _line_of(text: str, part: str) -> int | None:
    """The first line that holds a key or a quoted value as it stands."""
    pattern = re.escape(part) if part.startswith('"') else rf"^\s*{re.escape(part)}\s*="
    lines = enumerate(text.splitlines(), start=1)
    return next((number for number, line in lines if part and re.search(pattern, line)), None)
