"""A word to Dovecote that was stored and not done, since the process died, is done at the next start.

Source: contracts.md section 6.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.app.parts import NoCheckpoints
from orchestrator.commands.hearing.words_kept import bury_left, do_left_words
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.saying.questions import ask
from orchestrator.contracts.ids import GroupFolder, Jid, TurnId
from orchestrator.contracts.records.agents import Agent, DeathCause, EndReason, StopReach
from orchestrator.contracts.wire.container_io import WaitingInput
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.core.wording import say
from orchestrator.settings.tree import AssistantSettings, Settings
from orchestrator.store import sessions
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk, StopRecorder
from tests.edges.commands.task_askers import Asker
from tests.edges.commands.task_askers import club as club
from tests.edges.commands.task_askers import main as main
from tests.edges.commands.test_decisions import MAIN_CHAT, proposed, status
from tests.support.store_rows import ANN, BOB, CHAT, OTHER_CHAT


class _Killed(BaseException):
    """The end of a process."""


class _KilledAt(NoCheckpoints):
    """Ends the process at a point, as far as a command can tell."""

    def __init__(self, point: str) -> None:
        self._point = point

    def reached(self, name: str) -> None:
        """End here, if it is the point."""
        if name == self._point:
            raise _Killed


class _Faulty(StopRecorder):
    """Fails on every stop."""

    async def stop_chat(self, chat: Jid) -> StopReach:
        """A fault of our own."""
        raise RuntimeError(chat)


async def hear_and_die(desk: Desk, message_id: str, text: str, **fields: Any) -> None:
    """The message is stored, and nothing else happens any more in this process."""
    alive = desk.services
    desk.services = replace(alive, checkpoints=_KilledAt("inbound.committed"))
    with pytest.raises(_Killed):
        await desk.hear(message_id, text, **fields)
    desk.services = alive


async def bury(desk: Desk, held: Agent) -> None:
    """What the next process does with an agent that it finds."""
    remains = Remains(
        cause=DeathCause.ORCHESTRATOR,
        reason=EndReason.ORCHESTRATOR_DIED,
        event=AgentEventKind.FOUND_DEAD,
        acks={},
        unread=(),
        exit=None,
    )
    await desk.run(lambda tx: bury_left(tx, desk.services, held, remains, at=desk.now))


@pytest.fixture
async def desk(desk: Desk) -> AsyncIterator[Desk]:
    """Bob is an operator, Ann is not; nothing waits in the end."""
    desk.set_settings(Settings(assistant=AssistantSettings(operators=(BOB,))))
    yield desk
    assert await desk.run(lambda tx: tx.all("SELECT * FROM waiting_words", {})) == []


async def test_a_yes_is_carried_out_once(main: Asker, club: Asker) -> None:
    desk, number = main.desk, await proposed(main)
    await hear_and_die(desk, "y-1", f"/yes {number}", chat_jid=MAIN_CHAT)
    before = await desk.texts(OTHER_CHAT)

    await do_left_words(desk.services)
    await do_left_words(desk.services)

    assert (before, await desk.texts(OTHER_CHAT)) == ([], ["hello"])
    assert (await desk.texts(MAIN_CHAT))[1:] == [f"{number} is done (send a message to another chat)."]


async def test_a_no_is_heeded(main: Asker, club: Asker) -> None:
    desk, number = main.desk, await proposed(main)
    await hear_and_die(desk, "n-1", f"/no {number}", chat_jid=MAIN_CHAT)

    await do_left_words(desk.services)

    assert await status(desk, number) == "declined"


async def test_a_yes_that_comes_too_late_by_then_is_told_so(main: Asker, club: Asker) -> None:
    desk, number = main.desk, await proposed(main)
    await hear_and_die(desk, "y-1", f"/yes {number}", chat_jid=MAIN_CHAT)
    desk.clock.advance(25 * 3600)

    await do_left_words(desk.services)

    assert await desk.texts(OTHER_CHAT) == []
    assert (await desk.texts(MAIN_CHAT))[-1] == ENGLISH[Say.PROPOSAL_NOT_OPEN].format(number=number)


async def test_new_begins_a_new_conversation(desk: Desk) -> None:
    await desk.hear("m-1", sender_jid=BOB)
    held = await desk.start_agent()
    await desk.run(lambda tx: sessions.keep(tx, held, "s-1", at=desk.now))
    await hear_and_die(desk, "w-1", "/new", sender_jid=BOB)

    await do_left_words(desk.services)

    assert await desk.run(lambda tx: sessions.get(tx, GroupFolder("family"), "script")) is None
    assert await desk.texts() == [ENGLISH[Say.NEW_CONVERSATION]]


async def test_a_member_is_still_told_that_he_may_not(desk: Desk) -> None:
    await hear_and_die(desk, "w-1", "/new", sender_jid=ANN)

    await do_left_words(desk.services)

    assert await desk.texts() == [say(Say.ONLY_OPERATORS, "en", word="new")]


@pytest.mark.parametrize("sender", [ANN, BOB])
async def test_what_somebody_had_told_to_stop_does_not_run_again(desk: Desk, sender: Jid) -> None:
    await desk.hear("m-1", sender_jid=ANN)
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await hear_and_die(desk, "w-1", "/stop", sender_jid=sender)

    await bury(desk, held)
    await do_left_words(desk.services)

    assert (await desk.statuses())["m-1"] == "failed"
    assert await desk.texts() == [ENGLISH[Say.STOPPED]]


async def test_a_stop_of_somebody_else_leaves_what_ran_to_run_again(desk: Desk) -> None:
    await desk.hear("m-1", sender_jid=BOB)
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await hear_and_die(desk, "w-1", "/stop", sender_jid=ANN)

    await bury(desk, held)
    await do_left_words(desk.services)

    assert (await desk.statuses())["m-1"] == "pending"


async def test_a_stop_reaches_no_other_chat(desk: Desk) -> None:
    await desk.hear("m-1", sender_jid=BOB)
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    await hear_and_die(desk, "w-1", "/stop", sender_jid=BOB)
    elsewhere = replace(held, chat_jid=OTHER_CHAT)

    await bury(desk, elsewhere)
    await do_left_words(desk.services)

    assert (await desk.statuses())["m-1"] == "pending"


async def test_an_answer_whose_agent_is_gone_by_then_is_told_that_it_is_too_late(desk: Desk) -> None:
    await desk.hear("m-1", sender_jid=BOB)
    held = await desk.start_agent()
    await desk.begin(held, "m-1")

    def put(tx: Transaction) -> str | None:
        event = WaitingInput(question="Delete it?", options=())
        return ask(tx, desk.services, held, event, turn_id=TurnId("turn-1"), at=desk.now)

    assert await desk.run(put) is None
    await hear_and_die(desk, "w-1", "/answer yes", sender_jid=BOB)

    await bury(desk, held)
    await do_left_words(desk.services)

    assert (await desk.texts())[1:] == [
        ENGLISH[Say.QUESTION_WITHDRAWN].format(number=1),
        ENGLISH[Say.ANSWER_TOO_LATE],
    ]


async def test_a_word_on_which_our_own_code_fails_is_told_so_and_not_met_again(desk: Desk) -> None:
    desk.services = replace(desk.services, control=_Faulty())

    await desk.hear("w-1", "/stop", sender_jid=BOB)
    await do_left_words(desk.services)

    assert await desk.texts() == [ENGLISH[Say.WORD_FAILED]]


async def test_a_word_that_the_network_hands_in_again_is_done_once(desk: Desk) -> None:
    await hear_and_die(desk, "w-1", "/new", sender_jid=BOB)

    await desk.hear("w-1", "/new", sender_jid=BOB)
    await desk.hear("w-1", "/new", sender_jid=BOB)
    await do_left_words(desk.services)

    assert await desk.texts(CHAT) == [ENGLISH[Say.NEW_CONVERSATION]]
