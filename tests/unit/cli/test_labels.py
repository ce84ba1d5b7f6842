"""Fields as people read them."""

from orchestrator.cli.labels import labelled


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
