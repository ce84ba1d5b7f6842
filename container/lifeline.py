"""Runs any command so that it dies with the orchestrator: `python -m container.lifeline -- command …`.

For agents that are not our agent runner, where no wall ends them. The command shares the process
group that this process leads: killing the group ends all, whoever does it. Standard streams are the
command's own. Exit code: the command's, 128+n for signal n, 127 or 126 when it can't be started.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from container.parent_pipe import die_with_parent

_PASSED_ON: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_USAGE: Final = "usage: python -m container.lifeline -- command [argument …]"


def main(arguments: Sequence[str]) -> int:
    """Run the command that follows `--`; returns the exit code."""
    if len(arguments) < 2 or arguments[0] != "--":
        print(_USAGE, file=sys.stderr)
        return 2
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    # Handlers stand before the command does: a signal that comes in between is kept for it.
    relay = _Relay()
    for number in _PASSED_ON:
        signal.signal(number, relay.take)
    die_with_parent(os.environ)
    try:
        command = subprocess.Popen(arguments[1:])
    except OSError as error:
        print(f"{arguments[1]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126
    relay.pass_on_to(command)
    code = command.wait()
    return 128 - code if code < 0 else code


class _Relay:
    """Passes signals on to the command, also those that came before it was there."""

    def __init__(self) -> None:
        self._command: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def take(self, number: int, _frame: object) -> None:
        if self._command is None:
            self._early.append(number)
        else:
            self._command.send_signal(number)

    def pass_on_to(self, command: "subprocess.Popen[bytes]") -> None:
        self._command = command
        for number in self._early:
            command.send_signal(number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
