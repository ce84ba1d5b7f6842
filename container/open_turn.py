"""The paper trail of one turn: ack file, input files and events, in the order the host relies on.

At every instant at which this process may die, the host can tell what became of each message: until
the ack file is there the turn never began; from then on its end is told by the file before the input
files go, and by the event only after both. Source: contracts.md section 2.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from container.drivers.driver import Turn, TurnResult
from container.inputs import InputDirectory
from container.messages import Message
from container.output import Output
from container.questions import Questions
from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.wire.boxes import ACKS, TurnAck, temporary_name
from orchestrator.contracts.wire.codec import to_json
from orchestrator.contracts.wire.container_io import TurnEnded, TurnStarted


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Something to be answered. turn_id: for the turn it may start. file_name: its file in `input/`."""

    messages: tuple[Message, ...]
    ids: tuple[str, ...]
    turn_id: TurnId
    file_name: str | None = None


class OpenTurn:
    """A turn between its start and its end."""

    def __init__(
        self, prompt: Prompt, *, box: Path, inputs: InputDirectory, output: Output, questions: Questions
    ) -> None:
        self.turn = Turn(turn_id=prompt.turn_id, messages=prompt.messages, output=output, questions=questions)
        self._ids = prompt.ids
        self._files = _files_of(prompt)
        self._ack_path = box / ACKS / f"{prompt.turn_id}.json"
        self._inputs = inputs
        self._output = output

    async def announce(self) -> None:
        """Put the start on file, then say it."""
        ack = TurnAck(turn_id=self.turn.turn_id, inputs=self._ids)
        await asyncio.to_thread(_replace, self._ack_path, to_json(ack), durable=False)
        await self._output.event(TurnStarted(turn_id=self.turn.turn_id, inputs=self._ids))

    async def grow(self, prompt: Prompt) -> None:
        """Take a follow-up in: from now on it is this turn's, whatever comes."""
        self._ids = (*self._ids, *prompt.ids)
        self._files = (*self._files, *_files_of(prompt))
        await self.announce()

    async def finish(self, result: TurnResult) -> None:
        """Put the end on file, remove the inputs, then say it."""
        await self._output.flush()
        ended = TurnEnded(
            turn_id=self.turn.turn_id,
            inputs=self._ids,
            outputs=self.turn.outputs,
            status=result.status,
            error=result.error,
            usage=result.usage,
        )
        await asyncio.to_thread(self._file_away, to_json(ended))
        await self._output.event(ended)

    def _file_away(self, ended: str) -> None:
        _replace(self._ack_path, ended, durable=True)
        self._inputs.remove(self._files)


def _files_of(prompt: Prompt) -> Sequence[str]:
    return () if prompt.file_name is None else (prompt.file_name,)


def _replace(path: Path, content: str, *, durable: bool) -> None:
    """Put `content` at `path` in one step. durable: it is on the disk before it has the name."""
    temporary = path.with_name(temporary_name(path.name))
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    os.rename(temporary, path)
