"""Left containers that resist their removal: the others go all the same, who may still run is told of.

What an engine does then, a stand-in does here: no container can be made to do it at will.
"""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from orchestrator.contracts.ids import AgentId
from orchestrator.runners.docker_leftovers import AGENT_LABEL
from orchestrator.runners.docker_runner import DockerRunner

BUSY = (500, "device or resource busy")
IN_PROGRESS = (409, "removal of container is already in progress")


@dataclass(kw_only=True)
class Resisting:
    """One container. removal: how the engine answers that; ends: whether it has ended when that is asked."""

    removal: tuple[int, str] = (204, "")
    ends: bool = True
    was_removed: bool = False


@dataclass(kw_only=True)
class StandIn:
    """An engine with these containers, each named by its agent."""

    url: str
    containers: dict[str, Resisting] = field(default_factory=dict)

    def answer(self, method: str, path: str) -> tuple[int, object]:
        """The status and the body of an answer."""
        words = path.split("/")[2:]
        if words == ["version"] or path == "/version":
            return 200, {"ApiVersion": "1.41"}
        if words == ["containers", "json"]:
            return 200, [listed(name) for name, each in self.containers.items() if not each.was_removed]
        name = words[1]
        found = self.containers[name]
        if found.was_removed:
            return 404, {"message": f"No such container: {name}"}
        if method == "DELETE":
            status, message = found.removal
            found.was_removed = status == 204
            return status, {"message": message}
        return (200, {"StatusCode": 137}) if found.ends else (500, {"message": "it still runs"})


def listed(name: str) -> dict[str, object]:
    """As in the engine's list; one that is being removed may have no name any more."""
    return {"Id": name, "Names": None, "Labels": {AGENT_LABEL: name}}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[StandIn]:
    """A stand-in that listens."""
    made = StandIn(url=f"unix://{tmp_path}/engine.sock")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            status, plain = made.answer(self.command, urlsplit(self.path).path)
            body = b"" if status == 204 else json.dumps(plain).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    class Server(ThreadingUnixStreamServer):
        daemon_threads = True

    with Server(str(tmp_path / "engine.sock"), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        yield made
        server.shutdown()
        serving.join()


@pytest.mark.parametrize(
    ("resisting", "may_run"),
    [
        pytest.param(Resisting(), False, id="goes"),
        pytest.param(Resisting(removal=IN_PROGRESS), False, id="was being removed"),
        pytest.param(Resisting(removal=BUSY), False, id="ended, but stays in the list"),
        pytest.param(Resisting(removal=BUSY, ends=False), True, id="runs on"),
    ],
)
async def test_of_left_containers_only_what_may_still_run_is_told_of_and_one_keeps_no_other(
    engine: StandIn, resisting: Resisting, may_run: bool
) -> None:
    engine.containers = {"agent-1": resisting, "agent-2": Resisting(), "agent-spared": Resisting()}
    runner = DockerRunner(image="any", engine_url=engine.url)

    unverified = await runner.stop_leftovers("home-1", [], spare=[AgentId("agent-spared")])
    await runner.close()

    assert unverified == (["agent-1"] if may_run else [])
    assert engine.containers["agent-2"].was_removed
    assert not engine.containers["agent-spared"].was_removed
