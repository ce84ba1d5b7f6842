"""A whole installation in a directory: settings, groups, their scenarios, and the people in their chats."""

import contextlib
import json
import os
import sqlite3
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

import docker

from orchestrator.app.doors import App
from orchestrator.app.parts import Replacements, SystemClock
from orchestrator.app.running import running
from orchestrator.cli.home import Home, make_home, open_home
from orchestrator.cli.logging_setup import logging_to
from orchestrator.cli.store_services import open_store_services
from orchestrator.commands.groups.groups import NewGroup, add_group
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.egress_seams import SecretValues
from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.launch import AGENT_RUNNER_COMMAND
from orchestrator.contracts.seams import Checkpoints, Clock, Runner
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.docker_leftovers import INSTANCE_LABEL
from tests.support.eventually import eventually
from tests.support.file_channel import PREFIX, FileChannel, read_lines, write_json

MEMBER: Final = "file:ada"
TRIGGER: Final = "@Assistant"
NOTE_OF_A_RESENT: Final = f"\n\n{say(Say.RESENT_NOTE, 'en')}"
_BEGUN: Final = "begun"
ECHO: Final[Mapping[str, object]] = {"default": [{"say": "re: {texts}"}]}
"""A scenario: every turn is answered by what it was given."""
_QUICK: Final = {
    "message_poll_s": 0.2,
    "shutdown_grace_s": 5,
    "disk_floor_bytes": 0,
    "agent.driver": "script",
    "agent.runner": "process",
    "agent.stop_grace_s": 2,
    "outbox.backoff_first_s": 0.05,
    "ipc.poll_s": 0.2,
    "api.loopback": False,
}
"""Settings under which a test waits for little; the disk of a test machine may be nearly full."""


def once(match: str, *steps: object) -> Mapping[str, object]:
    """A scenario: these steps for the first message with `match`, of all runs; then an echo.

    `HomeOnDisk.begun` tells when they are being played.
    """
    begin = {"write_file": {"path": _BEGUN, "text": ""}}
    return {"rules": [{"match": match, "times": 1, "steps": [begin, *steps]}], **ECHO}


class HomeOnDisk:
    """One home. It may be served by another process or, by `running`, in this one."""

    def __init__(self, root: Path) -> None:
        self.path = root / "home"
        self.channel = root / "channel"
        self.path.mkdir(parents=True)
        (self.channel / "in").mkdir(parents=True)
        self._said = 0
        self.set()

    def set(self, **settings: object) -> None:
        """Write `dovecote.toml`: quick settings, and these; `agent__runner` is `agent.runner`."""
        given = {name.replace("__", "."): value for name, value in settings.items()}
        lines = [f"{name} = {json.dumps(value)}" for name, value in (_QUICK | given).items()]
        (self.path / "dovecote.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def opened(self) -> Home:
        """Its settings and paths, as a command would load them."""
        return open_home(self.path)

    async def add_group(self, folder: str = "kitchen", **fields: Any) -> Jid:
        """Register `file:{folder}` while nothing runs; its chat's id."""
        home = self.opened()
        make_home(home)
        jid = Jid(f"{PREFIX}{folder}")
        async with open_store_services(home) as services:
            await add_group(services, HostCaller(), NewGroup(jid=jid, folder=folder, **fields))
        return jid

    def workspace(self, folder: str = "kitchen") -> Path:
        """The agent's directory, made if it is not there yet."""
        path = self.opened().paths.group(GroupFolder(folder)) / "workspace"
        path.mkdir(mode=0o755, parents=True, exist_ok=True)
        return path

    def play(self, scenario: Mapping[str, object], folder: str = "kitchen") -> None:
        """What the script driver of a group does from its next start on."""
        path = self.workspace(folder) / "scenario.yaml"
        path.write_text(json.dumps(scenario), encoding="utf-8")  # JSON is YAML
        path.chmod(0o644)

    def say(self, text: str, *, chat: str = "file:kitchen", **fields: object) -> str:
        """A person writes into a chat; the message's id."""
        self._said += 1
        message_id = str(fields.pop("message_id", f"m{self._said}"))
        plain = {
            "chat_jid": chat,
            "message_id": message_id,
            "sender_jid": MEMBER,
            "sender_name": "Ada",
            "text": text,
            "chat_is_group": True,
        }
        write_json(self.channel / "in" / f"{self._said:06}.json", plain | fields)
        return message_id

    def ask(self, text: str, **fields: Any) -> str:
        """A person calls the assistant."""
        return self.say(f"{TRIGGER} {text}", **fields)

    def behave(self, *rules: Mapping[str, object]) -> None:
        """How the network treats what is sent from now on; see `file_channel`."""
        write_json(self.channel / "behaviour.json", list(rules))

    def sends(self, chat: str = "file:kitchen") -> list[dict[str, Any]]:
        """What the network took in one chat, in order."""
        return [
            line
            for line in read_lines(self.channel / "sends.jsonl")
            if line["accepted"] and line["chat"] == chat
        ]

    def file_of(self, send: Mapping[str, Any]) -> tuple[str, str, bytes] | None:
        """The name, type and bytes of the file that a line of `sends` had."""
        if send["file"] is None:
            return None
        name, media_type, size_bytes = send["file"]
        content = (self.channel / "files" / f"{send['outbox_id']}-{send['attempt']}").read_bytes()
        assert len(content) == size_bytes
        return name, media_type, content

    def texts(self, chat: str = "file:kitchen") -> list[str]:
        """The texts that people see in one chat."""
        return [line["text"] for line in self.sends(chat)]

    def texts_once(self, chat: str = "file:kitchen") -> list[str]:
        """The texts that people see in one chat, where a text said again with the note that it may have
        arrived before counts as one with the first.

        A kill at a point after the commit of a text can fall before, in or after its send.
        """
        once_each = list[str]()
        for text in self.texts(chat):
            plain = text.removesuffix(NOTE_OF_A_RESENT)
            if plain == text or plain not in once_each:
                once_each.append(plain)
        return once_each

    def refusals(self) -> int:
        """How often the orchestrator could not store what the network brought."""
        return len(read_lines(self.channel / "refusals.jsonl"))

    def typing(self, chat: str = "file:kitchen") -> list[bool]:
        """How the typing indicator went on and off."""
        lines = read_lines(self.channel / "typing.jsonl")
        return [line["is_typing"] for line in lines if line["chat"] == chat]

    def logs(self, event: str | None = None) -> list[dict[str, Any]]:
        """The orchestrator's log, of all its lives."""
        lines = read_lines(self.path / "data" / "logs" / "dovecote.log")
        return [line for line in lines if event is None or line["event"] == event]

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """What the store holds, read beside whoever writes it."""
        path = self.path / "data" / "store" / "dovecote.db"
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(query, values)]

    def statuses(self, chat: str = "file:kitchen") -> dict[str, str]:
        """Of each message of a chat: its status."""
        found = self.rows("SELECT message_id, status FROM messages WHERE chat_jid = ? ORDER BY seq", chat)
        return {row["message_id"]: row["status"] for row in found}

    def is_quiet(self) -> bool:
        """Whether nothing waits to be taken in, answered or sent."""
        waiting = "SELECT 1 FROM messages WHERE status = 'dispatched' OR (status = 'pending' AND is_trigger)"
        leaving = "SELECT 1 FROM outbox WHERE status IN ('queued', 'sending', 'unknown')"
        return not any((self.channel / "in").iterdir()) and not self.rows(f"{waiting} UNION ALL {leaving}")

    async def quiet(self, *, within_s: float = 50.0) -> None:
        """Wait until nothing waits."""
        await eventually(self.is_quiet, within_s=within_s, what=self.story)

    async def said(self, *texts: str, chat: str = "file:kitchen", within_s: float = 40.0) -> None:
        """Wait until exactly these texts have left, in this order."""
        await eventually(
            lambda: self.texts(chat) == list(texts),
            within_s=within_s,
            what=lambda: (list(texts), self.story()),
        )

    async def begun(self, folder: str = "kitchen") -> None:
        """Wait until the steps of `once` are being played."""
        await eventually((self.workspace(folder) / _BEGUN).exists, what=self.story)

    def story(self) -> str:
        """How things stand, for a failure's message."""
        states = self.rows("SELECT message_id, status, tries, deaths, due_ms FROM messages")
        texts = self.rows("SELECT id, text, status, was_resent FROM outbox")
        tail = "\n".join(json.dumps(line) for line in self.logs()[-25:])
        return f"\nmessages: {states}\noutbox: {texts}\nlog:\n{tail}"

    def processes(self) -> list[str]:
        """What still runs for this home: command lines that name it, and agents of its instance."""
        names = {str(self.path), *(row["value"] for row in self._instance())}
        found: list[str] = []
        for each in Path("/proc").iterdir():
            if each.name.isdigit() and int(each.name) != os.getpid():
                with contextlib.suppress(OSError):
                    words = (each / "cmdline").read_bytes() + (each / "environ").read_bytes()
                    if any(name.encode() in words for name in names):
                        found.append(f"{each.name}: {(each / 'cmdline').read_bytes()!r}")
        return found

    def boxes(self) -> list[str]:
        """The boxes that lie on the disk."""
        path = self.path / "data" / "ipc"
        return sorted(each.name for each in path.iterdir() if each.name != "errors") if path.exists() else []

    async def containers(self, engine: Engine) -> list[str]:
        """The ids of the containers of this home."""
        return await engine.call(self.containers_now)

    def containers_now(self, client: docker.DockerClient) -> list[str]:
        """The same, by a connection to the engine. Blocks."""
        labels = [f"{INSTANCE_LABEL}={row['value']}" for row in self._instance()]
        found = [client.api.containers(all=True, filters={"label": label}) for label in labels]
        return [each["Id"] for containers in found for each in containers]

    async def nothing_left(self) -> None:
        """Wait until no process and no box is left of this home."""
        await eventually(
            lambda: not self.processes() and not self.boxes(), what=lambda: (self.processes(), self.boxes())
        )

    def _instance(self) -> list[dict[str, Any]]:
        try:
            return self.rows("SELECT value FROM facts WHERE name = 'instance'")
        except sqlite3.DatabaseError:
            return []

    @contextlib.asynccontextmanager
    async def running(
        self,
        *,
        clock: Clock | None = None,
        checkpoints: Checkpoints | None = None,
        runner: tuple[Runner, str] | None = None,
        command: tuple[str, ...] = AGENT_RUNNER_COMMAND,
        max_text_chars: int = 4_000,
        secrets: SecretValues | None = None,
    ) -> AsyncIterator[App]:
        """The real orchestrator on this home, in this process."""
        home = self.opened()
        make_home(home)
        parts = Replacements(
            clock=clock,
            checkpoints=checkpoints,
            runner=runner,
            channels=[FileChannel(self.channel, max_text_chars=max_text_chars)],
            serves_api=False,
            agent_command=command,
            secrets=secrets,
        )
        with logging_to(
            home.paths.log_file, home.settings.logs, clock=clock or SystemClock(), on_terminal=False
        ):
            async with running(home.settings, home.paths, replacements=parts) as app:
                yield app
