"""The family of errors."""

import pytest

from orchestrator.contracts.errors import (
    Conflict,
    DovecoteError,
    ErrorCode,
    Forbidden,
    InvalidRequest,
    InvalidSchedule,
    InvalidSettings,
    LimitExceeded,
    NotFound,
    StartFailed,
    Unavailable,
)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (DovecoteError, "INTERNAL_ERROR"),
        (InvalidRequest, "INVALID_REQUEST"),
        (InvalidSettings, "INVALID_SETTINGS"),
        (InvalidSchedule, "INVALID_SCHEDULE"),
        (Forbidden, "FORBIDDEN"),
        (NotFound, "NOT_FOUND"),
        (Conflict, "ALREADY_REGISTERED"),
        (LimitExceeded, "LIMIT_EXCEEDED"),
        (Unavailable, "STORE_UNAVAILABLE"),
        (StartFailed, "START_FAILED"),
    ],
)
def test_each_kind_of_error_has_its_code(kind: type[DovecoteError], code: str) -> None:
    assert kind("No.").code == code


@pytest.mark.parametrize(
    "code",
    [
        "INVALID_REQUEST",
        "UNKNOWN_TYPE",
        "FORBIDDEN",
        "NOT_REGISTERED",
        "INVALID_SCHEDULE",
        "LIMIT_EXCEEDED",
        "RATE_LIMITED",
        "ATTACHMENT_REFUSED",
        "CHANNEL_UNAVAILABLE",
        "STORE_UNAVAILABLE",
        "INTERNAL_ERROR",
    ],
)
def test_the_codes_of_the_contract_are_there_under_their_own_names(code: str) -> None:
    assert ErrorCode(code).name == code


def test_an_error_can_carry_a_finer_code_than_its_kind() -> None:
    error = NotFound("No such chat.", code=ErrorCode.NOT_REGISTERED)

    assert error.code is ErrorCode.NOT_REGISTERED
    assert NotFound("x").code is ErrorCode.NOT_FOUND


def test_an_error_reads_as_what_is_wrong_and_what_to_do() -> None:
    assert str(InvalidRequest("Bad name.", suggestion="Use letters.")) == "Bad name. Use letters."
    assert str(InvalidRequest("Bad name.")) == "Bad name."


def test_details_are_the_errors_own_copy() -> None:
    details: dict[str, object] = {"limit": 5}
    error = LimitExceeded("Too many.", details=details, retry_after_s=2.5)

    details["limit"] = 6

    assert error.details == {"limit": 5}
    assert error.retry_after_s == 2.5


def test_only_what_may_pass_by_itself_is_worth_trying_again() -> None:
    kinds = [InvalidRequest, Forbidden, NotFound, Conflict, LimitExceeded, Unavailable, StartFailed]

    assert [kind for kind in kinds if kind("x").retryable] == [Unavailable, StartFailed]


@pytest.mark.parametrize(
    ("message", "told"), [("It is gone.", "It is gone. Make it."), ("It is 'x'", "It is 'x'. Make it.")]
)
def test_a_suggestion_is_a_sentence_of_its_own(message: str, told: str) -> None:
    assert str(DovecoteError(message, suggestion="Make it.")) == told
