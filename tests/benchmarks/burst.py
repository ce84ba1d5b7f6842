"""2,000 messages over 50 groups at once, answered by the script driver: rate, all once, in order."""

import asyncio
import subprocess
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.launch import AGENT_RUNNER_COMMAND
from tests.benchmarks.bare_agents import bare_command, make_ground
from tests.benchmarks.bench_app import Bench, bench_app, bench_home
from tests.benchmarks.sampling import until
from tests.benchmarks.table import Row

_GROUPS: Final = 50
_MESSAGES: Final = 2_000
_AT_ONCE: Final = 5
_SCENARIO: Final = 'default:\n  - say: "{texts}"\n'


async def run() -> list[Row]:
    """Messages a second from the first one heard to the last answer; the floor is 50 bare agents alone."""
    async with bench_app(runner="process", groups=_GROUPS, max_running=_AT_ONCE) as bench:
        for number in range(_GROUPS):
            (bench.workspace(number) / "scenario.yaml").write_text(_SCENARIO)
        began = time.monotonic()
        for number in range(_MESSAGES):
            await bench.channel.hear(
                bench.chats[number % _GROUPS], f"word {number}", message_id=f"m-{number}"
            )
        heard_s = time.monotonic() - began
        await until(lambda: _answered(bench) >= _MESSAGES, within_s=240)
        took_s = max(each.at_s for each in bench.channel.sent) - began
        _check(bench)
    floor_s = await asyncio.to_thread(_floor_s)
    return [
        Row(
            name="burst of 2,000 over 50 groups, answered (floor: 50 bare agents)",
            figure=_MESSAGES / took_s,
            unit="msg/s",
            floor=_MESSAGES / floor_s,
        ),
        Row(name="the same, taken in one after another", figure=_MESSAGES / heard_s, unit="msg/s"),
    ]


def _answered(bench: Bench) -> int:
    return sum(each.text.count("word ") for each in bench.channel.sent)


def _check(bench: Bench) -> None:
    """Every message was answered once, in the order of its chat."""
    said: dict[Jid, list[str]] = defaultdict(list)
    for each in bench.channel.sent:
        said[each.chat] += each.text.split("\n")
    for number, chat in enumerate(bench.chats):
        expected = [f"word {each}" for each in range(number, _MESSAGES, _GROUPS)]
        assert said[chat] == expected, f"{chat} was answered {said[chat][:5]} …"


def _floor_s() -> float:
    """As many agents, as many at once, each with its messages on standard input."""
    message = '<message id="m" timestamp="2026-01-01T12:00:00Z" sender="P" sender_id="p">word</message>'
    line = (
        '{"messages":['
        + ",".join(['"' + message.replace('"', '\\"') + '"'] * (_MESSAGES // _GROUPS))
        + '],"groupFolder":"g","chatJid":"bench:0","assistantName":"A","prompt":"",'
        '"agent":{"driver":"script"}}\n'
    ).encode()
    with bench_home() as paths, ThreadPoolExecutor(_AT_ONCE) as pool:
        ground = make_ground(paths.home, uid=None)
        words, environment = bare_command("process", ground.plan(AGENT_RUNNER_COMMAND), ground.programs)

        def one(number: int) -> None:
            with subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd=ground.places.workspace,
            ) as agent:
                assert agent.stdin is not None
                assert agent.stdout is not None
                agent.stdin.write(line)
                agent.stdin.close()
                assert any(b'"turn_ended"' in each for each in agent.stdout)
                agent.terminate()

        began = time.monotonic()
        list(pool.map(one, range(_GROUPS)))
        return time.monotonic() - began
