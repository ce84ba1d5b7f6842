"""An agent that prints more than it may slows down itself and nobody else."""

import time

from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.raw_agents import raw_agent

OTHER = "file:garden"
BURST = 5


async def test_an_agent_that_prints_without_end_is_held_to_its_rate_and_others_are_answered(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    await home.add_group("garden")
    home.set(ipc__burst=BURST, ipc__rate_per_minute=60)
    queued = "SELECT count(*) AS n FROM outbox WHERE chat_jid = 'file:kitchen'"

    async with home.running(command=raw_agent("prints_many")):
        started = time.monotonic()
        home.ask("print 100000")
        await eventually(lambda: len(home.texts()) >= BURST, what=home.story)
        home.ask("one", chat=OTHER)
        await home.said("text 0", chat=OTHER)
        await eventually(lambda: len(home.texts()) > BURST, what=home.story)
        taken, passed_s = home.rows(queued)[0]["n"], time.monotonic() - started
        home.say("/stop")
        await home.quiet()

    assert BURST < taken <= BURST + passed_s + 1
    assert len(home.texts()) <= 2 * BURST + passed_s + 60


async def test_a_burst_that_an_agent_printed_before_it_ended_is_sent(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(ipc__burst=BURST, ipc__rate_per_minute=1)

    async with home.running(command=raw_agent("prints_many")):
        message = home.ask(f"print {2 * BURST}")
        await home.quiet()

    assert home.texts() == [f"text {number}" for number in range(2 * BURST)]
    assert home.statuses() == {message: "settled"}


async def test_what_a_flooder_left_in_its_pipe_ends_in_a_note(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(ipc__burst=BURST, ipc__rate_per_minute=1)

    async with home.running(command=raw_agent("prints_many")):
        message = home.ask("print 200")
        await home.quiet()

    assert home.texts() == [*(f"text {number}" for number in range(2 * BURST)), say(Say.TURN_TOO_FAST, "en")]
    assert home.statuses() == {message: "settled"}
