"""The advice for what the operating system refuses fits the cause."""

import errno
import os
from pathlib import Path

import pytest

from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.os_errors import unusable


@pytest.mark.parametrize(
    ("number", "wanted"),
    [
        (errno.EROFS, "read-only"),
        (errno.ENOENT, "is not there"),
        (errno.ENOTDIR, "not a directory"),
        (errno.EACCES, "may not go there"),
        (errno.ENOSPC, "make room"),
        (errno.EIO, "Check the disk"),
    ],
)
def test_the_advice_fits_the_cause(number: int, wanted: str) -> None:
    error = unusable(Path("/home/x"), OSError(number, os.strerror(number)))

    assert error.message == f"/home/x cannot be used: {os.strerror(number)}."
    assert wanted in str(error.suggestion)
    assert error.code is ErrorCode.STORE_UNAVAILABLE
