"""The real WhatsApp child, killed at any time under a stream in both directions, with a scripted client."""

import asyncio
import json
import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random

import pytest

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import OutboundMessage
from orchestrator.contracts.seams import SendUnavailable, SendUnknown
from orchestrator.core.reconnects import RetryRule
from tests.edges.whatsapp.conftest import QUICK, Desk, MakeDesk, scripted
from tests.support.eventually import eventually
from tests.support.file_channel import read_lines

CHATS = tuple(Jid(f"12036300000000000{number}@g.us") for number in range(4))
_LONG_S = 1800.0


@dataclass(kw_only=True)
class Sent:
    """What became of the texts, by what the outbox would have noted."""

    unknown: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True)
class Storm:
    """How much of what, spread over about so many seconds."""

    kills: int
    inbound: int
    outbound: int
    spread_s: float
    seed: int

    def pause_s(self, random: Random, count: int) -> float:
        """Between two of so many."""
        return random.uniform(0, 2 * self.spread_s / count)


async def write_all(desk: Desk, storm: Storm, random: Random) -> None:
    """People write into four chats."""
    for number in range(storm.inbound):
        desk.far.write(f"in {number}", chat_jid=CHATS[number % 4])
        await asyncio.sleep(storm.pause_s(random, storm.inbound))


async def send_all(desk: Desk, place: int, storm: Storm, random: Random, sent: Sent) -> None:
    """One after another as the outbox does: unknown is sent once again, twice unknown has failed."""
    for number in range(place, storm.outbound, 4):
        text = f"out {number}"
        message = OutboundMessage(chat_jid=CHATS[place], text=text, outbox_id=number)
        await asyncio.sleep(storm.pause_s(random, storm.outbound // 4))
        while True:
            try:
                await desk.channel.send(message)
            except SendUnavailable:
                await asyncio.sleep(0.01)  # the outbox's own pause, made short
            except SendUnknown:
                if text in sent.unknown:
                    sent.failed.add(text)
                    break
                sent.unknown.add(text)
            else:
                break


async def kill_often(desk: Desk, storm: Storm, random: Random) -> None:
    """Each life is killed at some moment after its library was loaded."""
    for number in range(storm.kills):
        await eventually(lambda number=number: len(desk.far.lives) > number, within_s=_LONG_S)
        await asyncio.sleep(random.uniform(0, 0.4))
        with suppress(ProcessLookupError):
            os.kill(desk.far.lives[number]["pid"], signal.SIGKILL)


async def rage(desk: Desk, storm: Storm) -> Sent:
    """All at once, until everything has come to its end."""
    random, sent = Random(storm.seed), Sent()
    await desk.channel.connect(desk.inbox)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(kill_often(desk, storm, random))
        tasks.create_task(write_all(desk, storm, random))
        for place in range(4):
            tasks.create_task(send_all(desk, place, storm, random, sent))
    await eventually(
        lambda: not desk.far.rows and not list((desk.far.directory / "in").glob("[0-9]*")), within_s=_LONG_S
    )
    return sent


def check_inbound(desk: Desk, *, inbound: int, kills: int) -> int:
    """Each was handed on, in order within its chat; how many died with the handler they were in."""
    lost = {f"in {number}" for number in range(inbound)} - set(desk.texts)
    in_the_handler = {
        json.loads(path.read_bytes())["text"] for path in (desk.far.directory / "handed").iterdir()
    }
    assert lost <= in_the_handler
    assert len(lost) <= kills
    for place in range(4):
        mine = [int(text.split()[1]) for text in desk.texts if int(text.split()[1]) % 4 == place]
        assert mine == sorted(mine)
    return len(lost)


def check_outbound(desk: Desk, sent: Sent, *, outbound: int) -> None:
    """Each was taken once, or again once and known as unknown; first takes are in order within a chat."""
    taken = [(each["chat"], each["text"]) for each in read_lines(desk.far.directory / "sends.jsonl")]
    texts = [text for _, text in taken]
    for number in range(outbound):
        times = texts.count(f"out {number}")
        assert times == 1 or f"out {number}" in sent.unknown, (number, times)
        assert times <= 2
        assert times >= 1 or f"out {number}" in sent.failed
    for chat in CHATS:
        first = [int(text.split()[1]) for text in dict.fromkeys(text for at, text in taken if at == chat)]
        assert first == sorted(first)


@pytest.mark.slow
async def test_killed_at_random_under_a_stream_nothing_is_lost_or_doubled_unseen(make_desk: MakeDesk) -> None:
    pytest.importorskip("magic", exc_type=ImportError)
    patient = replace(QUICK, retry=RetryRule(first_s=0.02, most_s=0.1, trips_at=100_000))
    far = make_desk().far
    desk = make_desk(rule=patient, command=scripted(far))

    storm = Storm(kills=5, inbound=300, outbound=120, spread_s=4, seed=1)

    sent = await rage(desk, storm)

    check_inbound(desk, inbound=storm.inbound, kills=storm.kills)
    check_outbound(desk, sent, outbound=storm.outbound)
    assert desk.channel.generation > storm.kills
