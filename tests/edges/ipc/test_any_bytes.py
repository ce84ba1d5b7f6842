"""Whatever bytes lie in a box: the loop lives, and each file ends in a reply, an effect or a reason."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.edges.ipc.conftest import running, world_at
from tests.support.eventually import eventually

GOOD = {
    "messages": json.dumps(
        {"type": "message", "chatJid": "console:family", "text": "hello", "requestId": "r-1"}
    ).encode(),
    "tasks": json.dumps(
        {
            "type": "schedule_task",
            "groupFolder": "family",
            "chatJid": "console:family",
            "prompt": "water the plants",
            "scheduleType": "interval",
            "scheduleValue": "3600000",
            "requestId": "r-2",
        }
    ).encode(),
}
"""Requests that are well, by the directory they belong into."""


def _mutated(draw: st.DrawFn) -> bytes:
    raw = bytearray(draw(st.sampled_from(sorted(GOOD.values()))))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(len(raw) - 1, 0)))
        match draw(st.integers(0, 3)):
            case 0:
                raw[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case 1:
                del raw[at : at + draw(st.integers(1, 9))]
            case 2:
                raw[at:at] = draw(st.binary(max_size=9))
            case _:
                raw[at:at] = draw(
                    st.sampled_from([b"NaN", b"[" * 40, b'"\\ud800"', b"1e999", b"\x00", b"{}"])
                )
    return bytes(raw)


contents = st.one_of(
    st.binary(max_size=300), st.composite(_mutated)(), st.sampled_from(sorted(GOOD.values()))
)
directories = st.sampled_from(sorted(GOOD))
names = st.one_of(
    st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,20}\Z"),
    st.text(st.characters(blacklist_characters="/\0"), min_size=1, max_size=12),
).map(lambda stem: f"{stem}.json".encode("utf-8", "surrogatepass"))


@pytest.mark.slow
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    database=None,
)
@given(files=st.dictionaries(st.tuples(directories, names), contents, min_size=1, max_size=12))
async def test_every_file_ends_told_and_nothing_outside_changes(
    tmp_path_factory: pytest.TempPathFactory, files: dict[tuple[str, bytes], bytes]
) -> None:
    top = tmp_path_factory.mktemp("any")
    (top / "outside").mkdir()
    (top / "outside" / "precious").write_text("precious")

    async with world_at(top / "home") as world, running(world):
        agent = await world.agent("family")
        groups_before = _everything(top / "home" / "groups")
        for (directory, name), raw in files.items():
            agent.drop(name, raw, directory=directory)
        agent.say("zzz.json", "still alive", requestId="alive")
        await eventually(lambda: not any(agent.lying(directory) for directory in GOOD))
        replies, texts, reasons = agent.replies(), await world.texts(), world.reasons("family")
        async with world.services.db.reader() as reader:
            tasks = await reader.all("SELECT task_id FROM tasks")

    assert replies["alive"]["ok"] is True
    effects = len([text for text in texts if text != "still alive"]) + len(tasks)
    # The same id and body again: one effect, told by its reply.
    repeats = sum(
        max(sum(raw == good and place[0] == directory for place, raw in files.items()) - 1, 0)
        for directory, good in GOOD.items()
    )
    assert effects + len(reasons) + repeats >= len(files)
    assert (top / "outside" / "precious").read_text() == "precious"
    assert _everything(top / "home" / "groups") == groups_before


def _everything(path: Path) -> dict[str, int]:
    return {str(each): each.lstat().st_mtime_ns for each in path.rglob("*")}
