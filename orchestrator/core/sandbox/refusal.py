"""A no of the way out, as it is told to an agent's program."""

from dataclasses import dataclass
from http import HTTPStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRefusal:
    """Why a request goes no further. message: for whoever reads the program's error."""

    status: HTTPStatus
    message: str


def forbidden(message: str) -> CallRefusal:
    """What is well formed, but not let through."""
    return CallRefusal(status=HTTPStatus.FORBIDDEN, message=message)


def malformed(message: str) -> CallRefusal:
    """What can be read in two ways, or in none."""
    return CallRefusal(status=HTTPStatus.BAD_REQUEST, message=message)
