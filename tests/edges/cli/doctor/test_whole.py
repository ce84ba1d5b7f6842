"""Faults of the whole: clock, operators, channels, incidents."""

import pytest

from orchestrator.cli.findings import Health
from orchestrator.cli.standing_checks import standing_findings
from orchestrator.contracts.ids import Jid
from orchestrator.settings.tree import AssistantSettings, Settings
from orchestrator.settings.whatsapp import WhatsAppSettings
from orchestrator.store import chats, notices
from orchestrator.store.transaction import Transaction
from tests.edges.cli.doctor.conftest import SickHome, assert_names
from tests.support.store_rows import ANN, CHAT, add_group, add_message

WHATSAPP = Settings(whatsapp=WhatsAppSettings(enabled=True))


def tell(tx: Transaction, home: SickHome, incident: str) -> None:
    """People were told of it three hours ago, and it is not over."""
    notices.count_one(tx, incident, at=home.ago(hours=3))
    notices.mark_told(tx, incident, at=home.ago(hours=3))


def test_a_clock_that_was_set_back_is_a_failure(home: SickHome) -> None:
    home.fill(add_group, lambda tx: add_message(tx, at=home.ago(days=-30)))

    found = home.standing("clock")

    assert_names(found, Health.FAILURE, "before the newest message", "timedatectl set-ntp true")


def test_a_main_group_in_which_nobody_commands_is_a_failure(home: SickHome) -> None:
    home.fill(lambda tx: add_group(tx, is_main=1))
    listed = Settings(assistant=AssistantSettings(operators=(ANN,)))

    nobody, somebody = home.standing("operators"), home.standing("operators", settings=listed)

    assert_names(nobody, Health.FAILURE, "lists nobody", "assistant.operators")
    assert somebody.health is Health.OK


def test_a_group_whose_channel_is_off_is_a_failure(home: SickHome) -> None:
    home.fill(add_group)

    found = home.standing("channel whatsapp", settings=Settings())

    assert_names(
        found, Health.FAILURE, "The chat of family is one of WhatsApp, which is off", "whatsapp.enabled"
    )


def test_g17_groups_that_are_never_heard_beside_direct_chats_that_are_are_named(home: SickHome) -> None:
    def hear(tx: Transaction, jid: Jid, *, is_group: bool) -> None:
        chats.see(tx, jid, channel="whatsapp", name=None, is_group=is_group, at=home.ago(hours=5))

    home.fill(add_group, lambda tx: hear(tx, ANN, is_group=False))
    deaf = home.standing("channel whatsapp", settings=WHATSAPP)
    home.fill(lambda tx: hear(tx, CHAT, is_group=True))
    hears = home.standing("channel whatsapp", settings=WHATSAPP)

    assert_names(deaf, Health.WARNING, "in groups never, in direct chats 5 h ago", "dovecote whatsapp groups")
    assert hears.health is Health.OK


def test_a_group_chat_that_dovecote_was_put_out_of_is_a_failure(home: SickHome) -> None:
    home.fill(add_group, lambda tx: chats.note_found(tx, CHAT, channel="whatsapp", name=None))
    before = home.standing("membership")
    home.fill(lambda tx: chats.leave(tx, CHAT))

    found = home.standing("membership")

    assert before.health is Health.OK
    assert_names(found, Health.FAILURE, "in the chat of family no more", "dovecote group remove family")


@pytest.mark.parametrize(
    ("incident", "health", "why", "mend"),
    [
        ("start", Health.FAILURE, "No agent can be started for family", "runner"),
        ("setup", Health.FAILURE, "needs is not set up", "dovecote agent check"),
        ("program", Health.FAILURE, "of family is not there inside", "groups/family/AGENT.md"),
        ("disk", Health.FAILURE, "too full to start an agent for family", "disk_floor_bytes"),
        ("provider", Health.WARNING, "is away or busy", "dovecote provider check"),
        ("refused", Health.FAILURE, "refuses the credential or the model", "dovecote provider check"),
        ("budget", Health.WARNING, "The budget of family is used up", "dovecote usage"),
        ("odd", Health.FAILURE, "is not over", "log"),
    ],
)
def test_what_a_chat_was_told_of_and_is_not_over_is_named(
    home: SickHome, incident: str, health: Health, why: str, mend: str
) -> None:
    home.fill(add_group, lambda tx: tell(tx, home, f"{incident}:{CHAT}"))

    found = home.standing(f"incident {incident}")

    assert_names(found, health, why, mend)
    assert found.why.endswith("Since 3 h.")


@pytest.mark.parametrize(
    ("incident", "why", "mend"),
    [
        ("channel-down:whatsapp", "The channel whatsapp is away", "dovecote whatsapp status"),
        ("channel-unlinked:whatsapp", "has no linked account", "dovecote whatsapp link"),
    ],
)
def test_a_channel_that_is_away_is_named(home: SickHome, incident: str, why: str, mend: str) -> None:
    home.fill(lambda tx: tell(tx, home, incident))

    assert_names(home.standing(f"incident {incident.partition(':')[0]}"), Health.FAILURE, why, mend)


def test_what_nobody_was_told_of_is_no_finding(home: SickHome) -> None:
    home.fill(lambda tx: notices.count_one(tx, f"start:{CHAT}", at=home.now))

    assert not [each for each in standing_findings(home.patient()) if each.what.startswith("incident")]


@pytest.mark.parametrize("incident", ["files", "senders", "senders-kept"])
def test_what_has_a_check_of_its_own_is_not_said_twice(home: SickHome, incident: str) -> None:
    home.fill(add_group, lambda tx: tell(tx, home, f"{incident}:{CHAT}"))

    assert not [each for each in standing_findings(home.patient()) if each.what.startswith("incident")]


def test_a_store_of_an_earlier_schema_is_left_to_its_own_check(home: SickHome) -> None:
    home.fill(lambda tx: tx.execute("DROP TABLE alerts"))

    assert standing_findings(home.patient()) == []
