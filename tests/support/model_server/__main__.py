"""`python -m tests.support.model_server --port 0 …`: a provider for a human to point a program at.

Says its address on standard output, then one line a request. A script is a JSON list of rules as in
`script.Rule`, each step with its name: `[{"text": "plant", "steps": [{"step": "say", "text": "Done."}]}]`.
"""

import argparse
import asyncio
import contextlib
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.support.model_server.authority import make_authority
from tests.support.model_server.received import Received
from tests.support.model_server.script import Rule, read_rules
from tests.support.model_server.server import ModelServer, running_model_server


def main(arguments: Sequence[str]) -> int:
    """Serve until SIGTERM or Ctrl+C."""
    given = _parser().parse_args(arguments)
    try:
        rules = () if given.script is None else read_rules(given.script.read_bytes())
    except (OSError, ValueError) as error:
        sys.stderr.write(f"Error: {given.script} is no script: {error}\n")
        return 2
    asyncio.run(_serve(given, rules))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.support.model_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--script", type=Path, help="a JSON list of rules; without one it echoes")
    parser.add_argument("--key", help="the key that every call must bring; without it any is right")
    parser.add_argument("--prefix", default="", help="what stands in front of every path")
    parser.add_argument("--tls", action="store_true", help="speak TLS; says which authority to trust")
    return parser


async def _serve(given: argparse.Namespace, rules: Sequence[Rule]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    with contextlib.ExitStack() as stack:
        authority = None
        if given.tls:
            authority = make_authority(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        running = running_model_server(
            credential=given.key, prefix=given.prefix, port=given.port, authority=authority
        )
        async with running as server:
            server.play(*rules)
            server.on_over = _say_received
            _say_where(server)
            await stop.wait()


def _say_where(server: ModelServer) -> None:
    _say(server.url)
    if server.authority is not None:
        _say(f"trust {server.authority.authority_file}")


def _say_received(received: Received) -> None:
    """No bodies and no keys: what stands in a terminal is copied elsewhere."""
    model = "" if received.asked is None else f" {received.asked.model}"
    size = f"{len(received.body)} bytes"
    _say(f"{received.status or '---'} {received.method} {received.path}{model} {size}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
