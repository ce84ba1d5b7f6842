"""Fields as people read them."""

import pytest

from orchestrator.cli.labels import instant, labelled
from orchestrator.cli.table import columns


def test_people_read_words_and_no_signs_of_json() -> None:
    fields = {
        "childAgentIds": ["agent-a", "agent-b"],
        "orchestratorRuns": True,
        "budget": {"tokens_per_day": None, "usd_per_month": 2.5},
        "model": None,
        "output": "one\ntwo",
    }

    assert labelled(fields) == [
        "children           agent-a, agent-b",
        "orchestrator runs  yes",
        "budget             usd per month 2.5",
        "output             one",
        "                   two",
    ]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("2026-01-15T10:30:00.123Z", "2026-01-15 10:30:00 UTC"),
        ("2026-01-15T10:30:00.123456+00:00", "2026-01-15 10:30:00 UTC"),
        ("2026-07-15T10:30:00+02:00", "2026-07-15 10:30:00 +02:00"),
        ("since 2026-07-15T10:30:00Z", "since 2026-07-15T10:30:00Z"),
        ("2026-07-15", "2026-07-15"),
    ],
)
def test_an_instant_has_one_form_in_lists_and_tables(said: str, shown: str) -> None:
    assert labelled({"startedAt": said}) == [f"started at  {shown}"]
    assert columns(("AT",), [(said,)]) == ["AT", shown]
    assert instant(shown) == shown
