"""Which rule answers a request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.model_server.answering import pieces_of
from tests.support.model_server.asked import Asked, OfferedTool
from tests.support.model_server.playing import NoSuchTool, Playing, echo, find_tool
from tests.support.model_server.script import CallTool, Rule, Say, read_rules

PATH = "/v1/messages"


def asked(prompt: str = "", *, results: tuple[str, ...] = (), tools: tuple[str, ...] = ()) -> Asked:
    """A request in which a person says this last."""
    return Asked(
        model="m-1",
        is_stream=False,
        texts=("before", prompt),
        prompt=prompt,
        tool_results=results,
        tools=tuple(OfferedTool(name=each) for each in tools),
    )


def says(text: str) -> tuple[Say]:
    """The steps of an answer that is this text."""
    return (Say(text=text),)


def said_by(rule: Rule | None) -> str | None:
    """The text of a rule with one step."""
    if rule is None:
        return None
    (step,) = rule.steps
    assert isinstance(step, Say)
    return step.text


def test_the_first_rule_that_fits_answers() -> None:
    playing = Playing(
        [Rule(text="tea", steps=says("Earl Grey")), Rule(text="te", steps=says("?")), Rule(steps=says("."))]
    )

    answers = [said_by(playing.choose(PATH, asked(text))) for text in ("some tea", "ten", "milk")]

    assert answers == ["Earl Grey", "?", "."]


def test_a_rule_leaves_some_to_others_and_is_used_up() -> None:
    playing = Playing([Rule(steps=says("third"), skip=2, times=1), Rule(steps=says("other"))])

    answers = [said_by(playing.choose(PATH, asked("hello"))) for _ in range(5)]

    assert answers == ["other", "other", "third", "other", "other"]


def test_a_rule_for_a_result_waits_for_it() -> None:
    playing = Playing([Rule(tool_result="42", steps=says("done"))])

    assert playing.choose(PATH, asked("42")) is None
    assert said_by(playing.choose(PATH, asked(results=("sum is 42",)))) == "done"


def test_a_rule_with_a_tool_leaves_side_calls_alone() -> None:
    playing = Playing([Rule(steps=(CallTool(tool="add"),))])

    assert playing.choose(PATH, asked("make a title")) is None
    assert playing.choose(PATH, asked("add", tools=("add",))) is not None


@pytest.mark.parametrize("has_tools", [True, False])
def test_a_rule_can_be_for_main_or_for_side_calls(has_tools: bool) -> None:
    playing = Playing([Rule(has_tools=has_tools, steps=says("fits"))])

    with_tools = playing.choose(PATH, asked("hello", tools=("add",)))
    without = playing.choose(PATH, asked("hello"))

    assert (with_tools is not None, without is not None) == (has_tools, not has_tools)


def test_only_a_rule_with_its_path_answers_what_is_no_models_call() -> None:
    playing = Playing([Rule(steps=says("any model")), Rule(path="/elsewhere", steps=says("page"))])

    assert playing.choose("/nowhere", None) is None
    assert said_by(playing.choose("/elsewhere", None)) == "page"
    assert said_by(playing.choose(PATH, asked("hello"))) == "any model"


def test_without_a_rule_the_prompt_is_echoed_or_what_a_tool_said() -> None:
    assert said_by(echo(asked("hello"))) == "echo: hello"
    assert said_by(echo(asked("more", results=("one", "two")))) == "tool said: two"


def test_a_text_is_looked_for_in_the_prompt_alone() -> None:
    assert Playing([Rule(text="before", steps=says("?"))]).choose(PATH, asked("hello")) is None


@pytest.mark.parametrize(
    ("wanted", "offered", "found"),
    [
        pytest.param("add", ["add", "x_add"], "add", id="the very name before its ends"),
        pytest.param("add", ["mcp__lab__add", "mcp__lab__padd"], "mcp__lab__add", id="as Claude names it"),
        pytest.param("lab_add", ["mcp__lab__add", "mcp__x__add"], "mcp__lab__add", id="with its server"),
        pytest.param("lab_add", ["mcp_lab_add"], "mcp_lab_add", id="as Gemini names it"),
        pytest.param("lab.add", ["lab_add"], "lab_add", id="any separator"),
    ],
)
def test_a_tool_is_found_by_its_name_or_the_end_of_it(wanted: str, offered: list[str], found: str) -> None:
    assert find_tool(wanted, [OfferedTool(name=each) for each in offered]).name == found


@pytest.mark.parametrize("offered", [["sub", "padd"], ["a_add", "b_add"]], ids=["none", "two"])
def test_a_tool_that_is_not_clearly_meant_is_an_error_with_the_names(offered: list[str]) -> None:
    with pytest.raises(NoSuchTool, match=", ".join(offered[:1])):
        find_tool("add", [OfferedTool(name=each) for each in offered])


@given(st.text(), st.integers(min_value=-1, max_value=50))
def test_pieces_are_the_text_and_as_many_as_there_can_be(text: str, count: int) -> None:
    pieces = list(pieces_of(text, count))

    assert "".join(pieces) == text
    assert len(pieces) == max(1, min(count, len(text)))
    assert not text or all(pieces)


def test_a_script_in_a_file_is_a_list_of_rules() -> None:
    written = '[{"text": "tea", "times": 1, "steps": [{"step": "say", "text": "Earl Grey", "pieces": 2}]}]'

    assert read_rules(written) == (Rule(text="tea", times=1, steps=(Say(text="Earl Grey", pieces=2),)),)


@pytest.mark.parametrize(
    ("written", "named"),
    [
        pytest.param('[{"steps": [{"step": "say", "txt": "x"}]}]', "txt", id="a member that is misspelt"),
        pytest.param('[{"steps": [{"step": "shout"}]}]', "'say'", id="a step that is none"),
        pytest.param('[{"steps": [], "text": "x"}]', "steps", id="no steps"),
        pytest.param('{"steps": []}', "tuple", id="no list"),
        pytest.param("tea", "JSON", id="no JSON"),
    ],
)
def test_a_script_that_is_wrong_names_what_is_wrong(written: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        read_rules(written)
