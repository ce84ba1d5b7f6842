"""What may stand in `senders.toml`, and what is said of what may not. Source: contracts.md section 6."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.faults import SeveralFaults
from orchestrator.contracts.records.senders import SenderMode, SenderRules
from orchestrator.settings.sender_rules import parse_sender_rules

ANN = "49170@s.whatsapp.net"


@pytest.mark.parametrize(
    ("text", "mode", "senders"),
    [
        ('mode = "anyone"', SenderMode.ANYONE, ()),
        ('mode = "anyone"\nsenders = []', SenderMode.ANYONE, ()),
        (f'mode = "allowlist"\nsenders = ["{ANN}"]', SenderMode.ALLOWLIST, (ANN,)),
        (
            f'# mine\nsenders = ["{ANN}", "console:main"]\nmode = "drop"',
            SenderMode.DROP,
            (ANN, "console:main"),
        ),
        ('mode = "allowlist"', SenderMode.ALLOWLIST, ()),
        ('\ufeffmode = "allowlist"\r\n', SenderMode.ALLOWLIST, ()),
    ],
)
def test_what_it_says(text: str, mode: SenderMode, senders: tuple[str, ...]) -> None:
    rules = parse_sender_rules(text.encode(), where="senders.toml")

    assert (rules.mode, rules.senders) == (mode, senders)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "senders.toml says no mode"),
        (f'senders = ["{ANN}"]'.encode(), "senders.toml says no mode"),
        (b'\nmode = "everyone"', "senders.toml line 2 has the mode 'everyone'"),
        (b"mode = 1", "senders.toml line 1 has the mode 1"),
        (b"mode = " + b"1" * 5_000, "senders.toml is not TOML: a whole number is too large"),
        (b"mode = 0o" + b"7" * 5_000, "senders.toml is not TOML: a whole number is too large"),
        (b"senders = " + b"[" * 5_000, "senders.toml is not TOML: it is nested too deeply"),
        (b'mode = "drop"\nallow = []', "senders.toml line 2 knows no 'allow'"),
        (f'mode = "drop"\nsenders = "{ANN}"'.encode(), "senders.toml line 2 has "),
        (b'mode = "drop"\nsenders = [1]', "senders.toml line 2 has 1 where a list of ids"),
        (b'mode = "drop"\nsenders = [\n  "a@b",\n  "Ann",\n]', "senders.toml line 4 names 'Ann'"),
        (f'mode = "anyone"\nsenders = ["{ANN}"]'.encode(), "senders.toml line 2 lists senders, but"),
        (b"mode = =", "is not TOML: Invalid value (at line 1"),
        (b"\xff", "is not UTF-8 at byte 0"),
        (b"a = " + b"[" * 5_000, "is not TOML"),
    ],
)
def test_what_is_wrong_with_it_is_said_with_its_place(raw: bytes, said: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        parse_sender_rules(raw, where="senders.toml")

    assert said in caught.value.message
    assert caught.value.suggestion


def test_an_unknown_mode_is_answered_with_those_there_are() -> None:
    with pytest.raises(InvalidSettings) as caught:
        parse_sender_rules(b'mode = "off"', where="senders.toml")

    assert caught.value.suggestion == 'Use one of "anyone", "allowlist", "drop".'


def test_all_that_is_wrong_is_said_at_once_in_the_order_of_the_lines() -> None:
    raw = b'senders = ["Ann", 7, "Bob"]\nmode = "some"\ncolour = "red"\n'

    with pytest.raises(SeveralFaults) as caught:
        parse_sender_rules(raw, where="senders.toml")

    assert [fault.message for fault in caught.value.faults] == [
        "senders.toml line 1 has 7 where a list of ids belongs.",
        "senders.toml line 1 names 'Ann', which is not the id of a person.",
        "senders.toml line 1 names 'Bob', which is not the id of a person.",
        "senders.toml line 2 has the mode 'some'.",
        "senders.toml line 3 knows no 'colour'.",
    ]


def test_ids_that_are_none_are_named_beside_a_mode_that_needs_no_list() -> None:
    with pytest.raises(SeveralFaults) as caught:
        parse_sender_rules(b'mode = "anyone"\nsenders = [\n"Ann",\n"Bob"]', where="senders.toml")

    lines = [fault.message.split()[2] for fault in caught.value.faults]
    assert lines == ["2", "3", "4"]


@given(st.binary(max_size=200))
def test_any_bytes_are_rules_or_a_refusal(raw: bytes) -> None:
    try:
        rules = parse_sender_rules(raw, where="senders.toml")
    except InvalidSettings:
        return
    assert isinstance(rules, SenderRules)
