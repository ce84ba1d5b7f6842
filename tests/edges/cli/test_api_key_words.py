"""`dovecote api-key` as people meet it."""

import json

from tests.edges.cli.conftest import Dovecote


def test_a_key_is_made_shown_once_listed_without_itself_and_removed(dovecote: Dovecote) -> None:
    made = dovecote("api-key", "add", "editor", "--scope", "spawn", "--scope", "read", "--json")
    listed = dovecote("api-key", "list")
    removed = dovecote("api-key", "remove", "editor")

    key = json.loads(made.stdout)["key"]
    assert key.startswith("dvk_")
    assert listed.stdout.splitlines()[1].split()[:3] == ["editor", "read,", "spawn"]
    assert key not in listed.stdout
    assert removed.returncode == 0


def test_a_key_stands_alone_where_a_shell_takes_it_and_what_it_is_beside_it(dovecote: Dovecote) -> None:
    made = dovecote("api-key", "add", "editor", "--scope", "spawn", "--scope", "stop")

    (key,) = made.stdout.splitlines()
    assert key.startswith("dvk_")
    assert made.stderr == "This is the key of editor (spawn, stop). It is not shown again.\n"


def test_a_key_without_a_scope_is_answered_with_the_scopes_and_all_else_that_is_wrong(
    dovecote: Dovecote,
) -> None:
    bare = dovecote("api-key", "add", "editor")
    refused = dovecote("api-key", "add", "Ed!", "--scope", "fly", "--scope", "swim")

    scopes = "The scopes are read, spawn, stop, manage; manage is all that the operator may."
    assert (bare.returncode, refused.returncode) == (1, 1)
    assert bare.stderr.splitlines() == ["Error: A key needs a scope.", scopes]
    assert refused.stderr.splitlines()[1:] == [
        "'Ed!' can't be the name of a key. "
        "Use up to 64 of a-z, 0-9, dot, dash and underscore, a letter or a digit first.",
        f"There is no scope 'fly', 'swim'. {scopes}",
    ]


def test_a_scope_that_is_none_is_refused_with_those_that_are(dovecote: Dovecote) -> None:
    refused = dovecote("api-key", "add", "editor", "--scope", "fly")

    assert refused.returncode == 1
    assert "There is no scope 'fly'." in refused.stderr
    assert "The scopes are read, spawn, stop, manage; manage is all" in refused.stderr
