"""What the end of a prompt means. Expected values: contracts.md section 2, and what the real program said."""

import pytest

from container.drivers.claude_events import Finished
from container.drivers.claude_judgement import Ending, ending_of, error_of


def ended(*, is_error: bool = True, text: str = "", subtype: str = "success", **more: object) -> Finished:
    """An end; as the program says it of a provider's error, if nothing else is named."""
    return Finished(session_id="s", is_error=is_error, text=text, subtype=subtype, **more)  # type: ignore[arg-type]  # each test names fields that are there


@pytest.mark.parametrize(
    ("finished", "ending"),
    [
        pytest.param(ended(is_error=False, reason="completed"), Ending.WELL, id="well"),
        pytest.param(
            ended(subtype="error_during_execution", reason="aborted_streaming"),
            Ending.CANCELLED,
            id="interrupted in a text",
        ),
        pytest.param(
            ended(subtype="error_during_execution", reason="aborted_tools"),
            Ending.CANCELLED,
            id="interrupted in a tool",
        ),
        pytest.param(ended(subtype="error_max_turns", reason="max_turns"), Ending.OUT_OF_STEPS, id="steps"),
        pytest.param(ended(stop_reason="refusal", reason="api_error"), Ending.REFUSED, id="refusal"),
        pytest.param(ended(status=529, reason="api_error"), Ending.FAILED, id="a success that is an error"),
    ],
)
def test_only_the_error_mark_tells_a_failure(finished: Finished, ending: Ending) -> None:
    assert ending_of(finished) is ending


@pytest.mark.parametrize(
    ("finished", "code"),
    [
        pytest.param(ended(status=401), "PROVIDER_AUTH", id="401"),
        pytest.param(ended(status=403), "PROVIDER_AUTH", id="403"),
        pytest.param(ended(status=402, text="Your credit is used up"), "PROVIDER_AUTH", id="provider's bill"),
        pytest.param(ended(status=402, text="The budget is spent."), "BUDGET_EXCEEDED", id="our budget"),
        pytest.param(ended(status=408), "PROVIDER_OVERLOADED", id="408"),
        pytest.param(ended(status=429), "PROVIDER_RATE_LIMITED", id="429"),
        pytest.param(ended(status=500), "PROVIDER_OVERLOADED", id="500"),
        pytest.param(ended(status=529), "PROVIDER_OVERLOADED", id="529"),
        pytest.param(ended(status=400, text="Prompt is too long"), "CONTEXT_TOO_LONG", id="too long"),
        pytest.param(ended(reason="prompt_too_long"), "CONTEXT_TOO_LONG", id="too long by its reason"),
        pytest.param(
            ended(status=400, text="input length and `max_tokens` exceed context limit"),
            "CONTEXT_TOO_LONG",
            id="too long with its answer",
        ),
        pytest.param(ended(status=413, text="larger than 32 MB"), "CONTEXT_TOO_LONG", id="413"),
        pytest.param(ended(status=400, text="tools.0: wrong"), "AGENT_ERROR", id="400"),
        pytest.param(ended(text="API Error: Connection error."), "PROVIDER_OVERLOADED", id="no connection"),
        pytest.param(ended(kind="authentication_failed"), "PROVIDER_AUTH", id="no key at all"),
        pytest.param(ended(kind="server_error"), "PROVIDER_OVERLOADED", id="by the program's word"),
        pytest.param(ended(kind="unknown", text="odd"), "AGENT_ERROR", id="unknown"),
    ],
)
def test_each_error_has_the_code_that_says_what_is_to_be_done(finished: Finished, code: str) -> None:
    assert error_of(finished).code == code


def test_the_message_is_the_programs_own_and_bounded() -> None:
    assert error_of(ended(text="odd" * 1_000)).message == ("odd" * 1_000)[:500]
    assert error_of(ended(reason="api_error")).message == "api_error"
