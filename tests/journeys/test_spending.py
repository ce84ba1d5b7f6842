"""A group's budget from its `AGENT.md` to the way out and back into the chat. agents.md sections 4, 5."""

from pathlib import Path

from tests.journeys.test_canary import Upstream, plant
from tests.journeys.test_canary import upstream as upstream
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.shifted_clock import ShiftedClock

LONGEST_HOLD_S = 300
# A program that gives up when its provider does not answer, and takes its agent with it.
PROGRAM = """
import os, signal, urllib.error, urllib.request
asked = urllib.request.Request(
    os.environ["LAB_URL"] + "/v1/messages", data=b'{"model":"m-1","messages":[]}', method="POST",
    headers={"x-api-key": os.environ["LAB_KEY"], "content-type": "application/json"},
)
try:
    urllib.request.urlopen(asked, timeout=60).read()
except urllib.error.HTTPError as error:
    with open(os.path.join(os.environ["DOVECOTE_WORKSPACE"], "refused"), "wb") as file:
        file.write(b"%d " % error.code + error.read())
    os.kill(os.getppid(), signal.SIGKILL)
"""


def allow(home: HomeOnDisk, tokens_per_day: int) -> None:
    """What the kitchen may use a day from now on."""
    path = home.opened().paths.groups / "kitchen" / "AGENT.md"
    path.write_text(f"---\nprovider: lab\nbudget:\n  tokens_per_day: {tokens_per_day}\n---\n")


async def test_i1_a_spent_budget_pauses_the_chat_until_it_is_raised_and_nothing_is_lost(
    home: HomeOnDisk, upstream: Upstream
) -> None:
    """Case I1."""
    await plant(home, upstream)
    allow(home, tokens_per_day=100)
    program = home.workspace() / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o644)
    home.play({"default": [{"run": ["python3", "-s", "-P", str(program)]}, {"say": "re: {text}"}]})
    clock = ShiftedClock()

    async with home.running(clock=clock):
        home.ask("one")
        await eventually(lambda: len(home.texts()) == 2, what=home.story)
        second = home.ask("two")
        # The agent of the first still lives, so that it is the way out that refuses.
        await eventually((home.workspace() / "refused").exists, what=home.story)
        await eventually(lambda: home.statuses().get(second) == "pending", what=home.story)
        while_paused = sorted(home.texts())
        allow(home, tokens_per_day=1_000)
        clock.advance(LONGEST_HOLD_S)
        await eventually(lambda: "re: @Assistant two" in home.texts(), what=home.story)
        await home.quiet()

    assert [text.partition(",")[0] for text in while_paused] == [
        "The assistant has used up its budget",
        "re: @Assistant one",
    ]
    assert _refused(home).startswith("402 ")
    assert "used up its budget" in _refused(home)
    assert sorted(home.texts()[2:]) == ["The assistant has room in its budget again.", "re: @Assistant two"]
    assert len(upstream.keys) == 2
    (row,) = home.rows("SELECT tries FROM messages WHERE message_id = ?", second)
    assert row["tries"] == 0


def _refused(home: HomeOnDisk) -> str:
    path: Path = home.workspace() / "refused"
    return path.read_text(encoding="utf-8")
