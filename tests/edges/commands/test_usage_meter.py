"""What agents use is counted, and whose budget is used up pauses: told once, by the files as they are now."""

from datetime import UTC, datetime
from typing import Any

import pytest

from orchestrator.commands.hearing.chat_texts import status_text
from orchestrator.commands.usage.usage_meter import StoredUsage
from orchestrator.commands.usage.usage_report import usage_by_day, usage_by_turn
from orchestrator.contracts.ids import AgentId, GroupFolder, Jid
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.egress import ProviderCall
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.store import agents, groups, sessions
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT, OTHER_CHAT, add_group, agent

FAMILY = GroupFolder("family")
DAY_S = 86_400.0
PROVIDERS = """
[paid]
driver = "script"
prices = [{ model = "big-*", input_usd = 10, output_usd = 50 }]
"""


class Till:
    """The meter at a desk, and one agent of the family that spends."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.meter = StoredUsage(desk.services)
        desk.services.paths.providers_file.write_text(PROVIDERS)

    def allow(self, folder: str = "family", **budget: float) -> None:
        """What the group may spend from now on."""
        path = self.desk.services.paths.group(GroupFolder(folder)) / "AGENT.md"
        path.parent.mkdir(exist_ok=True)
        lines = [f"  {name}: {value}" for name, value in budget.items()]
        path.write_text("\n".join(["---", "budget:", *lines, "---", ""]) if lines else "")

    async def spend(
        self, tokens: int = 0, *, agent_id: str = "agent-1", model: str = "big-1", **fields: Any
    ) -> None:
        """The agent makes a call whose answer says that it used so many tokens."""
        plain: dict[str, Any] = {
            "agent_id": AgentId(agent_id),
            "group": FAMILY,
            "provider_host": "api.provider.test",
            "method": "POST",
            "path": "/v1/messages",
            "status": 200,
            "at": self.desk.now,
            "duration_s": 1.0,
            "bytes_sent": 1,
            "bytes_received": 1,
            "model": model,
            "input_tokens": tokens,
            "output_tokens": 0,
        }
        await self.meter.record(ProviderCall(**(plain | fields)))

    async def may_go_on(self) -> bool:
        """Whether the proxy would let another call through."""
        return await self.meter.why_not(AgentId("agent-1"), FAMILY) is None

    async def told(self, chat: Jid = CHAT) -> list[str]:
        """What the chat was told, by the beginning of our sentences."""
        near, spent, again = "most of its budget", "used up its budget", "has room"
        names = {near: "near", spent: "spent", again: "again"}
        texts = await self.desk.texts(chat)
        return [next(name for part, name in names.items() if part in text) for text in texts]


@pytest.fixture
async def till(desk: Desk) -> Till:
    """With an agent of the provider `paid`, and a main chat beside the family's."""
    await desk.run(lambda tx: agents.add(tx, agent(provider="paid", started_at=desk.now)))
    await desk.run(lambda tx: add_group(tx, "boss", OTHER_CHAT, is_main=1))
    return Till(desk)


async def test_i1_a_budget_warns_at_four_fifths_and_pauses_when_it_is_used_up_each_told_once(
    till: Till,
) -> None:
    """Case I1."""
    till.allow(tokens_per_day=1_000)

    went_on: list[bool] = []
    for _ in range(12):
        went_on.append(await till.may_go_on())
        if went_on[-1]:
            await till.spend(100)

    assert went_on == [True] * 10 + [False] * 2
    assert await till.told() == ["near", "spent"]
    assert await till.told(OTHER_CHAT) == ["near", "spent"]
    to_main = await till.desk.texts(OTHER_CHAT)
    assert all("“Family”" in text for text in to_main)
    assert "groups/family/AGENT.md" in to_main[1]
    assert "1,000 of 1,000 tokens a day" in to_main[1]


async def test_i8_one_sentence_a_window_also_when_the_next_day_is_spent_too(till: Till) -> None:
    """Case I8."""
    till.allow(tokens_per_day=100)
    for _ in range(2):
        await till.spend(100)
        assert not await till.may_go_on()
        till.desk.clock.advance(DAY_S)
        assert await till.may_go_on()

    assert await till.told() == ["spent", "again", "spent", "again"]
    assert await till.told(OTHER_CHAT) == await till.told()


async def test_a_day_is_one_of_the_groups_own_timezone(desk: Desk) -> None:
    await desk.run(lambda tx: agents.add(tx, agent(provider="paid", started_at=desk.now)))
    await desk.run(lambda tx: tx.execute("UPDATE groups SET timezone = 'Asia/Tokyo' WHERE folder = 'family'"))
    till = Till(desk)
    till.allow(tokens_per_day=100)
    # 1 January, 09:00 in Tokyo: its day ends at 15:00 UTC.
    assert desk.now == datetime(2026, 1, 1, tzinfo=UTC)

    await till.spend(100)
    desk.clock.advance(15 * 3600 - 1)
    before = await till.may_go_on()
    desk.clock.advance(1)
    after = await till.may_go_on()

    assert (before, after) == (False, True)
    assert "until 2026-01-02 00:00 (Asia/Tokyo)" in (await desk.texts())[0]


async def test_a_raised_budget_lets_it_go_on_at_once(till: Till) -> None:
    till.allow(tokens_per_day=100)
    await till.spend(100)
    paused = await till.may_go_on()

    till.allow(tokens_per_day=1_000)

    assert (paused, await till.may_go_on()) == (False, True)
    assert await till.told() == ["spent", "again"]


async def test_a_budget_that_is_taken_away_lets_it_go_on_and_one_that_is_set_anew_counts_what_was_spent(
    till: Till,
) -> None:
    till.allow(tokens_per_day=100)
    await till.spend(100)
    found = [await till.may_go_on()]
    till.allow()
    found.append(await till.may_go_on())
    till.allow(tokens_per_day=50)
    found.append(await till.may_go_on())

    assert found == [False, True, False]
    assert await till.told() == ["spent", "again", "spent"]


async def test_a_file_that_is_broken_meanwhile_changes_no_budget(till: Till) -> None:
    till.allow(tokens_per_day=100)
    await till.spend(100)
    assert not await till.may_go_on()

    path = till.desk.services.paths.group(FAMILY) / "AGENT.md"
    path.write_text("---\nbudget: [\n---\n")

    assert not await till.may_go_on()


async def test_dollars_count_by_the_month_and_the_price_of_the_model(till: Till) -> None:
    till.allow(usd_per_month=1.0)

    await till.spend(85_000)  # at 10 dollars a million
    near = await till.told()
    await till.spend(0, output_tokens=3_000)  # at 50
    spent = await till.may_go_on()
    till.desk.clock.advance(30 * DAY_S)
    last_day = await till.may_go_on()
    till.desk.clock.advance(DAY_S)

    assert near == ["near"]
    assert (spent, last_day, await till.may_go_on()) == (False, False, True)
    assert "1.00 of 1.00 US dollars a month" in (await till.desk.texts())[1]


async def test_a_dollar_budget_that_cannot_be_kept_is_told_to_the_operator_once(till: Till) -> None:
    till.allow(usd_per_month=1.0)

    for _ in range(2):
        await till.spend(10_000_000, model="unheard-of-1")

    facts = {"group": "Family", "model": "unheard-of-1", "provider": "paid"}
    assert await till.desk.texts(OTHER_CHAT) == [say(Say.OPERATOR_UNPRICED, "en", **facts)]
    assert await till.may_go_on()


async def test_without_a_budget_all_is_counted_and_nothing_said(till: Till) -> None:
    await till.spend(10**9)

    assert await till.may_go_on()
    assert (await till.desk.texts(), await till.desk.texts(OTHER_CHAT)) == ([], [])


async def test_what_was_used_is_shown_by_day_turn_and_in_status(till: Till) -> None:
    desk = till.desk
    await desk.hear("m-1")
    held: Agent = await desk.start_agent("agent-2", turn="turn-7")
    await till.spend(1_000, agent_id=held.agent_id, output_tokens=200, cache_read_tokens=5_000)
    await till.spend(10, agent_id=held.agent_id, status=529, failure="overloaded", input_tokens=None)
    desk.clock.advance(DAY_S)
    await till.spend(7_000)

    days = await usage_by_day(desk.services, None, days=7)
    (turn,) = [row for row in await usage_by_turn(desk.services, FAMILY, days=7) if row["turn"] == "turn-7"]
    family = await desk.run(lambda tx: groups.by_jid(tx, CHAT))
    assert family is not None
    status = await desk.run(lambda tx: status_text(tx, desk.services, family))

    first, second = days
    assert (first["day"], first["provider"], first["calls"], first["failedCalls"]) == (
        "2026-01-01",
        "script",
        2,
        1,
    )
    assert (first["inputTokens"], first["outputTokens"], first["cacheReadTokens"]) == (1_000, 200, 5_000)
    # Nobody knows the prices of the provider `script`.
    assert (first["costUsd"], first["unpricedCalls"], first["turns"]) == (None, 1, 1)
    assert (second["day"], second["provider"]) == ("2026-01-02", "paid")
    assert second["costUsd"] == pytest.approx(0.07)
    assert (turn["tokens"], turn["calls"], turn["group"]) == (6_200, 2, "family")
    assert "Used today: 7,000 tokens; this month: 0.07 US dollars." in status.splitlines()


async def test_a_group_that_is_gone_leaves_its_figures(till: Till) -> None:
    await till.spend(5)
    await till.desk.run(lambda tx: groups.remove(tx, FAMILY))
    await till.spend(6)

    (row,) = await usage_by_day(till.desk.services, None, days=1)

    assert (row["inputTokens"], await till.may_go_on()) == (11, True)


async def test_i6_a_conversation_too_long_is_replaced_told_once_and_the_message_runs_again(
    desk: Desk,
) -> None:
    """Case I6."""
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.run(lambda tx: sessions.keep(tx, held, "s-1", at=desk.now))
    await desk.begin(held, "m-1")

    await desk.end(held, "m-1", status=TurnStatus.ERROR, code="CONTEXT_TOO_LONG")
    session = await desk.run(lambda tx: sessions.get(tx, FAMILY, held.provider))

    assert session is None
    assert await desk.texts() == [say(Say.CONVERSATION_TOO_LONG, "en")]
    assert await desk.statuses() == {"m-1": "pending"}
