"""The words of voice messages, by a program of the operator's, before anybody is given the message."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Final

import structlog

from orchestrator.commands.own_programs import ProgramFailed, output_of_program
from orchestrator.commands.services import Services
from orchestrator.contracts.records.messages import InboundMessage
from orchestrator.contracts.wire.framing import MAX_TEXT_BYTES
from orchestrator.core.chat.voice import with_transcript, without_transcript
from orchestrator.core.text_cleaning import cap_text, clean_text

_log = structlog.get_logger(__name__)
_FILE: Final = "{file}"


async def with_transcripts(services: Services, message: InboundMessage) -> InboundMessage:
    """The message with what is said in its voice messages, where the settings name a program.

    It is the same whether an agent is at work or not. Nothing of the program's failure holds the message
    up for longer than its time.
    """
    if not services.settings.voice.command:
        return message
    text = message.text
    for path in [file.source for file in message.files if file.is_voice and file.source is not None]:
        words = await _words(services, path)
        text = with_transcript(text, words) if words else without_transcript(text)
    return replace(message, text=cap_text(text, MAX_TEXT_BYTES))


async def _words(services: Services, path: Path) -> str | None:
    """What the program prints, made presentable; None if there is nothing to be had."""
    wanted = services.settings.voice
    argv = [word.replace(_FILE, str(path)) for word in wanted.command]
    began = services.clock.monotonic()
    try:
        async with asyncio.timeout(wanted.within_s), services.voice_turns:
            printed = await output_of_program(argv, path, within_s=wanted.within_s, max_bytes=MAX_TEXT_BYTES)
    except TimeoutError:
        why = f"it was not done within {wanted.within_s:g} s"
    except ProgramFailed as error:
        why = str(error)
    except OSError as error:
        why = error.strerror or str(error)
    else:
        words = clean_text(printed.decode("utf-8", "replace")).strip()
        took_s = round(services.clock.monotonic() - began, 1)
        _log.info("voice.transcribed", chars=len(words), took_s=took_s)
        return words or None
    suggestion = "Try voice.command in a terminal, or raise voice.within_s."
    _log.warning("voice.not_transcribed", why=why, suggestion=suggestion)
    return None
