"""Front matter: a small, bounded part of YAML with a line for each value."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.core.agents.front_matter import MAX_BYTES, split_front_matter


def read(yaml: str) -> object:
    """The fields of a text whose front matter is `yaml`."""
    return split_front_matter(f"---\n{yaml}\n---\nbody", where="F").fields


def test_a_text_without_front_matter_is_all_body() -> None:
    found = split_front_matter("You are kind.\n---\nReally.", where="F")

    assert (found.is_there, found.body, found.fields) == (False, "You are kind.\n---\nReally.", {})


@pytest.mark.parametrize("start", ["---\n", "\ufeff---\n", "---  \n", "---\r\n"])
def test_it_ends_at_the_next_line_of_dashes(start: str) -> None:
    found = split_front_matter(f"{start}name: Ada\n---\nhi\n---\nmore", where="F")

    assert (found.is_there, found.fields, found.body) == (True, {"name": "Ada"}, "hi\n---\nmore")
    assert found.body_line == 4


def test_values_are_those_of_plain_yaml_and_no_surprises() -> None:
    yaml = (
        "a: 1\nb: -2.5\nc: true\nd: False\ne: no\nf: on\ng: 'true'\nh: 2024-01-02\ni: 012\nj: ~\nk:\n"
        'l: "x: y"\nm: [1, two, {n: 3}]\no: |\n  two\n  lines\np: 0x10\nq: 1e5\nr: .5'
    )

    assert read(yaml) == {
        "a": 1, "b": -2.5, "c": True, "d": False, "e": "no", "f": "on", "g": "true", "h": "2024-01-02",
        "i": "012", "j": None, "k": None, "l": "x: y", "m": [1, "two", {"n": 3}], "o": "two\nlines\n",
        "p": "0x10", "q": "1e5", "r": ".5",
    }  # fmt: skip


def test_every_value_has_the_line_it_is_written_in() -> None:
    lines = split_front_matter("---\n# why\na: 1\nb:\n  c: 2\n  d:\n    - 3\n    - 4\n---\n", where="F").lines

    assert [lines[place] for place in (("a",), ("b",), ("b", "c"), ("b", "d", 1))] == [3, 4, 5, 8]


@pytest.mark.parametrize(
    ("yaml", "line", "said"),
    [
        ("a: 1\na: 2", 3, "second time"),
        ("a: &x 1\nb: *x", 2, "anchor"),
        ("a: 1\nb: *x", 3, "alias"),
        ("a: !!python/object/apply:os.system [ls]", 2, "tag"),
        ("a: 1\nb: !x y", 3, "tag"),
        ("a: [", 2, "YAML"),
        ("a: 1\n\tb: 2", 3, "YAML"),
        ("just words", 2, "'just words'"),
        ("- a\n- b", 2, "a list"),
        ("? [a]\n: 1", 2, "no text"),
        ("a: 1\n...\nb: 2", 4, "YAML"),
        ("a: 1\n--- {b: 2}", 3, "second document"),
    ],
)
def test_what_is_no_plain_table_is_refused_with_its_line(yaml: str, line: int, said: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        read(yaml)

    assert refused.value.message.startswith(f"F line {line} ")
    assert said in refused.value.message
    assert refused.value.suggestion


def test_front_matter_that_never_ends_is_refused() -> None:
    with pytest.raises(InvalidSettings, match=r"F line 1 .*never ends"):
        split_front_matter("---\nname: Ada\n", where="F")


def test_depth_and_size_are_bounded() -> None:
    with pytest.raises(InvalidSettings, match="deep"):
        read("a: " + "[" * 500 + "]" * 500)
    with pytest.raises(InvalidSettings, match=f"{MAX_BYTES:,}"):
        read("a: " + "x" * MAX_BYTES)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    try:
        found = split_front_matter(text, where="F")
    except InvalidSettings as error:
        reason = error.message
    else:
        reason = "F" if found.is_there or found.fields == {} else ""
    assert reason.startswith("F")


@given(st.text(max_size=200).map(lambda text: f"---\n{text}\n---\n"))
def test_any_front_matter_is_read_or_refused_with_a_reason(text: str) -> None:
    advice: str | None = "none needed"
    try:
        split_front_matter(text, where="F")
    except InvalidSettings as error:
        advice = error.suggestion
    assert advice


PLAIN = st.recursive(
    st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), max_size=20)
    | st.booleans()
    | st.integers(-(10**15), 10**15),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), PLAIN, max_size=4))
def test_json_is_read_as_what_it_says(fields: dict[str, object]) -> None:
    assert read(json.dumps(fields)) == fields
