"""`/retry`, `/stop`, `/new`, `/status`, `/tasks` and `/help`. Source: contracts.md section 6."""

import re
from datetime import timedelta

import pytest

from orchestrator.commands.operator_requests import ask_as_operator
from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.agents import Agent, StopReach
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.contracts.wire.task_requests import PauseTask, ScheduleTask
from orchestrator.core.chat.slash_words import SLASH_WORDS
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.settings.tree import AgentSettings, AssistantSettings, Settings
from orchestrator.store import sessions
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import ANN, BOB, CHAT, OTHER_CHAT, add_group, agent


async def break_off(desk: Desk, number: int, *ids: str) -> None:
    """A turn that stopped half-way."""
    held = await desk.start_agent(f"agent-{number}", turn=f"turn-{number}")
    await desk.begin(held, *ids, turn=f"turn-{number}")
    await desk.say(held, f"half {number}", turn=f"turn-{number}")
    await desk.end(held, *ids, turn=f"turn-{number}", status=TurnStatus.ERROR)


def make_operator(desk: Desk, *, provider: str = "builtin") -> None:
    """Bob is the operator; Ann is not."""
    assistant = AssistantSettings(operators=(BOB,), timezone="UTC")
    desk.set_settings(Settings(assistant=assistant, agent=AgentSettings(provider=provider)))


@pytest.mark.parametrize("said", ["/retry", "@Andy /retry", "  /RETRY "])
async def test_retry_runs_again_what_stopped_half_way_as_if_it_were_new(desk: Desk, said: str) -> None:
    await desk.hear("m-1")
    await break_off(desk, 1, "m-1")

    await desk.hear("w-1", said)

    row = await desk.row("m-1")
    batch = await desk.batch()
    assert (row["status"], row["tries"], row["deaths"], row["due_ms"]) == ("pending", 0, 0, 0)
    assert batch is not None
    assert batch.ids == ("m-1",)
    assert (await desk.texts())[-1] == ENGLISH[Say.RETRYING]


async def test_retry_takes_what_broke_off_together_last_and_leaves_the_rest(desk: Desk) -> None:
    await desk.hear("m-1")
    await break_off(desk, 1, "m-1")
    await desk.hear("m-2")
    await desk.hear("m-3")
    await break_off(desk, 2, "m-2", "m-3")

    await desk.hear("w-1", "/retry")

    statuses = await desk.statuses()
    assert {name: statuses[name] for name in ("m-1", "m-2", "m-3")} == {
        "m-1": "partial",
        "m-2": "pending",
        "m-3": "pending",
    }


async def test_retry_gives_back_the_context_that_broke_off_with_its_trigger(desk: Desk) -> None:
    await desk.hear("c-1", "the garden is dry")
    await desk.hear("m-1")
    await break_off(desk, 1, "c-1", "m-1")

    await desk.hear("w-1", "/retry")

    batch = await desk.batch()
    assert batch is not None
    assert batch.ids == ("c-1", "m-1")


async def test_a_member_retries_only_his_own_and_an_operator_anybodys(desk: Desk) -> None:
    make_operator(desk)
    await desk.hear("m-1", sender_jid=ANN)
    await break_off(desk, 1, "m-1")

    await desk.hear("w-1", "/retry", sender_jid="carol@s")
    by_member = (await desk.statuses())["m-1"]
    await desk.hear("w-2", "/retry", sender_jid=BOB)
    by_operator = (await desk.statuses())["m-1"]

    assert (by_member, by_operator) == ("partial", "pending")
    assert (await desk.texts())[-2:] == [ENGLISH[Say.NOTHING_TO_RETRY], ENGLISH[Say.RETRYING]]


async def test_retry_with_nothing_to_run_again_says_so_and_settles_nothing(desk: Desk) -> None:
    await desk.hear("w-1", "/retry")

    assert await desk.texts() == [ENGLISH[Say.NOTHING_TO_RETRY]]
    assert await desk.statuses() == {"w-1": "skipped"}


async def test_a_word_said_twice_by_the_network_is_done_once(desk: Desk) -> None:
    await desk.hear("m-1")
    await break_off(desk, 1, "m-1")
    await desk.hear("w-1", "/retry")
    await break_off(desk, 2, "m-1")

    await desk.hear("w-1", "/retry")

    assert (await desk.statuses())["m-1"] == "partial"


async def test_stop_stops_the_chats_agent_and_says_so(desk: Desk) -> None:
    await desk.hear("w-1", "/stop")

    assert desk.control.answers_stopped == [CHAT]
    assert await desk.texts() == [ENGLISH[Say.STOPPED]]


@pytest.mark.parametrize(
    ("reach", "said"),
    [(StopReach.NOTHING_RAN, "Nothing is running here."), (StopReach.SLOW, "It has been told to stop")],
)
async def test_stop_says_when_nothing_runs_and_when_it_takes_long(
    reach: StopReach, said: str, desk: Desk
) -> None:
    desk.control.reach = reach

    await desk.hear("w-1", "/stop")

    (text,) = await desk.texts()
    assert text.startswith(said)


@pytest.mark.parametrize(
    ("who", "is_stopped"),
    [
        pytest.param(ANN, ("answer",), id="who set it off"),
        pytest.param(BOB, ("all",), id="an operator"),
        pytest.param("carol@s", (), id="another member"),
    ],
)
async def test_who_may_stop_a_turn(desk: Desk, who: str, is_stopped: tuple[str, ...]) -> None:
    make_operator(desk)
    await desk.hear("m-1", sender_jid=ANN)
    held = await desk.start_agent()
    await desk.begin(held, "m-1")

    await desk.hear("w-1", "/stop", sender_jid=who)

    assert desk.control.stopped == ([CHAT] if "all" in is_stopped else [])
    assert desk.control.answers_stopped == ([CHAT] if "answer" in is_stopped else [])
    assert await desk.texts() == [ENGLISH[Say.STOPPED if is_stopped else Say.NOT_YOURS_TO_STOP]]


async def test_a_bots_word_is_a_message_like_any_other(desk: Desk) -> None:
    await desk.hear("w-1", "@Andy /stop", sender_is_bot=True)

    assert desk.control.stopped == desk.control.answers_stopped == []
    assert await desk.statuses() == {"w-1": "pending"}


async def test_a_word_we_do_not_know_goes_to_the_agent(desk: Desk) -> None:
    await desk.hear("w-1", "@Andy /dance")

    batch = await desk.batch()
    assert batch is not None
    assert batch.ids == ("w-1",)


async def plan(desk: Desk, prompt: str, *, hours: int) -> str:
    """A task of the family, once, so many hours from now."""
    at = (desk.now + timedelta(hours=hours)).isoformat()
    new = ScheduleTask(
        prompt=prompt, schedule_type="once", schedule_value=at, group_folder=GroupFolder("family")
    )
    return str((await ask_as_operator(desk.services, new))["id"])


async def session(desk: Desk) -> str | None:
    """What the next agent would resume."""
    session = await desk.run(lambda tx: sessions.get(tx, GroupFolder("family"), "script"))
    return None if session is None else session.session_id


async def keep_session(desk: Desk, held: Agent, name: str) -> None:
    """The agent names its session."""
    await desk.run(lambda tx: sessions.keep(tx, held, name, at=desk.now))


async def test_new_lets_the_next_run_begin_afresh_and_closes_the_agent_that_lives(desk: Desk) -> None:
    make_operator(desk, provider="script")
    await desk.hear("m-1")
    held = await desk.start_agent()
    await keep_session(desk, held, "old")
    desk.clock.advance(1)

    await desk.hear("w-1", "/new", sender_jid=BOB)

    await keep_session(desk, held, "old again")
    assert await session(desk) is None
    assert desk.control.closed == [CHAT]
    assert await desk.texts() == [ENGLISH[Say.NEW_CONVERSATION]]


@pytest.mark.parametrize("word", ["/new", "/status", "/tasks"])
async def test_a_word_of_operators_is_refused_to_a_member_and_does_nothing(desk: Desk, word: str) -> None:
    make_operator(desk, provider="script")
    await keep_session(desk, agent(), "s-1")

    await desk.hear("w-1", word, sender_jid=ANN)

    assert await desk.texts() == [say(Say.ONLY_OPERATORS, "en", word=word.removeprefix("/"))]
    assert await session(desk) == "s-1"
    assert desk.control.closed == []


async def test_status_follows_the_agent_counts_what_waits_and_names_the_next_task(desk: Desk) -> None:
    make_operator(desk)
    await plan(desk, "call Ada", hours=5)
    await plan(desk, "water the plants", hours=2)
    paused = await plan(desk, "never mind", hours=1)
    await ask_as_operator(desk.services, PauseTask(task_id=paused))
    await desk.hear("m-1")

    await desk.hear("w-1", "/status", sender_jid=BOB)
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await desk.hear("w-2", "/status", sender_jid=BOB)
    await desk.say(held, "done")
    await desk.end(held, "m-1")
    await desk.hear("w-3", "/status", sender_jid=BOB)

    following = "Next task: “water the plants”, 2026-01-01 02:00 (UTC)."
    shown = [text for text in await desk.texts() if text.startswith("The assistant is a")]
    assert shown == [
        f"{ENGLISH[Say.STATUS_ASLEEP]}\nMessages waiting: 1.\n{following}",
        f"{ENGLISH[Say.STATUS_AT_WORK]}\nMessages waiting: 0.\n{following}",
        f"{ENGLISH[Say.STATUS_AWAKE]}\nMessages waiting: 0.\n{following}",
    ]


async def test_status_says_that_nothing_is_planned(desk: Desk) -> None:
    make_operator(desk)

    await desk.hear("w-1", "/status", sender_jid=BOB)

    assert (await desk.texts())[0].splitlines()[-1] == ENGLISH[Say.STATUS_NO_TASK]


async def test_tasks_lists_the_groups_own_with_their_times_in_their_zone(desk: Desk) -> None:
    make_operator(desk)
    await desk.run(lambda tx: add_group(tx, "club", OTHER_CHAT))
    await plan(desk, "water the plants", hours=2)
    desk.clock.advance(1)
    paused = await plan(desk, "call Ada", hours=3)
    await ask_as_operator(desk.services, PauseTask(task_id=paused))
    weekly = ScheduleTask(
        prompt="bins",
        schedule_type="cron",
        schedule_value="0 9 * * 1",
        timezone="Europe/Berlin",
        group_folder=GroupFolder("club"),
    )
    await ask_as_operator(desk.services, weekly)

    await desk.hear("w-1", "/tasks", sender_jid=BOB)
    await desk.hear("w-2", "/tasks", sender_jid=BOB, chat_jid=OTHER_CHAT)

    assert await desk.texts() == ["1. “water the plants”, 2026-01-01 02:00 (UTC)\n2. “call Ada”, paused"]
    assert await desk.texts(OTHER_CHAT) == ["1. “bins”, 2026-01-05 09:00 (Europe/Berlin)"]


async def test_tasks_of_a_chat_without_any_says_so_and_many_are_cut(desk: Desk) -> None:
    make_operator(desk)

    await desk.hear("w-1", "/tasks", sender_jid=BOB)
    for number in range(23):
        await plan(desk, f"job {number}", hours=number + 1)
    await desk.hear("w-2", "/tasks", sender_jid=BOB)

    none, many = await desk.texts()
    assert none == ENGLISH[Say.NO_TASKS]
    assert len(many.splitlines()) == 21
    assert many.splitlines()[-1] == "… and 3 more."


@pytest.mark.parametrize(("who", "what"), [(BOB, Say.HELP), (ANN, Say.HELP_FOR_MEMBERS)])
async def test_help_lists_the_words_that_its_asker_may_say(desk: Desk, who: Jid, what: Say) -> None:
    make_operator(desk)

    await desk.hear("w-1", "@Andy /help", sender_jid=who)

    assert await desk.texts() == [ENGLISH[what]]


def test_help_names_every_word_that_does_something() -> None:
    assert {f"/{word}" for word in SLASH_WORDS} == set(re.findall(r"/[a-z]+", ENGLISH[Say.HELP]))
