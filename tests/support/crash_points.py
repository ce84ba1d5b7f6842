"""Checkpoints that kill their own process, as a power cut would."""

import os
import signal


class CrashAt:
    """Implements `Checkpoints`: SIGKILL to this process at the n-th time that a named point is reached."""

    def __init__(self, name: str, *, nth: int = 1) -> None:
        self._name = name
        self._left = nth

    def reached(self, name: str) -> None:
        """Die here, if it is the point and the time."""
        if name == self._name:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
