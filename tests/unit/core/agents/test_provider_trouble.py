"""Telling an agent that failed from one whose provider did."""

import pytest

from orchestrator.contracts.records.egress import ProviderFailure
from orchestrator.core.agents.provider_trouble import ProviderTrouble, trouble_of

BUSY, REFUSES = ProviderTrouble.BUSY, ProviderTrouble.REFUSES


@pytest.mark.parametrize(
    ("code", "failure", "trouble"),
    [
        ("PROVIDER_RATE_LIMITED", None, BUSY),
        ("PROVIDER_OVERLOADED", None, BUSY),
        ("PROVIDER_AUTH", None, REFUSES),
        # Its word alone: our meter knows of no spent budget, so its provider wants no more.
        ("BUDGET_EXCEEDED", None, BUSY),
        ("CONTEXT_TOO_LONG", None, ProviderTrouble.TOO_LONG),
        ("CONTEXT_TOO_LONG", ProviderFailure.BROKEN, ProviderTrouble.TOO_LONG),
        ("AGENT_ERROR", None, None),
        ("no such code", None, None),
        (None, None, None),
        ("AGENT_ERROR", ProviderFailure.AGENT_LEFT, None),
        (None, ProviderFailure.AGENT_LEFT, None),
        # The proxy knows better than the agent.
        ("PROVIDER_OVERLOADED", ProviderFailure.CREDENTIAL_REFUSED, REFUSES),
        *[
            (code, failure, REFUSES)
            for code in ("AGENT_ERROR", None)
            for failure in (ProviderFailure.CREDENTIAL_REFUSED, ProviderFailure.UNPAID)
        ],
        *[
            (code, failure, BUSY)
            for code in ("AGENT_ERROR", None)
            for failure in (
                ProviderFailure.RATE_LIMITED,
                ProviderFailure.OVERLOADED,
                ProviderFailure.BROKEN,
                ProviderFailure.UNREACHABLE,
                ProviderFailure.TOO_SLOW,
                ProviderFailure.CUT,
            )
        ],
    ],
)
def test_a_turn_that_failed_has_the_trouble_that_the_proxy_saw_or_else_the_agent_named(
    code: str | None, failure: str | None, trouble: ProviderTrouble | None
) -> None:
    assert trouble_of(code, failure, is_budget_spent=False) is trouble


@pytest.mark.parametrize("code", ["AGENT_ERROR", "BUDGET_EXCEEDED", "PROVIDER_RATE_LIMITED", None])
@pytest.mark.parametrize("failure", [None, ProviderFailure.UNPAID])
def test_a_spent_budget_explains_whatever_its_program_made_of_it(
    code: str | None, failure: str | None
) -> None:
    assert trouble_of(code, failure, is_budget_spent=True) is ProviderTrouble.SPENT
