"""A group's `AGENT.md` from the operator's file to the agent inside its walls. agents.md sections 4, 5."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from orchestrator.app.doors import App
from orchestrator.contracts.records.egress import FORWARDER_PORT, Secret
from orchestrator.contracts.records.launch import WORKSPACE_TARGET
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.runners.catalog import RunnerOptions, make_runner
from tests.agreement.runners.conftest import lacking
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk

UNWRITABLE = {"Read-only file system", "Device or resource busy", "Permission denied"}
KEY = "sk-canary-of-the-operator"
REF = "secret:providers/lab/api_key"
LAB = {
    "driver": "script",
    "auth_mode": "bound_secret",
    "slots": [{"name": "api_key", "target_env": "LAB_KEY"}],
    "wire": "anthropic",
    "environment": {"LAB_URL": "{base_url}", "LAB_HOME": "{home}/.lab"},
    "files": {".lab/settings.json": "url: {base_url}"},
}
# What a program of somebody else's would do: ask its model, and tell what it sees.
PROGRAM = """
import json, os, urllib.request
from pathlib import Path
asked = urllib.request.Request(
    os.environ["LAB_URL"] + "/v1/messages", data=b'{"model":"m","messages":[]}', method="POST",
    headers={"x-api-key": os.environ["LAB_KEY"], "content-type": "application/json"},
)
with urllib.request.urlopen(asked, timeout=30) as answer:
    said = json.load(answer)
settings = Path(os.environ["LAB_HOME"], "settings.json")
told = {"said": said, "environment": dict(os.environ), "settings": settings.read_text()}
for how, arguments in {"write_text": ["hook"], "unlink": [], "rename": [settings.with_suffix(".x")]}.items():
    try:
        getattr(settings, how)(*arguments)
        told[how] = "done"
    except OSError as error:
        told[how] = error.strerror
Path(os.environ["DOVECOTE_WORKSPACE"], "told.json").write_text(json.dumps(told))
"""


class Upstream(ThreadingHTTPServer):
    """A provider that answers every call, and keeps the headers of each."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.heard: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        """Its base."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Upstream

    def do_POST(self) -> None:
        self.server.heard.append({name.lower(): value for name, value in self.headers.items()})
        self.rfile.read(int(self.headers["content-length"]))
        body = b'{"type":"message","content":[]}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what was heard is kept."""


class OneSecret:
    """A store with one credential."""

    async def get(self, ref: str) -> Secret | None:
        """It, by its reference."""
        return Secret(KEY) if ref == REF else None


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def define(home: HomeOnDisk, text: str, folder: str = "kitchen") -> None:
    """Write the group's `AGENT.md`."""
    (home.opened().paths.groups / folder / "AGENT.md").write_text(text, encoding="utf-8")


def use_lab(home: HomeOnDisk, base_url: str) -> None:
    """A provider of the home, with its upstream in one setting; its program is played by the script."""
    lines = ["[lab]", *(f"{key} = {toml(value)}" for key, value in LAB.items())]
    (home.path / "providers.toml").write_text("\n".join(lines), encoding="utf-8")
    home.set(providers__lab__base_url=base_url, agent__permissions="deny-all")


def toml(value: object) -> str:
    """Plain values as TOML writes them."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(each)}" for key, each in value.items()) + "}"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list) else json.dumps(value)


def play_program(home: HomeOnDisk, workspace: str) -> None:
    """Each turn runs the program."""
    program = home.workspace() / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o644)
    home.play({"default": [{"run": ["python3", "-s", "-P", f"{workspace}/program.py"]}, {"say": "done"}]})


def told(home: HomeOnDisk) -> dict[str, Any]:
    """What the program saw."""
    found: dict[str, Any] = json.loads((home.workspace() / "told.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("kind", ["process", pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)])
async def test_a_program_reaches_its_provider_without_ever_seeing_the_key(
    home: HomeOnDisk, upstream: Upstream, kind: str
) -> None:
    await home.add_group()
    use_lab(home, upstream.url)
    define(home, "---\nprovider: lab\nenv:\n  COLOUR: green\n---\nYou are {{ assistant_name }}.")
    play_program(home, WORKSPACE_TARGET if kind == "bubblewrap" else str(home.workspace()))
    options = RunnerOptions(image="", programs_directory=home.path / "data" / "programs")
    runner = make_runner(kind, options)
    if (reason := await runner.why_not()) is not None:
        await runner.close()
        lacking(reason)

    async with home.running(runner=(runner, kind), secrets=OneSecret()):
        home.ask("go")
        await home.said("done")

    (heard,) = upstream.heard
    assert heard["x-api-key"] == KEY
    seen = told(home)
    assert seen["said"]["type"] == "message"
    assert KEY not in json.dumps(seen)
    environment = seen["environment"]
    assert environment["COLOUR"] == "green"
    assert environment["LAB_HOME"].endswith("/.lab")
    assert environment["DOVECOTE_PROVIDER"] == "lab"
    assert environment["DOVECOTE_PROVIDER_AUTH_MODE"] == "bound_secret"
    assert seen["settings"] == f"url: {environment['LAB_URL']}"
    if kind != "process":
        assert {seen[how] for how in ("write_text", "unlink", "rename")} <= UNWRITABLE
        assert environment["LAB_URL"] == f"http://127.0.0.1:{FORWARDER_PORT}"
    (row,) = home.rows("SELECT DISTINCT provider FROM agents")
    assert row["provider"] == "lab"
    assert list((home.path / "data" / "run" / "egress").iterdir()) == []


async def test_a_broken_definition_is_told_once_and_the_message_answered_once_it_is_mended(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    define(home, "---\npermissions: maybe\n---\n")
    excuse = say(Say.NOT_SET_UP, "en")

    async with home.running() as app:
        home.ask("hello")
        await home.said(excuse)
        await eventually(lambda: any("line 2" in text for text in main_texts(home)), what=home.story)
        define(home, "---\npermissions: deny-all\n---\n")
        await let_it_try_again(app)
        # An agent may answer before it is noted that it runs.
        wanted = sorted([excuse, say(Say.WORKING_AGAIN, "en"), "re: @Assistant hello"])
        await eventually(lambda: sorted(home.texts()) == wanted, what=home.story)

    (line,) = home.logs("agent.not_started")[:1]
    assert "'deny-all', 'approve-reads' or 'approve-all'" in line["error"]


async def test_a_required_credential_that_is_missing_fails_the_start_by_its_name(
    home: HomeOnDisk, upstream: Upstream
) -> None:
    await home.add_group()
    use_lab(home, upstream.url)
    define(home, "---\nprovider: lab\n---\n")

    async with home.running():
        home.ask("hello")
        await home.said(say(Say.NOT_SET_UP, "en"))
        await eventually(lambda: any("api_key" in text for text in main_texts(home)), what=home.story)

    (text,) = [text for text in main_texts(home) if "api_key" in text]
    assert "dovecote secret set providers/lab/api_key" in text
    assert upstream.heard == []


def main_texts(home: HomeOnDisk) -> list[str]:
    """What operators read in the main chat."""
    rows = home.rows("SELECT text FROM outbox WHERE chat_jid = 'console:main' ORDER BY id")
    return [row["text"] for row in rows]


async def let_it_try_again(app: App) -> None:
    """The wait between two tries is over."""
    await app.services.db.run(lambda tx: tx.execute("UPDATE messages SET due_ms = 0", {}))
