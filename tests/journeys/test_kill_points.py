"""kill -9 of the orchestrator at each named point of the work, a new start, and the count.

Nothing is lost: every message has an outcome, and what broke off half-way is said in the chat. Nothing
is sent twice, but for a text whose acceptance nobody can know, and that one is noted.
Source: design.md section 1, contracts.md section 6.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pytest

from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.runners.docker_engine import Engine
from tests.support.eventually import eventually
from tests.support.home_on_disk import ECHO, NOTE_OF_A_RESENT, HomeOnDisk, once
from tests.support.orchestrator_process import OrchestratorProcess
from tests.support.raw_agents import raw_agent

BREAKS_OFF: Final = say(Say.PARTIAL, "en")
AGENT_SAYS: Final = "re: @Assistant one"
SAID_AGAIN: Final = f"{AGENT_SAYS}{NOTE_OF_A_RESENT}"


@dataclass(frozen=True, kw_only=True)
class Kill:
    """One way to die. sent: what people see at the end, of a first message `one`; status: its outcome.

    is_resent: whether the answer was sent again and noted. was_queued: it already lay in the outbox, so
    that the sender may or may not have claimed it.
    """

    point: str
    sent: tuple[str, ...] = (AGENT_SAYS,)
    status: str = "settled"
    is_resent: bool = False
    was_queued: bool = False
    scenario: Mapping[str, object] = field(default_factory=lambda: ECHO)
    polls_only: bool = False


_STAYS_IN_ITS_TURN: Final = {"turns": [[{"say": "re: {texts}"}, {"wait_for_file": "never"}]]}
_REQUEST: Final = {"turns": [[{"send_message": "from the box"}, {"say": "done"}]]}
_LEFT_REQUEST: Final = {
    "rules": [
        {
            "match": "one",
            "times": 1,
            "steps": [
                {
                    "request": {
                        "directory": "messages",
                        "body": {
                            "type": "message",
                            "chatJid": "file:kitchen",
                            "text": "from the box",
                            "requestId": "r1",
                        },
                    }
                },
                {"crash": "KILL"},
            ],
        }
    ],
}
FIRST_MESSAGE: Final = {
    "inbound committed": Kill(point="inbound.committed"),
    "dispatched, before the start": Kill(point="batch.dispatched"),
    "started, before it is ready": Kill(point="agent.started"),
    "ready, before standard input": Kill(point="agent.ready"),
    "pair read, before the outbox": Kill(point="pair.read"),
    "outbox committed, before the send": Kill(
        point="outbox.committed",
        scenario=_STAYS_IN_ITS_TURN,
        sent=(AGENT_SAYS, BREAKS_OFF),
        status="partial",
        was_queued=True,
    ),
    "claimed, before the network": Kill(
        point="outbox.claimed",
        scenario=_STAYS_IN_ITS_TURN,
        sent=(SAID_AGAIN, BREAKS_OFF),
        status="partial",
        is_resent=True,
    ),
    "sent, before that is stored": Kill(
        point="outbox.sent",
        scenario=_STAYS_IN_ITS_TURN,
        sent=(AGENT_SAYS, SAID_AGAIN, BREAKS_OFF),
        status="partial",
        is_resent=True,
    ),
    "turn ended, before it is settled": Kill(point="turn_ended.read", was_queued=True),
    "request committed, before its reply": Kill(
        point="request.committed",
        scenario=_REQUEST,
        sent=("from the box", BREAKS_OFF),
        status="partial",
        was_queued=True,
    ),
    "reply written, before the unlink": Kill(
        point="reply.written",
        scenario=_REQUEST,
        sent=("from the box", BREAKS_OFF),
        status="partial",
        was_queued=True,
    ),
    "agent dead, before its box is drained": Kill(
        point="agent.dead",
        scenario=_LEFT_REQUEST,
        sent=("from the box", BREAKS_OFF),
        status="partial",
        was_queued=True,
        polls_only=True,
    ),
}
FOLLOW_UP: Final = ("follow_up.staged", "follow_up.committed", "follow_up.published")


@pytest.mark.parametrize("kill", FIRST_MESSAGE.values(), ids=FIRST_MESSAGE)
async def test_d_4_a_kill_while_a_message_is_answered_loses_and_doubles_nothing(
    kill: Kill, home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    """Case D-4."""
    await home.add_group()
    home.play(kill.scenario)
    if kill.polls_only:
        home.set(ipc__poll_s=60)
    await orchestrator.start(crash_at=kill.point, polls_only=kill.polls_only)
    message = home.ask("one")
    await orchestrator.died()

    await orchestrator.start()
    await home.quiet()
    await orchestrator.stop()

    check_the_count(home, kill, message)
    await home.nothing_left()


def check_the_count(home: HomeOnDisk, kill: Kill, message: str) -> None:
    assert home.statuses()[message] == kill.status, home.story()
    resent = [row["text"] for row in home.rows("SELECT text FROM outbox WHERE was_resent = 1")]
    if kill.was_queued:
        # The sender may have claimed the text in the instant before the kill: then it is sent again, noted.
        assert home.texts_once() == [*kill.sent], home.story()
        assert len(home.texts()) <= len(kill.sent) + len(resent), home.story()
    else:
        assert home.texts() == [*kill.sent], home.story()
        assert resent == ([AGENT_SAYS] if kill.is_resent else [])
    assert bool(home.logs("outbox.unknown")) is bool(resent)
    assert {row["status"] for row in home.rows("SELECT status FROM outbox")} == {"sent"}


@pytest.mark.parametrize("point", FOLLOW_UP)
async def test_a_kill_while_an_idle_agent_is_given_a_message_loses_and_doubles_nothing(
    point: str, home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await home.add_group()
    home.play(ECHO)
    await orchestrator.start(crash_at=point)
    home.ask("one")
    await home.said(AGENT_SAYS)
    await home.quiet()
    home.ask("two")
    await orchestrator.died()

    await orchestrator.start()
    await home.quiet()
    await orchestrator.stop()

    assert home.texts() == [AGENT_SAYS, "re: @Assistant two"], home.story()
    assert set(home.statuses().values()) == {"settled"}
    assert home.rows("SELECT 1 FROM outbox WHERE was_resent = 1") == []


@pytest.mark.parametrize("point", FOLLOW_UP)
async def test_a_kill_while_a_busy_agent_is_given_a_message_runs_both_again_once(
    point: str, home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await home.add_group()
    home.play(once("one", {"wait_for_file": "never"}))
    await orchestrator.start(crash_at=point)
    home.ask("one")
    await home.begun()
    home.ask("two")
    await orchestrator.died()

    await orchestrator.start()
    await home.quiet()
    await orchestrator.stop()

    answers = "\n".join(home.texts())
    assert (answers.count("@Assistant one"), answers.count("@Assistant two")) == (1, 1), home.story()
    assert set(home.statuses().values()) == {"settled"}


@pytest.mark.bubblewrap
@pytest.mark.parametrize("name", ["ready, before standard input", "outbox committed, before the send"])
async def test_a_kill_while_a_sandbox_works_loses_and_doubles_nothing(
    name: str, home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    kill = FIRST_MESSAGE[name]
    await home.add_group()
    home.play(kill.scenario)
    home.set(agent__runner="bubblewrap")
    await orchestrator.start(crash_at=kill.point)
    message = home.ask("one")
    await orchestrator.died()

    await orchestrator.start()
    await home.quiet()
    await orchestrator.stop()

    check_the_count(home, kill, message)


@pytest.mark.docker
@pytest.mark.parametrize("point", FOLLOW_UP[1:])
async def test_an_idle_agent_that_outlives_a_kill_is_given_what_it_was_to_have(
    point: str, home: HomeOnDisk, orchestrator: OrchestratorProcess, docker_engine: Engine
) -> None:
    await home.add_group()
    home.play(ECHO)
    home.set(agent__runner="docker")
    await orchestrator.start(crash_at=point)
    home.ask("one")
    await home.said(AGENT_SAYS)
    await home.quiet()
    message = home.ask("two")
    await orchestrator.died()

    await orchestrator.start()
    await home.quiet()
    await orchestrator.stop()

    assert home.texts() == [AGENT_SAYS, "re: @Assistant two"], home.story()
    assert home.statuses()[message] == "settled"
    assert len(home.logs("agent.adopted")) == 1
    assert await home.containers(docker_engine) == []


IN_A_CONTAINER: Final = {
    "started, before it is ready": FIRST_MESSAGE["started, before it is ready"],
    # It has its input, so it outlives us and goes on.
    "request committed, before its reply": Kill(
        point="request.committed", scenario=_REQUEST, sent=("from the box", "done"), was_queued=True
    ),
}


@pytest.mark.docker
@pytest.mark.parametrize("kill", IN_A_CONTAINER.values(), ids=IN_A_CONTAINER)
async def test_e2_a_kill_while_a_container_works_leaves_no_container_and_loses_and_doubles_nothing(
    kill: Kill, home: HomeOnDisk, orchestrator: OrchestratorProcess, docker_engine: Engine
) -> None:
    """Case E2."""
    await home.add_group()
    home.play(kill.scenario)
    home.set(agent__runner="docker")
    await orchestrator.start(crash_at=kill.point)
    message = home.ask("one")
    await orchestrator.died()
    outlived = await home.containers(docker_engine)

    await orchestrator.start()
    await home.quiet()
    await orchestrator.stop()

    assert len(outlived) == 1  # the engine knows nothing of our death
    check_the_count(home, kill, message)
    assert await home.containers(docker_engine) == []


async def test_a_turn_whose_end_lies_in_acks_is_settled_though_nobody_heard_of_it(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await home.add_group()
    await orchestrator.start(agent_command=raw_agent("hangs_before_its_event"))
    message = home.ask("one")
    await home.said("done")
    await eventually(lambda: (home.workspace() / "hanging").exists(), what=home.story)
    await eventually(lambda: home.rows("SELECT status FROM outbox") == [{"status": "sent"}], what=home.story)
    await orchestrator.kill()

    await orchestrator.start()
    await home.quiet()
    await orchestrator.stop()

    assert home.texts() == ["done"]
    assert home.statuses()[message] == "settled", home.story()


async def test_four_kills_during_a_burst_lose_and_double_no_message(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await home.add_group()
    home.play(ECHO)
    asked = [home.ask(f"number {number:02}") for number in range(12)]
    for point, nth in (
        ("inbound.committed", 3),
        ("agent.ready", 1),
        ("pair.read", 1),
        ("outbox.committed", 1),
    ):
        await orchestrator.start(crash_at=point, nth=nth)
        await orchestrator.died()

    await orchestrator.start()
    await home.quiet()
    await orchestrator.stop()

    statuses = home.statuses()
    answers = "\n".join(home.texts())
    assert set(statuses) == set(asked)
    assert set(statuses.values()) <= {"settled", "partial"}, home.story()
    assert [answers.count(f"number {number:02}") for number in range(12)] == [1] * 12, home.story()
