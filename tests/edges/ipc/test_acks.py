"""What an agent leaves in `acks/` is believed as far as it is well formed, and bounded in every way."""

import asyncio
import json
import os
from pathlib import Path

import pytest
import structlog

from orchestrator.contracts.ids import BoxName
from orchestrator.ipc.acks import MAX_ACK_BYTES, MAX_ACKS, MAX_ACKS_BYTES, prune_acks, read_acks
from orchestrator.ipc.box import Box
from orchestrator.ipc.box_writer import BoxWriter
from orchestrator.store.safe_dir import SafeDir
from tests.edges.ipc.conftest import RealClock, World, no_more_files
from tests.support.eventually import eventually
from tests.support.plain_user import plain_users_threads

ENDED = '{"turnId":"t-1","inputs":["m1"],"outputs":2,"status":"success"'
NO_ACKS = {
    "not a number": ENDED + ',"usage":{"cost_usd":NaN}}',
    "infinity": ENDED + ',"usage":{"cost_usd":1e999}}',
    "an integer that no store takes": ENDED + f',"usage":{{"input_tokens":{2**63}}}}}',
    "an integer of 4,000 digits": ENDED.replace("2", "9" * 4_000) + "}",
    "another turn's name": ENDED.replace("t-1", "t-2") + "}",
    "an unknown status": ENDED.replace("success", "glorious") + "}",
    "a field twice": ENDED + ',"turnId":"t-1"}',
    "inputs that are no names": ENDED.replace('"m1"', "[1]") + "}",
    "nested deeply": '{"turnId":' + "[" * 30_000,
    "no object": "[1]",
    "empty": "",
}


def _read(path: Path) -> dict[str, object]:
    with SafeDir.open(path) as acks:
        return {str(turn_id): ack for turn_id, ack in read_acks(acks).items()}


def _put(directory: Path, name: str, text: str, *, at_s: int = 0) -> None:
    (directory / f"{name}.json").write_text(text)
    os.utime(directory / f"{name}.json", (at_s, at_s))


@pytest.mark.parametrize("content", NO_ACKS.values(), ids=NO_ACKS.keys())
def test_what_is_no_ack_is_left_out_and_the_others_are_read(tmp_path: Path, content: str) -> None:
    _put(tmp_path, "t-1", content)
    _put(tmp_path, "t-3", '{"turnId":"t-3","inputs":["m3"],"status":"started"}')

    assert _read(tmp_path) == {"t-3": {"turnId": "t-3", "inputs": ["m3"], "status": "started"}}


def test_of_an_ack_only_the_event_is_kept(tmp_path: Path) -> None:
    _put(tmp_path, "t-1", ENDED + ',"usage":{"input_tokens":7,"more":[1]},"extra":{"a":[[[]]]}}')

    assert _read(tmp_path) == {
        "t-1": {
            "turnId": "t-1",
            "inputs": ["m1"],
            "outputs": 2,
            "status": "success",
            "usage": {"input_tokens": 7},
            "type": "turn_ended",
        }
    }


def test_acks_come_oldest_first_whatever_their_names(tmp_path: Path) -> None:
    for at_s, name in enumerate(("t-9", "t-1", "t-5")):
        _put(tmp_path, name, json.dumps({"turnId": name, "status": "started"}), at_s=at_s)

    assert list(_read(tmp_path)) == ["t-9", "t-1", "t-5"]


def test_of_a_thousand_and_one_acks_the_oldest_is_not_read(tmp_path: Path) -> None:
    for number in range(MAX_ACKS + 1):
        name = f"t-{MAX_ACKS - number}"
        _put(tmp_path, name, json.dumps({"turnId": name, "status": "started"}), at_s=number)

    assert sorted(_read(tmp_path)) == sorted(f"t-{number}" for number in range(MAX_ACKS))


def test_only_acks_that_are_never_read_go_and_no_young_ones(tmp_path: Path) -> None:
    for number in range(MAX_ACKS + 4):
        name = f"t-{number}"
        _put(tmp_path, name, json.dumps({"turnId": name, "status": "started"}), at_s=number)
    read_before = _read(tmp_path)

    with SafeDir.open(tmp_path) as acks:
        prune_acks(acks, before_ns=3 * 10**9, max_entries=10_000)

    left = {each.stem for each in tmp_path.iterdir()}
    assert left == {f"t-{number}" for number in range(3, MAX_ACKS + 4)}
    assert _read(tmp_path) == read_before


def test_no_more_is_read_than_64_kib_of_one_ack_and_2_mib_of_all(tmp_path: Path) -> None:
    def ack(name: str, size: int) -> str:
        text = json.dumps({"turnId": name, "status": "started", "pad": ""})
        return text.replace('""', '"' + "x" * (size - len(text)) + '"')

    whole = MAX_ACKS_BYTES // MAX_ACK_BYTES
    for number in range(whole + 3):
        name = f"t-{number:03}"
        _put(tmp_path, name, ack(name, MAX_ACK_BYTES), at_s=number)
    _put(tmp_path, "u-1", ack("u-1", MAX_ACK_BYTES + 1), at_s=10_000)

    assert list(_read(tmp_path)) == [f"t-{number:03}" for number in range(3, whole + 3)]


@pytest.mark.skipif(os.geteuid() != 0, reason="directories of another user need root")
async def test_acks_and_inputs_in_directories_that_stay_closed_to_us_count_as_absent(tmp_path: Path) -> None:
    with SafeDir.open(tmp_path) as ipc:
        box = Box.make(ipc, BoxName("family"), uid=None, gid=None)
    _put(tmp_path / "family" / "acks", "t-1", ENDED + "}")
    with plain_users_threads() as threads:
        port = BoxWriter(box, threads, RealClock())
        acks, unread = await port.read_acks(), await port.unread_inputs()
        await port.close()

    assert acks == {}
    assert unread == []


async def test_acks_that_we_have_no_descriptor_for_are_read_when_we_have_one(world: World) -> None:
    agent = await world.agent("family")
    _put(agent.path / "acks", "t-1", ENDED + "}")
    with structlog.testing.capture_logs() as logs:
        async with asyncio.TaskGroup() as tasks:
            with no_more_files():
                reading = tasks.create_task(agent.port.read_acks())
                await eventually(lambda: any(log["event"] == "box.not_read" for log in logs))

    assert list(reading.result()) == ["t-1"]


async def test_a_box_whose_acks_and_inputs_are_gone_has_none(world: World) -> None:
    agent = await world.agent("family")
    for directory in ("acks", "input"):
        (agent.path / directory).rmdir()
        (agent.path / directory).symlink_to("/etc")

    assert await agent.port.read_acks() == {}
    assert await agent.port.unread_inputs() == []
