"""Every incident that people are told of has words of its own for operators."""

import pytest

from orchestrator.commands.running.holds import HOLDING
from orchestrator.commands.usage.dir_budgets import FULL
from orchestrator.contracts.records.channels import ChannelHealth
from orchestrator.core.incidents import in_words, kind_of

TOLD = [f"{kind}:console:a" for kind in (*(each.name for each in HOLDING), FULL, "senders")] + [
    f"channel-{health}:whatsapp" for health in (ChannelHealth.DOWN, ChannelHealth.UNLINKED)
]


@pytest.mark.parametrize("incident", TOLD)
def test_an_incident_says_whose_it_is_and_what_to_do(incident: str) -> None:
    said = in_words(incident, folders={"console:a": "garden"})

    assert said is not None
    assert said.kind == kind_of(incident)
    assert "is not over" not in said.what
    assert ("garden" in said.what) != ("whatsapp" in said.what)
    assert "{" not in said.what + said.mend
    assert said.mend


@pytest.mark.parametrize(
    "incident", ["setup-details:garden", "program-details:garden", "refused-details:garden", "disk"]
)
def test_what_is_said_beside_another_incident_is_not_said_twice(incident: str) -> None:
    assert in_words(incident, folders={}) is None


def test_an_incident_that_nobody_foresaw_is_told_by_its_name() -> None:
    said = in_words("odd:thing", folders={})

    assert said is not None
    assert said.what == "odd:thing is not over."
