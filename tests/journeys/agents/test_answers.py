"""A real program answers, uses tools, takes in what comes later, stops, and goes on where it was."""

import pytest

from orchestrator.core.sentence_keys import Say as Sentence
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.model_server import CallTool, Hang, Rule, Say, Wait
from tests.support.real_agents import KEY, RealAgents
from tests.support.spawned import agents_of

pytestmark = [pytest.mark.agents, pytest.mark.bubblewrap]
TASK = {"prompt": "water the plants", "schedule_type": "interval", "schedule_value": "3600000"}
WORK = (
    Rule(text="plan it", steps=(CallTool(tool="schedule_task", arguments=TASK),)),
    Rule(
        tool_result="task-",
        steps=(CallTool(tool="send_message", arguments={"text": "from the tool"}),),
        times=1,
    ),
    Rule(tool_result="", steps=(Say(text="It is planned."),), has_tools=True),
)


async def test_the_answer_comes_with_the_operators_key_which_the_agent_never_has(agents: RealAgents) -> None:
    await agents.prepare()
    agents.model.play(Rule(text="hello", steps=(Say(text="Good day."),), has_tools=True))

    async with agents.home.running():
        agents.home.ask("hello there")
        await agents.home.said("Good day.", within_s=90)

    assert all(KEY in str(each.headers) for each in agents.model.model_calls)
    assert agents.asks("hello there") == 1


async def test_it_plans_a_task_and_sends_a_text_by_our_tools(agents: RealAgents) -> None:
    await agents.prepare()
    agents.model.play(*WORK)

    async with agents.home.running():
        agents.home.ask("plan it")
        await agents.answered("from the tool", "It is planned.")

    (task,) = agents.home.rows("SELECT prompt, folder FROM tasks")
    assert task == {"prompt": "water the plants", "folder": "kitchen"}


@pytest.mark.timeout(300)
async def test_it_has_another_agent_work_for_it_and_gets_its_result(agents: RealAgents) -> None:
    await agents.prepare(tools="chat, spawn")
    task = {"task": "count the sheep", "timeout_ms": 100_000}
    agents.model.play(
        Rule(text="ask around", steps=(CallTool(tool="spawn_agent", arguments=task),), times=1),
        Rule(tool_result="41 sheep", steps=(Say(text="They counted 41."),)),
        Rule(text="count the sheep", steps=(Say(text="There are 41 sheep."),), has_tools=True),
    )

    async with agents.home.running():
        agents.home.ask("ask around")
        await agents.answered("They counted 41.", within_s=240)

    (child,) = agents_of(agents.home)
    assert (child["status"], child["depth"], child["output"]) == ("completed", 1, "There are 41 sheep.")


async def test_what_is_said_during_a_turn_is_answered_too(agents: RealAgents) -> None:
    await agents.prepare()
    agents.model.play(
        Rule(text="one", steps=(Wait(gate="one"), Say(text="That was one.")), has_tools=True, times=1),
        Rule(text="two", steps=(Say(text="That was two."),), has_tools=True),
    )

    async with agents.home.running():
        agents.home.ask("one")
        await agents.model.gate("one").reached()
        agents.home.ask("two")
        await eventually(lambda: agents.home.statuses().get("m2") == "dispatched", what=agents.story)
        agents.model.gate("one").open()
        await agents.answered("That was one.", "That was two.")
        await agents.home.quiet()

    assert set(agents.home.statuses().values()) == {"settled"}


async def test_stop_ends_the_turn_and_the_next_text_is_answered(agents: RealAgents) -> None:
    await agents.prepare()
    agents.model.play(
        Rule(text="for ever", steps=(Say(text="I begin."), Hang()), has_tools=True),
        Rule(text="hello", steps=(Say(text="Good day."),), has_tools=True),
    )

    async with agents.home.running():
        agents.home.ask("work for ever")
        await agents.asked("work for ever")
        agents.home.say("/stop")
        await agents.answered(say(Sentence.STOPPED, "en"))
        agents.home.ask("hello again")
        await agents.answered("Good day.")


async def test_a_later_container_goes_on_in_the_same_conversation(agents: RealAgents) -> None:
    await agents.prepare(agent__idle_timeout_s=1)
    agents.model.play(Rule(text="", steps=(Say(text="Noted."),), has_tools=True))

    async with agents.home.running():
        agents.home.ask("my cat is called Momo")
        await agents.home.said("Noted.", within_s=90)
        await agents.ended()
        agents.home.ask("what is its name")
        await agents.home.said("Noted.", "Noted.", within_s=90)

    last = [each for each in agents.model.model_calls if b"what is its name" in each.body][-1]
    assert b"my cat is called Momo" in last.body


async def test_a_conversation_that_is_gone_is_begun_afresh(agents: RealAgents) -> None:
    await agents.prepare(agent__idle_timeout_s=1)
    agents.model.play(Rule(text="", steps=(Say(text="Noted."),), has_tools=True))

    async with agents.home.running():
        agents.home.ask("my cat is called Momo")
        await agents.home.said("Noted.", within_s=90)
        await agents.ended()
        agents.forget_sessions()
        agents.home.ask("what is its name")
        await eventually(lambda: agents.home.texts().count("Noted.") == 2, within_s=90, what=agents.story)

    last = [each for each in agents.model.model_calls if b"what is its name" in each.body][-1]
    assert b"my cat is called Momo" not in last.body
