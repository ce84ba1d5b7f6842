"""What the programs' errors mean; each was seen from a real program."""

import pytest

from container.drivers.acp_errors import error_in_answer, turn_error

CODEX_TOO_LONG = (
    '{"error": {"message": "This model\'s maximum context length is 200000 tokens. However, your messages '
    'resulted in 213423 tokens.", "type": "invalid_request_error", "code": "context_length_exceeded"}}'
)


@pytest.mark.parametrize(
    ("message", "code", "details", "expected"),
    [
        ("Authentication required", -32000, None, "PROVIDER_AUTH"),
        (
            "Internal error: Failed to authenticate. API Error: 401 no",
            -32603,
            {"errorKind": "authentication_failed"},
            "PROVIDER_AUTH",
        ),
        ("Internal error: API Error: 400 no such thing", -32603, {"errorKind": "unknown"}, "AGENT_ERROR"),
        ("Internal error: API Error: 529 busy", -32603, {"errorKind": "unknown"}, "PROVIDER_OVERLOADED"),
        (
            "Internal error",
            -32603,
            {
                "message": "exceeded retry limit, last status: 429 Too Many Requests",
                "codex_error_info": {"response_too_many_failed_attempts": {"http_status_code": 429}},
            },
            "PROVIDER_RATE_LIMITED",
        ),
        (
            "Internal error",
            -32603,
            {"message": "unexpected status 401 Unauthorized: no, url: http://127.0.0.1/v1/responses"},
            "PROVIDER_AUTH",
        ),
        (
            "Internal error",
            -32603,
            {"message": CODEX_TOO_LONG, "codex_error_info": "other"},
            "CONTEXT_TOO_LONG",
        ),
        ('{"error":{"code":401,"message":"no","status":"UNAUTHENTICATED"}}', 401, None, "PROVIDER_AUTH"),
        ('{"error":{"code":503,"message":"no","status":"UNAVAILABLE"}}', 503, None, "PROVIDER_OVERLOADED"),
        (
            '{"error":{"code":400,"message":"The input token count (1213423) exceeds the maximum"}}',
            400,
            None,
            "CONTEXT_TOO_LONG",
        ),
        ("terminated", -32603, None, "PROVIDER_OVERLOADED"),
        ("Internal error: no such thing", -32603, {"errorName": "APIError"}, "AGENT_ERROR"),
        ("Internal error: Rate limit reached", -32603, {"errorName": "APIError"}, "PROVIDER_RATE_LIMITED"),
        ("Session not found", -32002, {"uri": "x"}, "AGENT_ERROR"),
        ("Internal error: The budget is spent.", -32603, {"errorName": "APIError"}, "BUDGET_EXCEEDED"),
        ("Internal error: bad thinking.budget_tokens", -32603, None, "AGENT_ERROR"),
        ("API Error: 402 Dovecote: no more this month", -32603, None, "BUDGET_EXCEEDED"),
        ("unexpected status 403 Forbidden: Dovecote: it reaches elsewhere", -32603, None, "AGENT_ERROR"),
        ("unexpected status 403 Forbidden: no such key", -32603, None, "PROVIDER_AUTH"),
        ("API Error: 402 the budget of this group is used up", -32603, None, "BUDGET_EXCEEDED"),
    ],
)
def test_an_error_has_the_code_that_says_what_is_to_be_done(
    message: str, code: int, details: object, expected: str
) -> None:
    assert turn_error(message, code=code, details=details).code == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (CODEX_TOO_LONG, "CONTEXT_TOO_LONG"),
        ('{"error": {"message": "no such thing", "type": "invalid_request_error"}}\n\n', "AGENT_ERROR"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "PROVIDER_RATE_LIMITED"),
        ("unexpected status 500 Internal Server Error", "PROVIDER_OVERLOADED"),
        ("stream disconnected before completion: timeout", "PROVIDER_OVERLOADED"),
        ("API Error: 401 no", "PROVIDER_AUTH"),
        ("An API Error: 401 means that the key is wrong.", None),
        ('{"error": "text"}', None),
        ('{"error": {"message": "x"}, "and": 1}', None),
        ("[1]", None),
        ("", None),
        ("It is 42.", None),
    ],
)
def test_an_answer_is_an_error_only_in_a_form_that_programs_use_for_it(
    answer: str, expected: str | None
) -> None:
    error = error_in_answer(answer)

    assert (None if error is None else error.code) == expected
