"""Switches that a command writes into the settings file."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.settings.writing import with_switches

ON = {"enabled": True}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[whatsapp]\nenabled = true\n"),
        ("disk_floor_bytes = 1", "disk_floor_bytes = 1\n\n[whatsapp]\nenabled = true\n"),
        ("[agent]\nrunner = 'auto'\n", "[agent]\nrunner = 'auto'\n\n[whatsapp]\nenabled = true\n"),
        ("[whatsapp]\nmax_age_s = 60\n", "[whatsapp]\nenabled = true\nmax_age_s = 60\n"),
        ("[whatsapp]\nenabled = false # not yet\n", "[whatsapp]\nenabled = true # not yet\n"),
        (
            "[whatsapp] # mine\n[agent]\nenabled = 1\n",
            "[whatsapp] # mine\nenabled = true\n[agent]\nenabled = 1\n",
        ),
        ("[whatsapp]\nenabled = true\n", "[whatsapp]\nenabled = true\n"),
        ("whatsapp.enabled = true\n", "whatsapp.enabled = true\n"),
    ],
)
def test_a_switch_is_set_and_all_else_stays(before: str, after: str) -> None:
    assert with_switches(before, "whatsapp", ON) == after


@pytest.mark.parametrize(
    "before",
    [
        "whatsapp.enabled = false\n",
        "whatsapp = {enabled = false}\n",
        "[whatsapp\n",
        '[agent]\nnote = """\n[whatsapp]\nenabled = false\n"""\n',
        "whatsapp = 3\n",
    ],
)
def test_a_file_that_says_it_in_a_way_of_its_own_is_left_to_its_writer(before: str) -> None:
    assert with_switches(before, "whatsapp", ON) is None


_LINES = st.sampled_from(
    [
        "[whatsapp]",
        "[agent]",
        "enabled = false",
        "enabled = true",
        "a = 1",
        "# [whatsapp]",
        'b = """',
        '"""',
        "",
    ]
)


@given(lines=st.lists(_LINES, max_size=8))
def test_whatever_is_written_says_what_it_said_and_the_switch(lines: list[str]) -> None:
    before = "\n".join(lines)

    after = with_switches(before, "whatsapp", ON)

    if after is not None:
        plain = tomllib.loads(before)
        assert tomllib.loads(after) == {**plain, "whatsapp": {**plain.get("whatsapp", {}), **ON}}
