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
