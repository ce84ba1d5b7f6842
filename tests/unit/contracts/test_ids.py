"""The rules that names keep."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import is_chat_id, is_file_name, is_folder_name, is_network_id, new_id

REFUSED_EVERYWHERE = {
    "empty": "",
    "hidden": ".x",
    "parent": "..",
    "path": "a/b",
    "newline at the end": "a\n",
    "space": "a b",
    "not ascii": "ä",
    "nul": "a\x00",
}


@pytest.mark.parametrize("name", ["a", "0", "1718-close", "A.b_c-d", "x" * 128])
def test_a_file_name_within_the_rule_is_taken(name: str) -> None:
    assert is_file_name(name)


@pytest.mark.parametrize("name", [*REFUSED_EVERYWHERE.values(), "-a", "_a", "x" * 129], ids=repr)
def test_a_file_name_outside_the_rule_is_refused(name: str) -> None:
    assert not is_file_name(name)


@pytest.mark.parametrize("name", ["main", "0", "a_b-c", "x" * 64, "console"])
def test_a_folder_name_within_the_rule_is_taken(name: str) -> None:
    assert is_folder_name(name)


@pytest.mark.parametrize("name", [*REFUSED_EVERYWHERE.values(), "Main", "a.b", "@a", "x" * 65], ids=repr)
def test_a_folder_name_outside_the_rule_is_refused(name: str) -> None:
    assert not is_folder_name(name)


@pytest.mark.parametrize("name", ["global", "errors", "con", "nul", "prn", "aux", "com1", "lpt9"])
def test_a_reserved_folder_name_is_refused(name: str) -> None:
    assert not is_folder_name(name)


@given(st.sampled_from(["agent", "turn", "tree"]))
def test_a_fresh_id_begins_with_its_prefix_and_keeps_the_file_name_rule(prefix: str) -> None:
    fresh = new_id(prefix)

    assert fresh.startswith(f"{prefix}-")
    assert is_file_name(fresh)
    assert len(fresh) == len(prefix) + 17


def test_fresh_ids_differ() -> None:
    assert len({new_id("agent") for _ in range(10_000)}) == 10_000


@pytest.mark.parametrize("text", ["console:main", "console:a_b-c.d", "1203-55@g.us", "491701@s.whatsapp.net"])
def test_ids_of_chats_are_known(text: str) -> None:
    assert is_chat_id(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "console",
        "console:",
        ":main",
        "1:a",
        "a:b:c",
        "a b@g.us",
        "@g.us",
        "a@",
        "a@b@c",
        "a@g\n",
        "c:\x00",
        f"c:{'x' * 201}",
        "c:\u202eb",
    ],
)
def test_what_is_no_id_of_a_chat_is_refused(text: str) -> None:
    assert not is_chat_id(text)


@pytest.mark.parametrize(
    "text", ["3EB0C767D097B7C7F5A1", "true_1203@g.us_ABC", "ä b", "好" * 85, "x" * 256, "-", "$7:a/b=="]
)
def test_what_networks_call_their_messages_is_taken(text: str) -> None:
    assert is_network_id(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\x00b",
        "a\x1fb",
        "a\nb",
        "a\x7fb",
        "a\x85b",
        "a\u2028b",
        "a\ud800b",
        "\udfff",
        "x" * 257,
        "好" * 86,
    ],
    ids=ascii,
)
def test_an_id_that_would_not_come_back_the_same_is_refused(text: str) -> None:
    assert not is_network_id(text)
