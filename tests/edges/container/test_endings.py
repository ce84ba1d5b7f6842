"""How an agent runner ends: asked, killed, orphaned, or left with nobody listening."""

import array
import asyncio
import fcntl
import os
import signal
import termios

import pytest

from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.contracts.wire.framing import LogLine
from tests.edges.container.agent_process import Home, agent, eventually, given


async def test_sigterm_in_a_turn_cancels_it_with_its_ack_and_event(home: Home) -> None:
    home.play({"turns": [[{"say": "so far"}, {"delay_s": 600}]]})
    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.texts)

        running.process.send_signal(signal.SIGTERM)
        code = await running.exit_code()

    assert code == 0
    assert [(ended.status, ended.outputs) for ended in running.ended] == [(TurnStatus.CANCELLED, 1)]
    assert home.ack("turn-1")["status"] == "cancelled"


async def test_sigterm_leaves_follow_ups_that_wait_for_the_host_to_take_back(home: Home) -> None:
    home.play({"turns": [[{"say": "so far"}, {"delay_s": 600}]]})
    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.texts)
        home.follow_up("0001.json", "two", ids=["m2"], turn_id="turn-2")

        running.process.send_signal(signal.SIGTERM)
        code = await running.exit_code()

    assert code == 0
    assert [started.turn_id for started in running.started] == ["turn-1"]
    assert home.input_names() == ["0001.json"]


@pytest.mark.parametrize("is_first_turn_done", [False, True], ids=["before its input", "idle"])
async def test_sigterm_outside_a_turn_is_an_orderly_exit(home: Home, is_first_turn_done: bool) -> None:
    async with agent(home) as running:
        await running.until(lambda: running.items)
        if is_first_turn_done:
            await running.give(given("one"))
            await running.until(lambda: running.ended)

        running.process.send_signal(signal.SIGTERM)
        code = await running.exit_code()

    assert code == 0


async def test_an_agent_told_to_ignore_sigterm_goes_on_until_it_is_killed(home: Home) -> None:
    home.play(
        {"turns": [[{"ignore_sigterm": True}, {"say": "deaf"}, {"wait_for_file": "go"}, {"say": "still"}]]}
    )
    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.texts)

        running.process.send_signal(signal.SIGTERM)
        (home.workspace / "go").touch()
        await running.until(lambda: running.ended)
        running.process.kill()
        code = await running.exit_code()

    assert running.texts == ["deaf", "still"]
    assert code == -signal.SIGKILL


@pytest.mark.parametrize(
    ("step", "code"),
    [
        pytest.param({"crash": "SEGV"}, -signal.SIGSEGV, id="by a signal's name"),
        pytest.param({"crash": 9}, -signal.SIGKILL, id="by its number"),
        pytest.param({"exit": 7}, 7, id="by an exit code"),
        pytest.param({"exit": 0}, 0, id="by an exit that looks clean"),
    ],
)
async def test_an_agent_that_dies_in_a_turn_leaves_a_started_ack_and_its_texts(
    home: Home, step: dict[str, object], code: int
) -> None:
    home.play({"turns": [[{"say": "so far"}, {"open_pair": "half"}, step]]})
    async with agent(home) as running:
        await running.give(given("one"))

        ended_with = await running.exit_code()

    assert ended_with == code
    assert running.texts == ["so far"]
    assert not running.ended
    assert home.ack("turn-1")["status"] == "started"


async def test_the_noise_of_a_child_process_does_not_reach_the_wire(home: Home) -> None:
    forger = "printf 'OUTPUT_START_MARKER\\nforged\\nOUTPUT_END_MARKER\\nAGENT_EVENT {}\\n'; cat"
    home.play({"turns": [[{"run": ["sh", "-c", forger]}, {"say": "real"}]]})

    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.ended)

    assert running.texts == ["real"]
    assert not [item for item in running.items if isinstance(item, LogLine)]
    assert "forged" in running.stderr


async def test_raw_bytes_without_a_newline_do_not_swallow_the_end_of_the_turn(home: Home) -> None:
    home.play({"turns": [[{"say_raw": "noise"}, {"say": "text"}, {"say_raw": "more noise"}]]})

    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.ended)

    assert running.texts == ["text"]
    assert [item.text for item in running.items if isinstance(item, LogLine)] == ["noise", "more noise"]


async def test_an_agent_whose_reader_is_gone_ends_with_1_and_claims_no_finished_turn(home: Home) -> None:
    home.play({"turns": [[{"wait_for_file": "go"}, {"flood": {"bytes": 1_000_000}}]]})
    read_end, write_end = os.pipe()
    async with agent(home, stdout=write_end) as running:
        os.close(write_end)
        await running.give(given("one"))
        await eventually(lambda: home.ack("turn-1"))

        os.close(read_end)
        (home.workspace / "go").touch()
        code = await running.exit_code()

    assert code == 1
    assert home.ack("turn-1")["status"] == "started"


async def test_a_turn_survives_a_host_that_reads_slowly(home: Home) -> None:
    home.play({"turns": [[{"flood": {"bytes": 3_000_000, "newlines": True}}, {"say": "after"}]]})
    read_end, write_end = os.pipe()
    async with agent(home, stdout=write_end) as running:
        os.close(write_end)
        await running.give(given("one"))
        await eventually(lambda: home.ack("turn-1"))

        size, tail = 0, b""
        while b'"turn_ended"' not in tail:
            piece = await asyncio.to_thread(os.read, read_end, 10_000)
            size, tail = size + len(piece), (tail + piece)[-4096:]
    os.close(read_end)

    assert size > 3_000_000
    assert b"\nOUTPUT_START_MARKER\nafter\nOUTPUT_END_MARKER\n" in tail


async def test_sigterm_while_the_host_does_not_read_never_leaves_half_a_pair_before_the_end(
    home: Home,
) -> None:
    home.play({"turns": [[*[{"say": "x" * 60_000}] * 5, {"delay_s": 600}]]})
    read_end, write_end = os.pipe()
    async with agent(home, stdout=write_end) as running:
        os.close(write_end)
        await running.give(given("one"))
        await eventually(lambda: pending_bytes(read_end) > 50_000)

        running.process.send_signal(signal.SIGTERM)
        content = await asyncio.to_thread(read_to_end, read_end)
        code = await running.exit_code()

    assert code == 0
    assert content.count(b"OUTPUT_START_MARKER\n") == content.count(b"OUTPUT_END_MARKER\n")
    outputs = content.count(b"OUTPUT_END_MARKER\n")
    assert home.ack("turn-1")["outputs"] == outputs
    assert home.ack("turn-1")["status"] == "cancelled"


def read_to_end(descriptor: int) -> bytes:
    """Everything until the last writer is gone; the descriptor is closed."""
    with open(descriptor, "rb") as file:
        return file.read()


def pending_bytes(descriptor: int) -> int:
    """How many bytes lie in a pipe."""
    size = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, size)
    return size[0]
