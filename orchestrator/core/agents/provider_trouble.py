"""Telling an agent that failed from one whose provider did. Source: contracts.md sections 2, 6."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.egress import ProviderFailure


class ProviderTrouble(StrEnum):
    """What keeps the provider from answering, as far as it matters to a chat.

    BUSY: it passes by itself. REFUSES: the operator has to look. SPENT: the group's budget is used up.
    TOO_LONG: the conversation is more than the model can read.
    """

    BUSY = "busy"
    REFUSES = "refuses"
    SPENT = "spent"
    TOO_LONG = "too_long"


_BY_CODE: Final[Mapping[str, ProviderTrouble]] = {
    "PROVIDER_RATE_LIMITED": ProviderTrouble.BUSY,
    "PROVIDER_OVERLOADED": ProviderTrouble.BUSY,
    "PROVIDER_AUTH": ProviderTrouble.REFUSES,
    "BUDGET_EXCEEDED": ProviderTrouble.BUSY,
    "CONTEXT_TOO_LONG": ProviderTrouble.TOO_LONG,
}
_BY_FAILURE: Final[Mapping[str, ProviderTrouble]] = {
    ProviderFailure.CREDENTIAL_REFUSED: ProviderTrouble.REFUSES,
    ProviderFailure.UNPAID: ProviderTrouble.REFUSES,
    ProviderFailure.RATE_LIMITED: ProviderTrouble.BUSY,
    ProviderFailure.OVERLOADED: ProviderTrouble.BUSY,
    ProviderFailure.BROKEN: ProviderTrouble.BUSY,
    ProviderFailure.UNREACHABLE: ProviderTrouble.BUSY,
    ProviderFailure.TOO_SLOW: ProviderTrouble.BUSY,
    ProviderFailure.CUT: ProviderTrouble.BUSY,
}


def trouble_of(code: str | None, failure: str | None, *, is_budget_spent: bool) -> ProviderTrouble | None:
    """Why a turn failed, if that was its provider's doing; None if it was the agent's.

    code: what the agent says; None: it died. failure: of the latest call, as the egress proxy saw it; None:
    that call went well, or there is no proxy. is_budget_spent: as our own meter knows; an agent's word for
    it alone means that its provider would not have it.
    """
    if is_budget_spent:
        return ProviderTrouble.SPENT
    if code == "CONTEXT_TOO_LONG":
        return ProviderTrouble.TOO_LONG
    if failure is not None and failure in _BY_FAILURE:
        return _BY_FAILURE[failure]
    return None if code is None else _BY_CODE.get(code)
