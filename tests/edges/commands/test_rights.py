"""Rights only fall and travel, over turns, sessions and tasks. Source: contracts.md section 4."""

from typing import Any

import pytest

from orchestrator.contracts.ids import AgentId, GroupFolder, Jid, MessageId, RunId, TurnId
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.messages import OutboxStatus, Quoted, TextSource
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.tasks import ContextMode, TaskRun
from orchestrator.core.states.task_run import TASK_RUN
from orchestrator.engine.work import ChatWork, TaskWork
from orchestrator.settings.tree import AssistantSettings, Settings
from orchestrator.store import agents, groups, outbox, sessions, task_runs, tasks
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import ANN, BOB, CHAT, NOON, agent
from tests.support.task_rows import task

FAMILY = GroupFolder("family")


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """Bob is an operator, Ann is not."""
    desk.set_settings(Settings(assistant=AssistantSettings(operators=(BOB,))))
    return desk


class Life:
    """The agents of one group, one after another."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._born = 0

    async def hear(self, sender: Jid, text: str = "@Andy hello", **fields: Any) -> None:
        """Somebody writes."""
        self._born += 1
        await self.desk.hear(f"m-{self._born}", text, sender_jid=sender, **fields)

    async def start(self) -> Agent:
        """An agent for what waits; what it is by then."""
        self._born += 1
        held = agent(f"agent-{self._born}", started_at=self.desk.now)

        def body(tx: Transaction) -> Agent:
            group = groups.by_jid(tx, CHAT)
            assert group is not None
            work = ChatWork(services=self.desk.services, group=group)
            assert work.claim(tx, held, TurnId(f"turn-{self._born}")) is not None
            return stored(tx, held.agent_id)

        return await self.desk.run(body)

    async def run_task(self, rights: Rights, mode: ContextMode) -> Agent:
        """An agent for a run of a task that was made with these rights."""
        self._born += 1
        run_id, box = RunId(f"run-{self._born}"), "family" if mode is ContextMode.GROUP else "@agent-t"
        held = agent(f"agent-{self._born}", box=box, started_at=self.desk.now, task_run_id=run_id)
        made = task(f"task-{self._born}", rights=rights, context_mode=mode)

        def body(tx: Transaction) -> Agent:
            group = groups.by_jid(tx, CHAT)
            assert group is not None
            tasks.add(tx, made)
            task_runs.add(tx, claimed(made.task_id, run_id))
            work = TaskWork(services=self.desk.services, group=group, task=made, run_id=run_id)
            assert work.claim(tx, held, TurnId(f"turn-{self._born}")) is not None
            return stored(tx, held.agent_id)

        def claimed(task_id: Any, run: RunId) -> TaskRun:
            now = self.desk.now
            return TaskRun(
                run_id=run,
                task_id=task_id,
                planned_at=None,
                status=TASK_RUN.start,
                claimed_at=now,
                due_at=now,
            )

        return await self.desk.run(body)

    async def name_session(self, held: Agent, name: str = "s-1") -> None:
        """The agent says what its session is called."""
        await self.desk.run(lambda tx: sessions.keep(tx, held, name, at=self.desk.now))

    async def session(self) -> tuple[str, Rights] | None:
        """What the next agent resumes."""
        found = await self.desk.run(lambda tx: sessions.get(tx, FAMILY, "script"))
        return None if found is None else (found.session_id, found.rights)

    async def end(self, held: Agent) -> None:
        """The agent is gone, and its messages with it."""
        await self.desk.run(lambda tx: tx.execute("UPDATE messages SET status = 'settled'"))
        self.desk.clock.advance(60)


def stored(tx: Transaction, agent_id: AgentId) -> Agent:
    """The record of an agent."""
    found = agents.get(tx, agent_id)
    assert found is not None
    return found


@pytest.fixture
def life(desk: Desk) -> Life:
    return Life(desk)


async def test_a_resumed_session_keeps_the_least_rights_it_ever_had(life: Life) -> None:
    await life.hear(ANN)
    first = await life.start()
    await life.name_session(first)
    await life.end(first)
    await life.hear(BOB)

    second = await life.start()
    await life.name_session(second, "s-2")
    await life.end(second)
    await life.hear(BOB)

    assert (first.rights, second.rights) == (Rights.MEMBER, Rights.MEMBER)
    assert (await life.start()).rights is Rights.MEMBER
    assert await life.session() == ("s-2", Rights.MEMBER)


async def test_a_new_conversation_lifts_it(life: Life) -> None:
    await life.hear(ANN)
    first = await life.start()
    await life.name_session(first)
    await life.end(first)

    at = life.desk.now
    await life.desk.run(lambda tx: sessions.drop(tx, FAMILY, at=at))
    await life.name_session(first)
    await life.hear(BOB)

    assert (await life.start()).rights is Rights.OPERATOR
    assert await life.session() is None


async def test_a_fresh_session_begins_with_the_rights_of_who_speaks(life: Life) -> None:
    await life.hear(ANN)
    first = await life.start()
    await life.end(first)
    await life.hear(BOB)

    assert (first.rights, (await life.start()).rights) == (Rights.MEMBER, Rights.OPERATOR)


async def test_a_follow_up_lowers_the_session_that_was_named_before(life: Life) -> None:
    await life.hear(BOB)
    held = await life.start()
    await life.name_session(held)
    before = await life.session()

    await life.hear(ANN)
    await life.desk.feed(held, turn="turn-2", stem="f-1")

    assert before == ("s-1", Rights.OPERATOR)
    assert await life.session() == ("s-1", Rights.MEMBER)


async def test_h9_chatter_that_is_given_along_counts_as_much_as_a_trigger(life: Life) -> None:
    await life.hear(ANN, "just talk")
    await life.hear(BOB)

    assert (await life.start()).rights is Rights.MEMBER


@pytest.mark.parametrize(
    ("quoted", "rights"),
    [
        pytest.param("m-1", Rights.MEMBER, id="a member's message"),
        pytest.param("m-2", Rights.OPERATOR, id="an operator's message"),
        pytest.param("old", Rights.MEMBER, id="a message from before our time"),
    ],
)
async def test_what_an_operator_quotes_has_the_rights_of_who_said_it(
    life: Life, quoted: str, rights: Rights
) -> None:
    await life.hear(ANN, "delete everything")
    await life.hear(BOB, "@Andy no")
    await life.end(await life.start())
    quote = Quoted(message_id=MessageId(quoted), sender_name="X", text="delete everything")

    await life.hear(BOB, "@Andy do it", quoted=quote)

    assert (await life.start()).rights is rights


@pytest.mark.parametrize(
    ("writer", "rights"),
    [
        pytest.param(ANN, Rights.MEMBER, id="an agent to which a member spoke"),
        pytest.param(BOB, Rights.OPERATOR, id="an agent to which operators alone spoke"),
        pytest.param(None, Rights.OPERATOR, id="ourselves"),
    ],
)
async def test_a_text_of_an_agent_that_an_operator_quotes_has_the_agents_rights(
    life: Life, writer: Jid | None, rights: Rights
) -> None:
    await life.hear(writer or ANN)
    held = await life.start()
    await life.end(held)
    await life.desk.run(lambda tx: sent(tx, "out-1", None if writer is None else held.agent_id))
    quote = Quoted(message_id=MessageId("out-1"), sender_name="Andy", text="Delete it all?", is_ours=True)

    await life.hear(BOB, "@Andy do it", quoted=quote)

    assert (await life.start()).rights is rights


def sent(tx: Transaction, message_id: str, writer: AgentId | None) -> None:
    """A text that the network took under this id."""
    outbox.add(
        tx,
        chat_jid=CHAT,
        parts=["Delete it all?"],
        source=TextSource.NOTICE,
        source_key=message_id,
        at=NOON,
        agent_id=writer,
    )
    found = outbox.oldest(tx, CHAT)
    assert found is not None
    now, name = OutboxStatus.SENT, MessageId(message_id)
    assert outbox.move(tx, found[0], now=now, at=NOON, channel_message_id=name)


@pytest.mark.parametrize(
    ("of_session", "of_task", "expected"),
    [
        (Rights.OPERATOR, Rights.MEMBER, Rights.MEMBER),
        (Rights.MEMBER, Rights.OPERATOR, Rights.MEMBER),
        (Rights.MEMBER, Rights.BOT, Rights.BOT),
        (Rights.OPERATOR, Rights.OPERATOR, Rights.OPERATOR),
    ],
)
async def test_a_task_in_the_groups_conversation_and_its_session_have_the_lesser_rights(
    life: Life, of_session: Rights, of_task: Rights, expected: Rights
) -> None:
    await life.hear(BOB if of_session is Rights.OPERATOR else ANN)
    first = await life.start()
    await life.name_session(first)
    await life.end(first)

    running = await life.run_task(of_task, ContextMode.GROUP)

    assert running.rights is expected
    assert await life.session() == ("s-1", expected)


async def test_a_task_beside_the_conversation_has_its_own_rights_and_no_part_in_the_session(
    life: Life,
) -> None:
    await life.hear(BOB)
    first = await life.start()
    await life.name_session(first)
    await life.end(first)

    running = await life.run_task(Rights.BOT, ContextMode.ISOLATED)
    await life.name_session(running, "elsewhere")

    assert running.rights is Rights.BOT
    assert await life.session() == ("s-1", Rights.OPERATOR)
