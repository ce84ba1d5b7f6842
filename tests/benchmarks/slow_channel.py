"""A channel that takes 20 ms a send, 500 texts waiting in one chat: how soon another chat's text leaves."""

from collections.abc import Sequence
from typing import Final

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import TextSource
from orchestrator.contracts.seams import Topic
from orchestrator.store import outbox
from orchestrator.store.transaction import Transaction
from tests.benchmarks.bench_app import Bench, bench_app
from tests.benchmarks.bench_channel import BenchChannel
from tests.benchmarks.sampling import median_ms, until
from tests.benchmarks.table import Row, at_most

_SEND_S: Final = 0.02
_WAITING: Final = 500
_COUNT: Final = 40
_FULL, _OTHER = Jid("bench:0"), Jid("bench:1")


async def run() -> list[Row]:
    """Median and worst of texts put in while the full chat drains; the floor is one send."""
    channel = BenchChannel(send_s={_FULL: _SEND_S, _OTHER: _SEND_S})
    async with bench_app(runner="process", groups=2, channel=channel) as bench:
        await _put(bench, _FULL, [f"waiting {number}" for number in range(_WAITING)], key="full")
        took_s = [await _leaves_s(bench, number) for number in range(_COUNT)]
        assert sum(each.chat == _FULL for each in channel.sent) < _WAITING, "the full chat was empty too soon"
        await until(lambda: len(channel.sent) == _WAITING + _COUNT, within_s=60)
    in_order = [each.text for each in channel.sent if each.chat == _FULL]
    assert in_order == [f"waiting {number}" for number in range(_WAITING)]
    return [
        Row(name=f"text of another chat leaves, {name}", figure=figure, unit="ms", floor=20, bar=at_most(50))
        for name, figure in (("p50", median_ms(took_s)), ("worst", max(took_s) * 1000))
    ]


async def _leaves_s(bench: Bench, number: int) -> float:
    """From the commit of a text to the network's having it."""
    began = await _put(bench, _OTHER, [f"other {number}"], key=f"other-{number}")
    await until(lambda: any(each.text == f"other {number}" for each in bench.channel.sent), within_s=30)
    sent = next(each for each in bench.channel.sent if each.text == f"other {number}")
    return sent.at_s - began


async def _put(bench: Bench, chat: Jid, texts: Sequence[str], *, key: str) -> float:
    at = bench.app.services.clock.now()

    def body(tx: Transaction) -> None:
        for number, text in enumerate(texts):
            outbox.add(
                tx,
                chat_jid=chat,
                parts=[text],
                source=TextSource.NOTICE,
                source_key=f"{key}-{number}",
                at=at,
            )
        tx.wake(Topic.OUTBOX)

    await bench.app.services.db.run(body)
    return bench.app.services.clock.monotonic()
