"""How a run of the orchestrator ended, as the error that the terminal is shown."""

from collections.abc import Callable

import structlog

from orchestrator.contracts.errors import DovecoteError

_log = structlog.get_logger(__name__)


def fault_of(run: Callable[[], object]) -> DovecoteError | None:
    """Run it. None when it ended well, else why not; a fault of ours goes to the log with its traceback."""
    try:
        run()
    except Exception as error:  # the last owner: everything below has had its chance
        first = innermost(error)
        if not isinstance(first, DovecoteError):
            _log.critical("dovecote.failed", exc_info=error)
            return DovecoteError(
                f"Dovecote stopped by a fault of its own ({first!r}).",
                suggestion="Its log in data/logs says more. Please report this.",
            )
        return first
    return None


def innermost(error: BaseException) -> BaseException:
    """The first error inside groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
