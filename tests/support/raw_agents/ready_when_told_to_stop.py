"""Says that it is ready only when it is told to stop, takes its input all the same, and ends."""

import signal
import sys
from pathlib import Path

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
Path("waiting").touch()
signal.sigwait({signal.SIGTERM})
sys.stdout.write('AGENT_EVENT {"type": "ready", "protocol": 1}\n')
sys.stdout.flush()
sys.stdin.readline()
