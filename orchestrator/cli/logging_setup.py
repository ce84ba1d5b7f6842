"""Where log lines go: people read the terminal, machines read JSON; files in `data/logs` are rotated."""

import contextlib
import logging
import logging.handlers
import os
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, Final

import structlog

from orchestrator.cli.log_repeats import Repeats
from orchestrator.contracts.os_errors import unusable
from orchestrator.contracts.seams import Clock
from orchestrator.settings.tree import LogSettings

# Values that could be what people wrote, or a secret: at the default level only their length is logged.
_WITHHELD: Final = frozenset({"text", "texts", "prompt", "body", "content", "token", "authorization"})
# Libraries that tell of each of our own calls, which say themselves what came of them.
_CHATTY: Final = ("httpx", "httpcore", "apscheduler")
TOLD_IN_CHATS: Final = {
    "programs.installing": "Fetching the agent program {program}, once; it takes a moment…"
}
TOLD_BY_SERVE: Final = {"api.port_closed": "{why}"}

EventDict = MutableMapping[str, Any]


@contextlib.contextmanager
def logging_to(
    log_file: Path,
    settings: LogSettings,
    *,
    clock: Clock,
    on_terminal: bool,
    tell: Callable[[str], None] | None = None,
    told: Mapping[str, str] = TOLD_IN_CHATS,
) -> Iterator[None]:
    """Log to the rotated file, and to standard error if asked; all is put back at the end.

    tell: is given a sentence about what a person would not know of else, from any thread. told: the sentence
    of each event of which there is one.
    """
    handlers: list[logging.Handler] = [_file_handler(log_file, settings)]
    if on_terminal:
        handlers.append(_terminal_handler())
    if tell is not None:
        handlers.append(_Teller(tell, told))
    root = logging.getLogger()
    level_before = root.level
    root.setLevel(settings.level.upper())
    chatty = {name: logging.getLogger(name).level for name in _CHATTY}
    for name in chatty if settings.level != "debug" else ():
        logging.getLogger(name).setLevel(logging.WARNING)
    for handler in handlers:
        root.addHandler(handler)
    _configure_structlog(Repeats(clock), withholds=settings.level != "debug")
    try:
        yield
    finally:
        structlog.reset_defaults()
        root.setLevel(level_before)
        for name, level in chatty.items():
            logging.getLogger(name).setLevel(level)
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


def _file_handler(path: Path, settings: LogSettings) -> logging.Handler:
    try:
        handler = _RotatingHandler(
            path, maxBytes=settings.max_bytes, backupCount=settings.keep, encoding="utf-8", errors="replace"
        )
    except OSError as error:
        raise unusable(path, error) from None
    handler.setFormatter(_formatter(structlog.processors.JSONRenderer(ensure_ascii=False)))
    return handler


def _terminal_handler() -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    if sys.stderr.isatty():
        plain = structlog.dev.plain_traceback
        renderer = structlog.dev.ConsoleRenderer(colors=_shows_colours(), exception_formatter=plain)
        handler.setFormatter(_formatter(renderer))
    else:
        handler.setFormatter(_formatter(structlog.processors.JSONRenderer(ensure_ascii=False)))
    return handler


def _shows_colours() -> bool:
    """Not where people have said that they want none, nor where they would come out as signs."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class _Teller(logging.Handler):
    """Says the few events that people have to know of, in words."""

    def __init__(self, tell: Callable[[str], None], told: Mapping[str, str]) -> None:
        super().__init__()
        self._tell = tell
        self._told = told

    def emit(self, record: logging.LogRecord) -> None:
        """Say it, if there are words for it."""
        event = record.msg
        if isinstance(event, dict) and (words := self._told.get(event.get("event", ""))) is not None:
            self._tell(words.format_map(event))


class _RotatingHandler(logging.handlers.RotatingFileHandler):
    """A full disk costs log lines, not the orchestrator, and no traceback for each of them."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Drop the line."""


def _formatter(renderer: structlog.typing.Processor) -> logging.Formatter:
    """Renders lines of structlog and of libraries alike."""
    tail: list[structlog.typing.Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if isinstance(renderer, structlog.processors.JSONRenderer):
        tail.append(structlog.processors.format_exc_info)
    return structlog.stdlib.ProcessorFormatter(
        processors=[*tail, renderer], foreign_pre_chain=_common_processors()
    )


def _common_processors() -> list[structlog.typing.Processor]:
    return [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _configure_structlog(repeats: Repeats, *, withholds: bool) -> None:
    chain: list[structlog.typing.Processor] = [
        structlog.stdlib.filter_by_level,
        structlog.contextvars.merge_contextvars,
        *_common_processors(),
        repeats,
    ]
    if withholds:
        chain.append(_withhold_texts)
    structlog.configure(
        processors=[*chain, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        # Loggers live in modules; a cached one would outlast this set-up.
        cache_logger_on_first_use=False,
    )


def _withhold_texts(_logger: object, _method: str, event: EventDict) -> EventDict:
    for key in _WITHHELD & event.keys():
        value = event[key]
        event[key] = f"({len(value)} characters)" if isinstance(value, str) else "(withheld)"
    return event
