"""How an agent runner starts, and what it does with what it is given."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from orchestrator.contracts.wire.container_io import (
    AgentDefinition,
    AgentLog,
    Ready,
    SessionNamed,
    TurnStatus,
)
from tests.edges.container.agent_process import REPOSITORY, Home, agent, given

HEAVY = {"asyncio", "pydantic", "mcp", "jinja2", "docker", "yaml"}


def test_the_agent_runner_loads_nothing_heavy_before_it_is_ready() -> None:
    listing = "import sys, container.agent_runner; print('\\n'.join(sys.modules))"

    done = subprocess.run(
        [sys.executable, "-c", listing], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )

    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "container" in loaded
    assert not loaded & HEAVY


async def test_ready_is_said_first_with_the_protocol_and_what_is_mounted_where(home: Home) -> None:
    async with agent(home, extra={"DOVECOTE_VERSION": "9.9"}) as running:
        await running.until(lambda: running.items)
        ready = running.items[0]

        await running.give(b"")

    assert isinstance(ready, Ready)
    assert (ready.protocol, ready.version) == (1, "9.9")
    workspace = os.stat(home.workspace)
    assert ready.mounts is not None
    assert ready.mounts[str(home.workspace)] == f"{workspace.st_dev}:{workspace.st_ino}"
    assert {str(home.box), str(home.box / "input"), str(home.root / "home")} <= set(ready.mounts)


async def test_an_input_that_ends_before_its_line_is_an_orderly_exit(home: Home) -> None:
    async with agent(home) as running:
        await running.give(b"")

        code = await running.exit_code()

    assert code == 0
    assert not running.started


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"{nonsense\n", id="not JSON"),
        pytest.param(b"[1, 2]\n", id="not an object"),
        pytest.param(b'{"messages": [], "prompt": "x"}\n', id="fields missing"),
        pytest.param(b'{"messages": "x"', id="cut off"),
        pytest.param(b"[" * 100_000 + b"\n", id="too deep"),
    ],
)
async def test_an_unreadable_input_is_told_and_ends_with_2(home: Home, line: bytes) -> None:
    async with agent(home) as running:
        await running.give(line)

        code = await running.exit_code()

    assert code == 2
    logs = [item for item in running.items if isinstance(item, AgentLog)]
    assert [log.level for log in logs] == ["error"]
    assert not running.started


async def test_e13_a_host_of_another_protocol_is_told_to_rebuild_and_gets_3(home: Home) -> None:
    """Case E13."""
    async with agent(home) as running:
        await running.give(json.dumps({"protocol": 2, "entirely": "other fields"}).encode() + b"\n")

        code = await running.exit_code()

    assert code == 3
    assert [item for item in running.items if isinstance(item, AgentLog) and "rebuild" in item.message]


async def test_the_fields_of_the_source_document_alone_are_enough(home: Home) -> None:
    plain = {
        "messages": ['<message id="m7" timestamp="t" sender="Ada" role="user">\n@Andy echo hi\n</message>'],
        "groupFolder": "family",
        "chatJid": "1@g.us",
        "assistantName": "Andy",
    }
    async with agent(home) as running:
        await running.give(json.dumps(plain).encode() + b"\n")
        await running.until(lambda: running.ended)

    assert running.texts == ["hi"]
    assert running.ended[0].inputs == ("m7",)


async def test_a_large_input_arrives_whole(home: Home) -> None:
    long = "x" * 3_000_000
    home.play({"default": [{"write_file": {"path": "seen", "text": "{text}"}}, {"say": "{text}"}]})

    async with agent(home) as running:
        await running.give(given(f"start {long} end"))
        await running.until(lambda: running.ended)

    assert running.ended[0].outputs == 1
    # The reader of the wire cuts a text at 64 KiB; its beginning shows that the message came through.
    assert running.texts[0].startswith("start xxx")


async def test_an_unknown_driver_fails_the_turn_and_names_those_there_are(home: Home) -> None:
    async with agent(home) as running:
        await running.give(given("hello", driver="telepathy"))
        await running.until(lambda: running.ended)

    ended = running.ended[0]
    assert ended.status is TurnStatus.ERROR
    assert ended.error is not None
    assert ended.error.code == "START_FAILED"
    assert "builtin" in ended.error.message


async def test_the_session_is_named_before_the_first_text(home: Home) -> None:
    home.play({"session": "s-42", "default": [{"say": "hi"}]})

    async with agent(home) as running:
        await running.give(given("hello"))
        await running.until(lambda: running.ended)

    kinds = [type(item).__name__ for item in running.items]
    assert SessionNamed(session_id="s-42") in running.items
    assert kinds.index("SessionNamed") < kinds.index("Text")


async def test_without_its_program_it_says_so_and_ends_and_leaves_the_next_message(home: Home) -> None:
    agent_of_a_program = AgentDefinition(driver="acp", command=("no-such-program",))

    async with agent(home) as running:
        home.follow_up("0001.json", "again", ids=["m2"], turn_id="turn-2")
        await running.give(replace(given("hello"), agent=agent_of_a_program))
        code = await running.exit_code()

    (ended,) = running.ended
    assert code == 0
    assert (ended.status, ended.inputs, running.texts) == (TurnStatus.ERROR, ("m1",), [])
    assert ended.error is not None
    assert ended.error.code == "PROGRAM_MISSING"
    assert "no-such-program" in ended.error.message
    assert home.input_names() == ["0001.json"]
