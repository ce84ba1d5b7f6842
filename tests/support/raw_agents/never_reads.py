"""Says that it is ready and never reads its standard input."""

import signal
import sys

sys.stdout.write('AGENT_EVENT {"type": "ready", "protocol": 1}\n')
sys.stdout.flush()
signal.pause()
