"""`dovecote group` as people meet it: what it refuses, what it says, what it leaves alone."""

import re
from pathlib import Path

import pytest

from tests.edges.cli.conftest import Dovecote


def test_looking_at_a_home_that_was_never_used_makes_nothing_in_it(home: Path, dovecote: Dovecote) -> None:
    listed = dovecote("group", "list")
    as_json = dovecote("group", "list", "--json")
    shown = dovecote("group", "show", "main")

    assert (listed.returncode, as_json.stdout.strip(), shown.returncode) == (0, "[]", 1)
    assert listed.stdout == "No groups yet. The first start registers console:main.\n"
    assert list(home.iterdir()) == []


def test_j6_the_group_that_was_main_before_is_named(dovecote: Dovecote) -> None:
    dovecote("group", "add", "a", "--jid", "console:a", "--main")
    dovecote("group", "add", "b", "--jid", "console:b")

    changed = dovecote("group", "set", "b", "is_main=true")
    listed = dovecote("group", "list")

    assert changed.stdout.splitlines() == [
        "Group b is changed: is_main.",
        "It is main now; a no longer is.",
    ]
    assert [line.split() for line in listed.stdout.splitlines()] == [
        ["FOLDER", "CHAT", "ANSWERS", "NAME"],
        ["a", "console:a", "messages", "with", "@Assistant", "a"],
        ["b", "console:b", "every", "message", "(main)", "b"],
    ]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["set", "a", "name=A", "name=B"], "name is given twice."),
        (["set", "a", "locale=xx"], "There are no sentences in the language 'xx'."),
        (["set", "a", "trigger="], "The trigger is empty."),
        (["add", "b", "--jid", "console:b", "--trigger", ""], "The trigger is empty."),
        (["add", "b", "--jid", "console:b", "--name", ""], "A name is empty."),
        (["add", "b", "--jid", "console:"], "'console:' is not the id of a chat."),
        (["add", "b", "--jid", "a b@g.us"], "'a b@g.us' is not the id of a chat."),
    ],
)
def test_what_makes_no_sense_is_refused_in_two_lines(
    dovecote: Dovecote, words: list[str], wanted: str
) -> None:
    dovecote("group", "add", "a", "--jid", "console:a")

    ended = dovecote("group", *words)

    assert ended.returncode == 1
    assert ended.stderr.splitlines()[0] == f"Error: {wanted}"
    assert len(ended.stderr.splitlines()) == 2


def test_all_changes_that_cannot_be_made_are_told_in_one_round_and_none_is_made(dovecote: Dovecote) -> None:
    dovecote("group", "add", "a", "--jid", "console:a", "--main")

    changes = ["nmae=A", "requires_trigger=ja", "locale=xx", "timezone=Mars", "trigger=((", "is_main=no"]
    ended = dovecote("group", "set", "a", *changes, "assistant_name=Ann")
    shown = dovecote("group", "show", "a")

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.splitlines() == [
        "Error: 6 things are wrong:",
        "A group has no setting 'nmae'. Did you mean name? Known ones: name, trigger, assistant_name, "
        "requires_trigger, is_main, trigger_position, reply_triggers, timezone, locale.",
        "requires_trigger is 'ja', but must be true or false.",
        "There are no sentences in the language 'xx'. Known ones: en.",
        "Group 'a' is main, and exactly one group is. "
        "Make another group main instead: dovecote group set FOLDER is_main=true",
        "The trigger '((' is not a regular expression: missing ) at position 2. "
        "Give a word such as @Andy, or put a backslash before signs meant as they are.",
        "timezone 'Mars' is not known. Give an IANA name such as Europe/Berlin.",
    ]
    assert "Ann" not in shown.stdout


def test_all_that_is_wrong_with_a_new_group_is_told_in_one_round(home: Path, dovecote: Dovecote) -> None:
    ended = dovecote("group", "add", "A b", "--jid", "nowhere", "--trigger", "((", "--name", "")

    assert ended.returncode == 1
    assert [line.split(" ")[0] for line in ended.stderr.splitlines()] == [
        "Error:",
        "'A",
        "'nowhere'",
        "The",
        "A",
    ]
    assert not (home / "groups" / "A b").exists()


def test_what_changes_nothing_is_answered_with_what_a_group_has(dovecote: Dovecote) -> None:
    dovecote("group", "add", "a", "--jid", "console:a")

    ended = dovecote("group", "set", "a", "colour=red")
    bare = dovecote("group", "set", "a", "colour")

    assert ended.stderr.splitlines()[0] == "Error: A group has no setting 'colour'."
    assert bare.stderr.splitlines()[0] == "Error: 'colour' is not a change."
    assert all("name, trigger, assistant_name" in each.stderr for each in (ended, bare))


def test_a_chat_that_no_channel_serves_is_registered_with_a_warning(dovecote: Dovecote) -> None:
    ended = dovecote("group", "add", "family", "--jid", "1203@g.us")
    console = dovecote("group", "add", "garden", "--jid", "console:garden")

    assert ended.returncode == 0
    assert "names are like console:garden" in ended.stdout
    assert "no chat of the terminal" not in console.stdout


def test_a_language_without_sentences_is_a_warning_in_the_settings(home: Path, dovecote: Dovecote) -> None:
    (home / "dovecote.toml").write_text("[assistant]\nlocale = 'xx'\n")

    ended = dovecote("group", "add", "a", "--jid", "console:a")

    assert ended.returncode == 0
    assert ended.stderr.startswith("Warning: assistant.locale is 'xx'")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "senders           anyone"),
        ('mode = "allowlist"\nsenders = ["ann@s", "bob@s"]', "senders           allowlist: ann@s, bob@s"),
        ('mode = "drop"', "senders           drop: nobody but operators"),
        (
            "mode = 1",
            "senders           operators only (broken: groups/a/senders.toml line 1 has the mode 1. ",
        ),
    ],
)
def test_a_group_is_shown_with_who_may_set_the_assistant_off(
    home: Path, dovecote: Dovecote, content: str | None, line: str
) -> None:
    dovecote("group", "add", "a", "--jid", "console:a")
    if content is not None:
        (home / "groups" / "a" / "senders.toml").write_text(content)

    shown = dovecote("group", "show", "a")

    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[-1].startswith(line)


def test_settings_of_a_group_are_shown_as_they_are_set_and_instants_as_in_lists(dovecote: Dovecote) -> None:
    dovecote("group", "add", "a", "--jid", "console:a", "--main")

    lines = dovecote("group", "show", "a").stdout.splitlines()
    shown = {name: value.strip() for name, _, value in (line.partition(" ") for line in lines)}

    assert (shown["is_main"], shown["requires_trigger"]) == ("true", "true")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", shown["added_at"])
