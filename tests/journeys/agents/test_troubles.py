"""A real program whose provider fails, or that is killed: people get their answer, or a true word."""

import pytest

from orchestrator.core.sentence_keys import Say as Sentence
from orchestrator.core.wording import say
from tests.support.model_server import Cut, Fail, Hang, Rule, Say
from tests.support.real_agents import RealAgents, let_it_try_again

pytestmark = [pytest.mark.agents, pytest.mark.bubblewrap]
GOOD_DAY = Rule(text="hello", steps=(Say(text="Good day."),), has_tools=True)


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(Fail(status=429, retry_after_s=1), id="too many requests"),
        pytest.param(Fail(status=500), id="broken"),
        pytest.param(Fail(status=529), id="overloaded"),
    ],
)
async def test_a_provider_that_fails_once_costs_time_only(agents: RealAgents, failure: Fail) -> None:
    await agents.prepare()
    agents.model.play(Rule(text="hello", steps=(failure,), times=1, has_tools=True), GOOD_DAY)

    async with agents.home.running() as app:
        agents.home.ask("hello there")
        await agents.asked("hello there")
        await agents.answered_in_the_end(app, "Good day.")


async def test_a_refused_key_is_told_and_the_text_answered_later(agents: RealAgents) -> None:
    await agents.prepare()
    agents.model.play(Rule(text="hello", steps=(Fail(status=401),), has_tools=True))

    async with agents.home.running() as app:
        agents.home.ask("hello there")
        await agents.answered(say(Sentence.PROVIDER_REFUSES, "en"))
        agents.model.play(GOOD_DAY)
        await let_it_try_again(app)
        await agents.answered_in_the_end(app, "Good day.")


async def test_an_answer_that_breaks_off_is_asked_for_again(agents: RealAgents) -> None:
    await agents.prepare()
    cut = Rule(text="hello", steps=(Say(text="Goo"), Cut(in_event=True)), times=1, has_tools=True)
    agents.model.play(cut, GOOD_DAY)

    async with agents.home.running() as app:
        agents.home.ask("hello there")
        await agents.answered_in_the_end(app, "Good day.")


async def test_a_program_that_is_killed_is_started_again(agents: RealAgents) -> None:
    await agents.prepare()
    agents.model.play(Rule(text="hello", steps=(Hang(),), times=1, has_tools=True), GOOD_DAY)

    async with agents.home.running() as app:
        agents.home.ask("hello there")
        await agents.asked("hello there")
        assert agents.kill_program() > 0
        await agents.answered_in_the_end(app, "Good day.")
