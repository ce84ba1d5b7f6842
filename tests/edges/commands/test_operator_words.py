"""`/retry` and `/stop`. Source: contracts.md section 6."""

import pytest

from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.core.wording import ENGLISH, Say
from orchestrator.settings.tree import AssistantSettings, Settings
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import ANN, BOB, CHAT


async def break_off(desk: Desk, number: int, *ids: str) -> None:
    """A turn that stopped half-way."""
    held = await desk.start_agent(f"agent-{number}", turn=f"turn-{number}")
    await desk.begin(held, *ids, turn=f"turn-{number}")
    await desk.say(held, f"half {number}", turn=f"turn-{number}")
    await desk.end(held, *ids, turn=f"turn-{number}", status=TurnStatus.ERROR)


def make_operator(desk: Desk) -> None:
    """Bob is the operator; Ann is not."""
    desk.set_settings(Settings(assistant=AssistantSettings(operators=(BOB,))))


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

    assert desk.control.stopped == [CHAT]
    assert await desk.texts() == [ENGLISH[Say.STOPPED]]


async def test_stop_says_when_nothing_runs(desk: Desk) -> None:
    desk.control.runs = False

    await desk.hear("w-1", "/stop")

    assert await desk.texts() == [ENGLISH[Say.NOTHING_TO_STOP]]


@pytest.mark.parametrize(
    ("who", "is_stopped"),
    [
        pytest.param(ANN, True, id="who set it off"),
        pytest.param(BOB, True, id="an operator"),
        pytest.param("carol@s", False, id="another member"),
    ],
)
async def test_who_may_stop_a_turn(desk: Desk, who: str, is_stopped: bool) -> None:
    make_operator(desk)
    await desk.hear("m-1", sender_jid=ANN)
    held = await desk.start_agent()
    await desk.begin(held, "m-1")

    await desk.hear("w-1", "/stop", sender_jid=who)

    assert desk.control.stopped == ([CHAT] if is_stopped else [])
    assert await desk.texts() == [ENGLISH[Say.STOPPED if is_stopped else Say.NOT_ALLOWED]]


async def test_a_bots_word_is_a_message_like_any_other(desk: Desk) -> None:
    await desk.hear("w-1", "@Andy /stop", sender_is_bot=True)

    assert desk.control.stopped == []
    assert await desk.statuses() == {"w-1": "pending"}


async def test_a_word_we_do_not_know_goes_to_the_agent(desk: Desk) -> None:
    await desk.hear("w-1", "@Andy /dance")

    batch = await desk.batch()
    assert batch is not None
    assert batch.ids == ("w-1",)
