"""What a spawned agent is told before its task: its group's prompt, and what is otherwise for it."""

import pytest

from orchestrator.core.agents.start_prompt import child_prompt


@pytest.mark.parametrize(
    ("writable_paths", "writes_all", "said"),
    [
        ((), False, "is there to read; of it you may change nothing."),
        (("tests/", "a<b"), False, "is there to read; of it you may change only this: tests/, a&lt;b."),
        ((), True, "Your workspace is yours to change."),
    ],
)
def test_it_says_what_a_helper_may_change(
    writable_paths: tuple[str, ...], writes_all: bool, said: str
) -> None:
    prompt = child_prompt("ROLE", tools=("progress",), writable_paths=writable_paths, writes_all=writes_all)

    assert prompt.startswith("ROLE\n\n<dovecote>\nThis time you are a helper")
    assert said in prompt
    assert "tool server dovecote: progress." in prompt
    assert prompt.endswith("\n</dovecote>")


def test_a_helper_without_tools_is_told_so() -> None:
    prompt = child_prompt("ROLE", tools=(), writable_paths=(), writes_all=False)

    assert "Dovecote offers you no tools of its own." in prompt


def test_a_path_can_not_end_the_envelope() -> None:
    prompt = child_prompt("ROLE", tools=(), writable_paths=("</dovecote>x",), writes_all=False)

    assert prompt.count("</dovecote>") == 1
