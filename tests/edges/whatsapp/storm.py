"""The real WhatsApp child, killed at any time under a stream in both directions, with a scripted client.

`python -m tests.edges.whatsapp.storm --kills 200 --inbound 5000 --outbound 2000` is the whole of it; the
tests run a share.
"""

import argparse
import asyncio
import json
import os
import signal
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from orchestrator.channels.whatsapp.channel import ChannelPlan, WhatsAppChannel
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import OutboundMessage
from orchestrator.contracts.seams import SendUnavailable, SendUnknown
from orchestrator.core.reconnects import RetryRule
from tests.edges.whatsapp.conftest import FAST, QUICK, Desk, scripted
from tests.support.channel_parts import Told
from tests.support.eventually import eventually
from tests.support.file_channel import read_lines
from tests.support.whatsapp_far_end import FarEnd

PATIENT = replace(QUICK, retry=RetryRule(first_s=0.02, most_s=0.1, trips_at=100_000))
"""No breaker: the child is killed more often than any fault would end it."""

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


def desk_in(directory: Path, tasks: asyncio.TaskGroup) -> Desk:
    """The whole channel over the real child, its account linked."""
    far, told = FarEnd(directory), Told()
    far.link()
    plan = ChannelPlan(session=far.session, command=scripted(far), rule=PATIENT, pace=FAST)
    return Desk(far=far, channel=WhatsAppChannel(plan, told.parts(tasks), random=Random(1)), told=told)


async def weather(storm: Storm, directory: Path) -> dict[str, int]:
    """One storm, and its totals, once they are what they must be."""
    async with asyncio.TaskGroup() as tasks:
        desk = desk_in(directory, tasks)
        sent = await rage(desk, storm)
        await desk.channel.close()
    lost = check_inbound(desk, inbound=storm.inbound, kills=storm.kills)
    check_outbound(desk, sent, outbound=storm.outbound)
    texts = [each["text"] for each in read_lines(desk.far.directory / "sends.jsonl")]
    return {
        "children": desk.channel.generation or len(desk.far.lives),
        "inbound handed on": len(set(desk.texts)),
        "inbound handed on again": len(desk.met) - len(desk.texts),
        "inbound in a handler at a kill": lost,
        "outbound taken": len(set(texts)),
        "outbound taken twice": len(texts) - len(set(texts)),
        "outbound unknown": len(sent.unknown),
        "outbound failed": len(sent.failed),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the totals; an AssertionError says what was lost or doubled."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("kills", 200), ("inbound", 5_000), ("outbound", 2_000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args(argv)
    storm = Storm(
        kills=options.kills,
        inbound=options.inbound,
        outbound=options.outbound,
        spread_s=options.kills * 1.0,
        seed=options.seed,
    )
    with tempfile.TemporaryDirectory() as directory:
        totals = asyncio.run(weather(storm, Path(directory) / "far"))
    print(json.dumps({"storm": str(storm), **totals}, indent=2))  # noqa: T201 - a program's output


if __name__ == "__main__":
    main()
