"""Between the orchestrator and an agent without walls: ends the agent's processes when we end.

Run as a script by its path, with nothing but the standard library, so that it starts in 10 ms:
`lifeline.py LABEL DESCRIPTOR MEMORY_BYTES OPEN_FILES -- COMMAND …`. The label is for the list of processes;
the descriptor is a socket. It says `started PID` or `failed REASON`, and at last `ended CODE`; it takes `t`
(SIGTERM to the agent) and `k` (kill all); its end means that the orchestrator is gone.
"""

import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress


def main(arguments: list[str]) -> int:
    """Start the command, wait for its end or for ours."""
    _, descriptor, memory_bytes, open_files, _, *command = arguments
    line = socket.socket(fileno=int(descriptor))
    line.set_inheritable(False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = min(int(open_files), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if int(memory_bytes):
        resource.setrlimit(resource.RLIMIT_AS, (int(memory_bytes), int(memory_bytes)))
    try:
        # A group of its own: what is killed then is not this process.
        agent = subprocess.Popen(command, process_group=0)
    except OSError as error:
        _say(line, f"failed {error.strerror}")
        return 127
    _say(line, f"started {agent.pid}")
    _let_go_of_streams()
    threading.Thread(target=_obey, args=(line, agent.pid), daemon=True).start()
    # Seen dead, not yet reaped: until then nobody else can get its number.
    os.waitid(os.P_PID, agent.pid, os.WEXITED | os.WNOWAIT)
    _kill(agent.pid)
    code = agent.wait()
    code = code if code >= 0 else 128 - code
    _say(line, f"ended {code}")
    return code


def _obey(line: socket.socket, group: int) -> None:
    while word := _next_word(line):
        if word == b"t":
            with suppress(ProcessLookupError):
                os.kill(group, signal.SIGTERM)
        else:
            _kill(group)
    _kill(group)


def _next_word(line: socket.socket) -> bytes:
    try:
        return line.recv(1)
    except OSError:
        return b""


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _say(line: socket.socket, text: str) -> None:
    with suppress(OSError):
        line.sendall(text.encode() + b"\n")


def _let_go_of_streams() -> None:
    """The agent alone holds its pipes, so that their end is the agent's end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
