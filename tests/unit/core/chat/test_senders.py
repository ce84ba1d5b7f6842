"""Who counts as whom, and what his message may be. Source: contracts.md section 6."""

import pytest

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import SenderRole
from orchestrator.contracts.records.senders import SenderMode, SenderRules
from orchestrator.core.chat.senders import Hearing, are_two_people, hearing_of, is_one_of, is_same_person

ANN, BOB = Jid("49170@s.whatsapp.net"), Jid("49171@s.whatsapp.net")
ANN_LID = Jid("98765@lid")
MEMBER, BOT, OPERATOR = SenderRole.MEMBER, SenderRole.BOT, SenderRole.OPERATOR
FULL, CONTEXT, NONE = Hearing.FULL, Hearing.CONTEXT_ONLY, Hearing.NONE


def rules(mode: SenderMode, *senders: Jid) -> SenderRules:
    return SenderRules(mode=mode, senders=senders)


@pytest.mark.parametrize(
    ("given", "sender", "role", "expected"),
    [
        (rules(SenderMode.ANYONE), BOB, MEMBER, FULL),
        (rules(SenderMode.ANYONE), BOB, BOT, FULL),
        (rules(SenderMode.ALLOWLIST, ANN), ANN, MEMBER, FULL),
        (rules(SenderMode.ALLOWLIST, ANN), ANN, BOT, FULL),
        (rules(SenderMode.ALLOWLIST, ANN), BOB, MEMBER, CONTEXT),
        (rules(SenderMode.ALLOWLIST, ANN), BOB, BOT, CONTEXT),
        (rules(SenderMode.ALLOWLIST), ANN, MEMBER, CONTEXT),
        (rules(SenderMode.DROP, ANN), ANN, MEMBER, FULL),
        (rules(SenderMode.DROP, ANN), BOB, MEMBER, NONE),
        (rules(SenderMode.DROP), ANN, BOT, NONE),
        (None, ANN, MEMBER, CONTEXT),
        (None, ANN, BOT, CONTEXT),
    ],
)
def test_what_the_rules_make_of_a_sender(
    given: SenderRules | None, sender: Jid, role: SenderRole, expected: Hearing
) -> None:
    assert hearing_of(given, {sender}, role) is expected


@pytest.mark.parametrize(
    "given",
    [None, *(SenderRules(mode=mode, senders=(ANN,)) for mode in (SenderMode.ALLOWLIST, SenderMode.DROP))],
)
def test_an_operator_is_heard_whatever_the_rules_say(given: SenderRules | None) -> None:
    assert hearing_of(given, {BOB}, OPERATOR) is FULL


def test_people_are_told_apart_by_their_whole_id() -> None:
    assert is_same_person({ANN}, ANN)
    assert not is_same_person({ANN}, BOB)
    assert not is_one_of({Jid("170@s.whatsapp.net")}, [ANN])
    assert is_one_of({ANN}, [BOB, ANN])


@pytest.mark.parametrize("named", [ANN, ANN_LID])
def test_a_person_with_two_ids_may_be_named_by_either(named: Jid) -> None:
    ids = {ANN, ANN_LID}

    assert is_one_of(ids, [BOB, named])
    assert hearing_of(rules(SenderMode.ALLOWLIST, named), ids, MEMBER) is FULL
    assert hearing_of(rules(SenderMode.DROP, BOB), ids, MEMBER) is NONE


@pytest.mark.parametrize(
    ("one", "other", "are_two"),
    [
        ({"1@lid"}, {"2@lid"}, True),
        ({"1@lid"}, {"1@lid"}, False),
        ({"1@lid"}, {"49@s.whatsapp.net"}, False),
        ({"1@lid", "49@s.whatsapp.net"}, {"49@s.whatsapp.net"}, False),
        ({"1@lid", "48@s.whatsapp.net"}, {"49@s.whatsapp.net"}, True),
        ({"ann"}, {"bob"}, True),
    ],
    ids=[
        "two hidden ids",
        "one id",
        "nobody knows",
        "one of both ids",
        "other than both",
        "a network of ours",
    ],
)
def test_two_people_are_told_apart_by_ids_of_one_kind(one: set[str], other: set[str], are_two: bool) -> None:
    assert are_two_people(one, other) is are_two
    assert are_two_people(other, one) is are_two
