"""Chats that were seen, sessions, incidents, single facts and times."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.store import agents, chats, facts, notices, sessions
from orchestrator.store.database import Database
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import CHAT, NOON, OTHER_CHAT, add_group, agent

FAMILY = GroupFolder("family")


async def test_a_chat_keeps_its_name_and_its_newest_activity(db: Database) -> None:
    def see(tx: Transaction, name: str | None, seconds: int) -> None:
        at = NOON + timedelta(seconds=seconds)
        chats.see(tx, CHAT, channel="whatsapp", name=name, is_group=True, at=at)

    for name, seconds in (("Family", 10), (None, 5)):
        await db.run(lambda tx, name=name, seconds=seconds: see(tx, name, seconds))  # type: ignore[misc]

    (row,) = await db.run(lambda tx: tx.all("SELECT * FROM chats"))
    assert (row["name"], row["last_activity_ms"]) == ("Family", to_ms(NOON + timedelta(seconds=10)))


def named(tx: Transaction, provider: str = "script") -> str | None:
    """The id of the session that the family resumes."""
    session = sessions.get(tx, FAMILY, provider)
    return None if session is None else session.session_id


async def test_a_session_is_kept_for_a_group_and_provider_and_replaced_by_the_next(db: Database) -> None:
    def body(tx: Transaction) -> list[str | None]:
        found = [named(tx)]
        sessions.keep(tx, agent(), "s-1", at=NOON)
        sessions.keep(tx, agent(), "s-2", at=NOON)
        sessions.keep(tx, agent(provider="builtin"), "s-3", at=NOON)
        return [*found, named(tx), named(tx, "builtin")]

    found = await db.run(body)

    assert found == [None, "s-2", "s-3"]


async def test_after_a_drop_only_an_agent_that_started_later_names_the_session(db: Database) -> None:
    later = NOON + timedelta(seconds=10)

    def body(tx: Transaction) -> list[str | None]:
        sessions.keep(tx, agent(), "old", at=NOON)
        sessions.drop(tx, FAMILY, at=NOON + timedelta(seconds=5))
        found = [named(tx)]
        sessions.keep(tx, agent(), "old", at=later)
        found.append(named(tx))
        sessions.keep(tx, agent(started_at=later), "new", at=later)
        return [*found, named(tx)]

    found = await db.run(body)

    assert found == [None, None, "new"]


async def test_a_drop_ends_the_conversations_of_all_providers_and_of_living_agents(db: Database) -> None:
    def body(tx: Transaction) -> list[str | None]:
        add_group(tx)
        for provider in ("claude", "codex"):
            sessions.keep(tx, agent(provider=provider), "s-1", at=NOON)
        living = agent(provider="gemini")
        agents.add(tx, living)
        sessions.drop(tx, FAMILY, at=NOON + timedelta(seconds=5))
        sessions.keep(tx, living, "s-2", at=NOON + timedelta(seconds=6))
        return [named(tx, "claude"), named(tx, "codex"), named(tx, "gemini")]

    assert await db.run(body) == [None, None, None]


async def test_known_chats_are_the_groups_and_the_group_chats_that_could_be_one(db: Database) -> None:
    def body(tx: Transaction) -> tuple[list[tuple[str, str, str | None]], list[Jid]]:
        add_group(tx)
        add_group(tx, "club", OTHER_CHAT)
        for number, (jid, is_group) in enumerate([("1@g.us", True), ("2@s.us", False), (CHAT, True)]):
            at = NOON + timedelta(seconds=number)
            chats.see(tx, Jid(jid), channel="whatsapp", name=None, is_group=is_group, at=at)
        known = chats.known(tx, count=10)
        everything: list[tuple[str, str, str | None]] = [(each.jid, each.name, each.folder) for each in known]
        return everything, [each.jid for each in chats.known_of_group(tx, FAMILY)]

    everything, own = await db.run(body)

    assert everything == [
        (CHAT, "Family", "family"),
        (OTHER_CHAT, "Club", "club"),
        ("1@g.us", "1@g.us", None),
    ]
    assert own == [CHAT]


async def test_an_incident_is_counted_told_once_and_closed_with_an_all_clear(db: Database) -> None:
    def body(tx: Transaction) -> list[object]:
        said: list[object] = [
            notices.count_one(tx, "start:x", at=NOON),
            notices.count_one(tx, "start:x", at=NOON),
        ]
        notices.mark_told(tx, "start:x", at=NOON)
        said.append(notices.count_one(tx, "start:x", at=NOON))
        said += [notices.close(tx, "start:x"), notices.close(tx, "start:x")]
        return [*said, notices.count_one(tx, "start:x", at=NOON)]

    said = await db.run(body)

    assert said == [(1, False), (2, False), (3, True), True, False, (1, False)]


async def test_an_incident_nobody_was_told_of_needs_no_all_clear(db: Database) -> None:
    def body(tx: Transaction) -> bool:
        notices.count_one(tx, "start:x", at=NOON)
        return notices.close(tx, "start:x")

    assert await db.run(body) is False


HOME = facts.HomePlace(path="/srv/dovecote", inode=11)
MOVED = facts.HomePlace(path="/srv/pigeons", inode=11)
MADE_ANEW = facts.HomePlace(path="/srv/pigeons", inode=12)
COPY = facts.HomePlace(path="/srv/copy", inode=13)


async def test_an_installation_keeps_its_id_wherever_its_home_is_moved(db: Database) -> None:
    ids = [
        await db.run(lambda tx, place=place: facts.instance_id(tx, place))  # type: ignore[misc]
        for place in (HOME, HOME, MOVED, MADE_ANEW)
    ]

    assert len(set(ids)) == 1
    assert ids[0].startswith("dovecote-")


async def test_a_copy_of_a_home_has_an_id_and_processes_of_its_own(db: Database) -> None:
    def start(tx: Transaction) -> None:
        agents.add(tx, agent())
        agents.set_process(tx, agent().agent_id, '{"pid": 4711}', is_legacy=False)

    first = await db.run(lambda tx: facts.instance_id(tx, HOME))
    await db.run(start)
    again = await db.run(lambda tx: facts.instance_id(tx, HOME))
    (kept,) = await db.run(lambda tx: tx.all("SELECT process_ref FROM agents"))
    copied = await db.run(lambda tx: facts.instance_id(tx, COPY))
    (forgotten,) = await db.run(lambda tx: tx.all("SELECT process_ref FROM agents"))

    assert again == first != copied
    assert (kept["process_ref"], forgotten["process_ref"]) == ('{"pid": 4711}', None)


@given(st.timedeltas(timedelta(0), timedelta(days=365 * 5000)), st.timezones())
def test_a_time_comes_back_to_the_millisecond_and_in_utc(since: timedelta, zone: ZoneInfo) -> None:
    at = (datetime(1970, 1, 1, tzinfo=UTC) + since).astimezone(zone)

    back = from_ms(to_ms(at))

    assert back.tzinfo is UTC
    assert timedelta(0) <= at - back < timedelta(milliseconds=1)


def test_a_time_is_an_instant_whatever_its_zone() -> None:
    assert to_ms(datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))) == 0
    assert maybe_from_ms(None) is None
    assert maybe_from_ms(1) == datetime(1970, 1, 1, 0, 0, 0, 1000, UTC)
