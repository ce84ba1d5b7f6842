"""A credential on its way from `dovecote secret set` to its provider, and to nobody and nothing else."""

import asyncio
import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import docker
import pytest

from orchestrator.cli.definition_lists import secrets_of
from orchestrator.commands.setup.secrets import set_secret
from orchestrator.contracts.records.launch import WORKSPACE_TARGET
from orchestrator.runners.catalog import RunnerOptions, make_runner
from orchestrator.runners.docker_engine import Engine
from tests.agreement.runners.conftest import KINDS, lacking
from tests.support.agent_image import IMAGE
from tests.support.canary_search import files_with, processes_with
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk

CANARY: Final = "sk-canary-7d1f0c9be25a4c6d"
NAME: Final = "providers/lab/api_key"
PROVIDERS: Final = """
[lab]
driver = "script"
auth_mode = "bound_secret"
slots = [{ name = "api_key", target_env = "LAB_KEY" }]
wire = "anthropic"
environment = { LAB_URL = "{base_url}" }
files = { ".lab/settings.json" = "{base_url} {placeholder}" }
"""
OF_THE_OPERATOR: Final = (
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".config/gh/hosts.yml",
)
"""Where the operator's own programs keep what they were given, in his home: no agent's business (FP19)."""
# Calls its model; then looks for the credential wherever it may read, by its two halves, so that it does not
# find itself.
PROGRAM: Final = """
import json, os, sys, urllib.request
halves = ("sk-canary-7d1f", "0c9be25a4c6d")
wanted = "".join(halves).encode()
asked = urllib.request.Request(
    os.environ["LAB_URL"] + "/v1/messages", data=b'{"model":"m-1","messages":[]}', method="POST",
    headers={"x-api-key": os.environ["LAB_KEY"], "content-type": "application/json"},
)
with urllib.request.urlopen(asked, timeout=60) as answer:
    heads, said = str(answer.headers), answer.read()
found = ["answer"] if wanted in said or wanted.decode() in heads else []

def look(path):
    try:
        with open(path, "rb") as file:
            if wanted in file.read(8_000_000):
                found.append(path)
    except OSError:
        pass

for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("cmdline", "environ", "mountinfo", "maps", "status"):
        look(f"/proc/{pid}/{name}")
own = [os.environ[f"DOVECOTE_{name}"] for name in ("WORKSPACE", "BOX", "GLOBAL")]
for root in (os.environ["HOME"], *own, *sys.argv[1:]):
    for directory, _, files in os.walk(root):
        for name in files:
            path = os.path.join(directory, name)
            if os.path.isfile(path):
                look(path)
with open(os.path.join(os.environ["DOVECOTE_WORKSPACE"], "found.json"), "w") as file:
    json.dump(found, file)
"""


class Upstream(ThreadingHTTPServer):
    """A provider that keeps the keys that it was called with."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.keys: list[str | None] = []


class _Handler(BaseHTTPRequestHandler):
    server: Upstream

    def do_POST(self) -> None:
        self.server.keys.append(self.headers["x-api-key"])
        self.rfile.read(int(self.headers["content-length"]))
        used = {"input_tokens": 100, "output_tokens": 20}
        body = json.dumps({"type": "message", "model": "m-1", "content": [], "usage": used}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what was heard is kept."""


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


async def plant(home: HomeOnDisk, upstream: Upstream) -> None:
    """A group whose provider needs the canary, which the operator sets as he would."""
    await home.add_group()
    home.set(providers__lab__base_url=f"http://127.0.0.1:{upstream.server_address[1]}")
    (home.path / "providers.toml").write_text(PROVIDERS, encoding="utf-8")
    opened = home.opened()
    (opened.paths.groups / "kitchen" / "AGENT.md").write_text("---\nprovider: lab\n---\n", encoding="utf-8")
    await set_secret(secrets_of(opened), NAME, CANARY, in_file=True)


def home_of_operator(tmp_path: Path) -> Path:
    """The operator's own home, where his programs keep the canary too."""
    operator = tmp_path / "operator"
    for place in OF_THE_OPERATOR:
        (operator / place).parent.mkdir(parents=True, exist_ok=True)
        (operator / place).write_text(CANARY, encoding="utf-8")
    return operator


def play(home: HomeOnDisk, kind: str) -> None:
    """The turn runs the program and stays until it may go; without walls it is not sent everywhere."""
    workspace = str(home.workspace()) if kind == "process" else WORKSPACE_TARGET
    roots = (
        ()
        if kind == "process"
        else ("/workspace", "/run", "/tmp", "/etc", "/home", "/root", "/opt", "/mnt", "/srv")
    )
    program = home.workspace() / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o644)
    home.play(
        {
            "default": [
                {"run": ["python3", "-s", "-P", f"{workspace}/program.py", *roots]},
                {"wait_for_file": "go"},
                {"say": "done"},
            ]
        }
    )


@pytest.mark.parametrize("kind", KINDS)
async def test_h2_a_planted_credential_reaches_its_provider_and_is_found_nowhere_else(
    home: HomeOnDisk,
    upstream: Upstream,
    kind: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    engine: Engine | None = request.getfixturevalue("docker_engine") if kind == "docker" else None
    monkeypatch.setenv("HOME", str(home_of_operator(tmp_path)))
    await plant(home, upstream)
    play(home, kind)
    runner = make_runner(kind, RunnerOptions(image=IMAGE, programs_directory=home.path / "data" / "programs"))
    if (reason := await runner.why_not()) is not None:
        await runner.close()
        lacking(reason)

    async with home.running(runner=(runner, kind)):
        home.ask("go")
        told = home.workspace() / "found.json"
        await eventually(lambda: told.exists() and told.read_text(), what=home.story)
        in_processes = await asyncio.to_thread(processes_with, CANARY.encode(), below=os.getpid())
        in_engine = [] if engine is None else await inspected(home, engine)
        (home.workspace() / "go").touch()
        await home.said("done")
        await home.quiet()
    in_files = await asyncio.to_thread(_in_files, home)

    assert upstream.keys == [CANARY]
    assert json.loads(told.read_text(encoding="utf-8")) == []
    assert in_processes == []
    assert [text for text in in_engine if CANARY in text] == []
    assert in_files == []
    (used,) = home.rows("SELECT provider, tokens FROM usage")
    assert used == {"provider": "lab", "tokens": 120}


def _in_files(home: HomeOnDisk) -> list[str]:
    """Home, database, logs, boxes, chats, backups: everything but the one place where secrets are kept."""
    secrets = home.opened().paths.secrets
    found = files_with(CANARY.encode(), home.path, without=[secrets])
    assert files_with(CANARY.encode(), secrets), "the search finds nothing even where it is"
    return found + files_with(CANARY.encode(), home.channel)


async def inspected(home: HomeOnDisk, engine: Engine) -> list[str]:
    """All that the engine tells of the containers of this home and their image."""

    def look(client: docker.DockerClient) -> list[str]:
        # The types of the docker package leave these two out.
        layers = client.api.history(IMAGE)  # type: ignore[no-untyped-call]
        image = client.api.inspect_image(IMAGE)  # type: ignore[no-untyped-call]
        found = [json.dumps(layers), json.dumps(image)]
        for container in home.containers_now(client):
            found += [
                json.dumps(client.api.inspect_container(container)),
                client.api.logs(container).decode(errors="replace"),
                json.dumps(client.api.diff(container)),
            ]
        assert len(found) > 2, "no container was looked at"
        return found

    return await engine.call(look)
