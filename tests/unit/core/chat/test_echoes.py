"""Whether a text that comes back is one of ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.channels.whatsapp.formatting import to_whatsapp
from orchestrator.core.chat.echoes import reads_alike


@pytest.mark.parametrize(
    ("sent", "heard", "is_alike"),
    [
        ("hello", "hello", True),
        ("hello", "hallo", False),
        ("**hello**", "*hello*", True),
        ("# News\n\n- a\n- b", "*News*\n\n- a\n- b", True),
        ("see [this](https://a.example)", "see this (https://a.example)", True),
        ("1.5", "15", False),
        ("yes", "", False),
        ("👍", "👍", True),
        ("👍", "👎", False),
        ("! !", " !  ! ", True),
        ("", "", True),
    ],
)
def test_marks_do_not_count_words_do(sent: str, heard: str, is_alike: bool) -> None:
    assert reads_alike(sent, heard) is is_alike


@given(
    st.lists(st.sampled_from(["a", "b7", "**c**", "*d*", "~~e~~", "`f`"]), min_size=1),
    st.sampled_from([" ", "\n", "\n\n- "]),
)
def test_a_text_in_whatsapps_marks_reads_as_before(words: list[str], between: str) -> None:
    markdown = between.join(words)

    assert reads_alike(markdown, to_whatsapp(markdown))
