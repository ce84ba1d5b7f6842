"""Scenarios of the script driver: what is accepted, and how mistakes are told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from container.drivers import scenario
from container.drivers.scenario import ECHO, STEP_NAMES, Scenario, ScenarioError, parse_scenario
from container.drivers.script_driver import ScriptDriver


def test_an_empty_file_is_the_echo() -> None:
    assert parse_scenario(None) == ECHO


def test_every_step_has_an_action_and_is_described() -> None:
    assert set(ScriptDriver()._actions) == STEP_NAMES
    assert all(f"| `{name}` |" in (scenario.__doc__ or "") for name in STEP_NAMES)


@pytest.mark.parametrize(
    ("plain", "place"),
    [
        pytest.param([], "scenario: expected a mapping", id="a list"),
        pytest.param({"rule": []}, "unknown key 'rule'", id="unknown key"),
        pytest.param({"turns": {}}, "turns: expected a list", id="turns no list"),
        pytest.param({"turns": [[{"say": 5}]]}, "turns[0][0].say: expected text", id="wrong value"),
        pytest.param({"turns": [["say"]]}, "turns[0][0]: a step is a mapping", id="step no mapping"),
        pytest.param({"default": [{"say": "a", "exit": 1}]}, "default[0]: a step", id="two keys in a step"),
        pytest.param({"default": [{"sya": "a"}]}, "default[0]: unknown step 'sya'", id="unknown step"),
        pytest.param(
            {"default": [{"flood": {}}]}, "default[0].flood: 'bytes' is missing", id="field missing"
        ),
        pytest.param({"default": [{"tool": {"nme": "a"}}]}, "unknown key 'nme'", id="unknown field"),
        pytest.param(
            {"default": [{"delay_s": True}]}, "default[0].delay_s: expected number", id="yes for a number"
        ),
        pytest.param({"default": [{"run": []}]}, "default[0].run: expected words", id="no words"),
        pytest.param({"rules": [{"steps": []}]}, "rules[0]: give one of", id="rule without a pattern"),
        pytest.param(
            {"rules": [{"match": "a", "regex": "b", "steps": []}]}, "give one of", id="two patterns"
        ),
        pytest.param({"rules": [{"regex": "(", "steps": []}]}, "rules[0].regex", id="broken pattern"),
        pytest.param({"rules": [{"match": "a"}]}, "rules[0].steps: expected a list", id="rule without steps"),
        pytest.param({"rules": [{"match": "a", "times": 0, "steps": []}]}, "rules[0].times", id="no times"),
        pytest.param({"session": 5}, "session: expected a text", id="session no text"),
        pytest.param({"join": "yes"}, "join: expected true or false", id="join no boolean"),
    ],
)
def test_a_mistake_is_told_with_its_place(plain: object, place: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        parse_scenario(plain)

    assert place in raised.value.message


yaml_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["turns", "rules", "default", "steps", "match", *sorted(STEP_NAMES)]), inner
        )
    ),
    max_leaves=12,
)


@given(yaml_values)
def test_any_file_is_played_or_refused_by_name(plain: object) -> None:
    try:
        played = parse_scenario(plain)
    except ScenarioError:
        return
    assert isinstance(played, Scenario)
