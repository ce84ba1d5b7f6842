"""The process inside a container: says that it is up, reads its input, has `turn_loop` start the driver and
run turns, exits.

What it needs before it is ready is kept small on purpose: the event loop, XML and the drivers are
imported only once there is something to do. Exit codes: 0 done, 1 nobody listens any more, 2 the
input is unreadable, 3 the host speaks another protocol.
"""

import os
import signal
import sys
from typing import Final

from container.inputs import InputDirectory
from container.places import Places, places_from
from container.stdout import claim_stdout, write_event
from orchestrator.contracts.wire.boxes import INPUT
from orchestrator.contracts.wire.codec import WireError, from_plain, parse_json
from orchestrator.contracts.wire.container_io import PROTOCOL, AgentLog, ContainerInput, Ready

EXIT_DONE: Final = 0
EXIT_OUTPUT_GONE: Final = 1
EXIT_BAD_INPUT: Final = 2
EXIT_OTHER_PROTOCOL: Final = 3

VERSION_VARIABLE: Final = "DOVECOTE_VERSION"
_READ_BYTES: Final = 1024 * 1024


class OtherProtocol(WireError):
    """The host speaks another major version of the container contract."""


def main() -> int:
    """Run the agent in this process; returns its exit code."""
    signal.signal(signal.SIGTERM, _leave)
    stdout = claim_stdout()
    places = places_from(os.environ)
    InputDirectory(places.box / INPUT).drop_stale_close()
    version = os.environ.get(VERSION_VARIABLE, "")
    write_event(stdout, Ready(protocol=PROTOCOL, version=version, mounts=places.mounts()))
    line = read_line(0)
    if line is None:
        return EXIT_DONE
    try:
        given = parse_container_input(line)
    except OtherProtocol as error:
        write_event(stdout, AgentLog(level="error", message=str(error)))
        return EXIT_OTHER_PROTOCOL
    except WireError as error:
        write_event(stdout, AgentLog(level="error", message=f"standard input is unreadable: {error}"))
        return EXIT_BAD_INPUT
    _detach_stdin()
    return run_turns(given, places, stdout)


def read_line(descriptor: int) -> bytes | None:
    """The first line of a stream; None when it ends before there is one, as when the host has died.

    A last line without a newline counts if it is there at all.
    """
    pieces: list[bytes] = []
    while piece := os.read(descriptor, _READ_BYTES):
        head, newline, _ = piece.partition(b"\n")
        pieces.append(head)
        if newline:
            return b"".join(pieces)
    return b"".join(pieces) or None


def parse_container_input(line: bytes) -> ContainerInput:
    """The input, also of a host that writes only the source document's fields. Raises WireError."""
    plain = parse_json(line)
    if isinstance(plain, dict):
        spoken = plain.get("protocol", PROTOCOL)
        if spoken != PROTOCOL:
            # Before the fields are looked at: another major version may have others.
            raise OtherProtocol(
                f"This image speaks protocol {PROTOCOL}, the orchestrator {spoken}: rebuild the image "
                "with `dovecote image build`."
            )
        plain.setdefault("prompt", "")
        plain.setdefault("messages", [])
    return from_plain(ContainerInput, plain)


def run_turns(given: ContainerInput, places: Places, stdout: int) -> int:
    """Run the turns of one input to their end; returns the exit code."""
    import asyncio

    from container.clock import utc_now
    from container.directory_watch import WATCH_VARIABLE
    from container.forwarder import way_out
    from container.output import Output, OutputGone
    from container.turn_loop import TurnLoop

    async def work() -> None:
        async with way_out(os.environ):
            await take_turns()

    async def take_turns() -> None:
        use_events = os.environ.get(WATCH_VARIABLE) != "poll"
        loop = TurnLoop(given=given, places=places, output=Output(stdout), now=utc_now, use_events=use_events)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, loop.stop)
        await loop.run()

    exit_code = EXIT_DONE
    try:
        asyncio.run(work())
    except* OutputGone:
        exit_code = EXIT_OUTPUT_GONE
    return exit_code


def _leave(_signal: int, _frame: object) -> None:
    """Stop before the first turn: nothing was begun, so there is nothing to end."""
    os._exit(EXIT_DONE)


def _detach_stdin() -> None:
    """Nothing more comes here; what a driver starts must find an end, not our pipe."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


if __name__ == "__main__":
    sys.exit(main())
