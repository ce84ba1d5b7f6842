"""A text of an agent on its way to people: cleaned, without what is internal, cut."""

import time

import pytest

from orchestrator.commands.saying.outgoing import outgoing_text
from orchestrator.contracts.wire.framing import MAX_TEXT_BYTES

MIB = 1024 * 1024


@pytest.mark.parametrize(
    "unit",
    ["x", ">", "<", "<>", "<internal>", "</internal>", "\x00", "\ud800", "\U0001f1e9", "```\n", " \u0301"],
)
def test_a_mib_of_anything_is_made_ready_quickly(unit: str) -> None:
    text = unit * (MIB // len(unit.encode("utf-8", "surrogatepass")))

    started = time.thread_time()
    outgoing_text(text, 4_000)

    assert time.thread_time() - started < 2


@pytest.mark.parametrize("unit", ["x", "\ud800", "好"])
def test_a_text_over_the_limit_is_cut_with_a_note(unit: str) -> None:
    made = outgoing_text(unit * (MAX_TEXT_BYTES + 1), 4_000)

    assert len(made.text.encode()) <= MAX_TEXT_BYTES
    assert made.text.endswith("the text was too long]")


def test_nothing_internal_is_shown_where_a_text_is_cut() -> None:
    made = outgoing_text("seen <internal>" + "secret " * MAX_TEXT_BYTES + "</internal>", 4_000)

    assert made.parts == ("seen",)


def test_a_role_stands_before_the_first_part_only_and_never_alone() -> None:
    long = outgoing_text("word " * 20, 60, prefix="[cook] ")
    empty = outgoing_text("\x00", 60, prefix="[cook] ")

    assert [part.startswith("[cook] word") for part in long.parts] == [True, False]
    assert (empty.text, empty.parts) == ("", ())
