"""A real agent runner in a real process, with a box, a workspace and a home of its own."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from orchestrator.contracts.ids import GroupFolder, Jid, TurnId
from orchestrator.contracts.wire.boxes import BOX_DIRECTORIES, temporary_name
from orchestrator.contracts.wire.codec import to_json
from orchestrator.contracts.wire.container_io import (
    AgentDefinition,
    AgentEvent,
    ContainerInput,
    TurnEnded,
    TurnStarted,
    parse_event,
)
from orchestrator.contracts.wire.framing import EventLine, LogLine, OutputReader, Text

PATIENCE_S = 50.0
REPOSITORY = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The directories an agent is given."""

    root: Path

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def box(self) -> Path:
        return self.root / "box"

    def environment(self) -> dict[str, str]:
        """What a runner sets, and nothing else of this process but what finds Python's own files."""
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(REPOSITORY),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.root / "home"),
            "DOVECOTE_WORKSPACE": str(self.workspace),
            "DOVECOTE_GLOBAL": str(self.root / "shared"),
            "DOVECOTE_BOX": str(self.box),
        }

    def drop(self, name: str, content: object) -> None:
        """Rename a file into `input/`, as the host does; a text is written as it is, else as JSON."""
        directory = self.box / "input"
        temporary = directory / temporary_name(name)
        temporary.write_text(content if isinstance(content, str) else json.dumps(content))
        temporary.rename(directory / name)

    def follow_up(self, name: str, text: str, *, ids: Sequence[str], turn_id: str) -> None:
        """A follow-up file in the form that an older host writes, which names no triggers."""
        xml = message_xml(text, message_id=ids[-1])
        self.drop(name, {"type": "message", "content": xml, "text": xml, "ids": list(ids), "turnId": turn_id})

    def play(self, scenario: object) -> None:
        """Put a scenario where the script driver looks for it."""
        (self.workspace / "scenario.yaml").write_text(yaml.safe_dump(scenario))

    def input_names(self) -> list[str]:
        return sorted(os.listdir(self.box / "input"))

    def requests(self, directory: str) -> list[Path]:
        """The finished files of a request directory, in name order; one being written is none yet."""
        return sorted(path for path in (self.box / directory).iterdir() if not path.name.startswith("."))

    def ack(self, turn_id: str) -> Mapping[str, object]:
        """What `acks/{turnId}.json` says at this moment; empty if there is none."""
        path = self.box / "acks" / f"{turn_id}.json"
        content = json.loads(path.read_text()) if path.exists() else {}
        assert isinstance(content, dict)
        return content


def make_home(root: Path) -> Home:
    """All the directories, empty."""
    for name in ("workspace", "shared", "home", *(f"box/{directory}" for directory in BOX_DIRECTORIES)):
        (root / name).mkdir(parents=True)
    return Home(root=root)


def message_xml(text: str, *, message_id: str = "m1") -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f'<message id="{message_id}" timestamp="2025-03-30T01:00:00+00:00" sender="Ada" '
        f'sender_id="console:ada" sender_role="operator" role="user">\n{escaped}\n</message>'
    )


def given(
    *texts: str,
    driver: str = "script",
    is_main: bool = False,
    turn_id: str = "turn-1",
    triggers: Sequence[str] = (),
    options: Mapping[str, object] | None = None,
) -> ContainerInput:
    """An input with one message a text, whose ids are m1, m2, …; no triggers: an older host's."""
    ids = tuple(f"m{n}" for n in range(1, len(texts) + 1))
    xml = tuple(message_xml(text, message_id=message_id) for text, message_id in zip(texts, ids, strict=True))
    return ContainerInput(
        messages=xml,
        prompt="\n".join(xml),
        inputs=ids,
        triggers=tuple(triggers),
        group_folder=GroupFolder("family"),
        chat_jid=Jid("console:family"),
        assistant_name="Assistant",
        turn_id=TurnId(turn_id),
        is_main=is_main,
        timezone="Europe/Berlin",
        agent=AgentDefinition(driver=driver, options=options),
    )


@dataclass(slots=True, kw_only=True)
class AgentProcess:
    """A running agent runner and what it has printed so far."""

    process: asyncio.subprocess.Process
    items: list[Text | AgentEvent | LogLine] = field(default_factory=list)
    stderr: str = ""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    async def give(self, input_line: ContainerInput | bytes) -> None:
        """Write standard input to its end and close it."""
        assert self.process.stdin is not None
        line = to_json(input_line).encode() + b"\n" if isinstance(input_line, ContainerInput) else input_line
        self.process.stdin.write(line)
        await self.process.stdin.drain()
        self.process.stdin.close()

    @property
    def texts(self) -> list[str]:
        return [item.text for item in self.items if isinstance(item, Text)]

    @property
    def started(self) -> list[TurnStarted]:
        return [item for item in self.items if isinstance(item, TurnStarted)]

    @property
    def ended(self) -> list[TurnEnded]:
        return [item for item in self.items if isinstance(item, TurnEnded)]

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until what was printed meets the condition."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def until_ended(self, count: int) -> None:
        """Wait for the end of so many turns."""
        await self.until(lambda: len(self.ended) >= count)

    async def exit_code(self) -> int:
        """Wait for the end of the process and of its output."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.process.wait()

    async def read_stdout(self) -> None:
        if self.process.stdout is None:
            return
        reader = OutputReader()
        while chunk := await self.process.stdout.read(65536):
            self._take(reader.feed(chunk))
        self._take(reader.finish())

    async def read_stderr(self) -> None:
        assert self.process.stderr is not None
        while chunk := await self.process.stderr.read(65536):
            self.stderr += chunk.decode(errors="replace")
            self._news.set()

    def _take(self, items: Sequence[object]) -> None:
        for item in items:
            if isinstance(item, EventLine):
                self.items.append(parse_event(item.plain))
            elif isinstance(item, Text | LogLine):
                self.items.append(item)
        self._news.set()


@asynccontextmanager
async def agent(
    home: Home, *, extra: Mapping[str, str] | None = None, stdout: int = asyncio.subprocess.PIPE
) -> AsyncIterator[AgentProcess]:
    """An agent runner in a process group of its own; all of it is gone at the end.

    stdout: a descriptor that the test reads itself.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "container.agent_runner",
        stdin=asyncio.subprocess.PIPE,
        stdout=stdout,
        stderr=asyncio.subprocess.PIPE,
        env=home.environment() | dict(extra or {}),
        cwd=home.workspace,
        process_group=0,
    )
    running = AgentProcess(process=process)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(running.read_stdout(), name="read stdout")
            tasks.create_task(running.read_stderr(), name="read stderr")
            try:
                yield running
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, 9)
                await process.wait()
    finally:
        if process.stdin is not None:
            process.stdin.close()


async def eventually(condition: Callable[[], object]) -> None:
    """Wait for something that no event of ours tells of."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110  files and processes give no event here
            await asyncio.sleep(0.01)
