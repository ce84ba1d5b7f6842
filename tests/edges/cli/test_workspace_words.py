"""`dovecote workspace` as people meet it."""

import json
from pathlib import Path

from tests.edges.cli.conftest import Dovecote


def test_a_directory_is_allowed_listed_and_forgotten(dovecote: Dovecote, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()

    before = dovecote("workspace", "list")
    allowed = dovecote("workspace", "approve", str(project))
    listed = json.loads(dovecote("workspace", "list", "--json").stdout)
    removed = dovecote("workspace", "remove", str(project))
    after = dovecote("workspace", "list")

    assert "dovecote workspace approve" in before.stdout
    assert allowed.stdout == f"{project} is approved.\n"
    assert [(each["path"], each["status"], each["origin"]) for each in listed] == [
        (str(project), "approved", "operator")
    ]
    assert removed.stdout == f"{project} is removed.\n"
    assert after.stdout == before.stdout


def test_what_is_no_directory_is_refused_with_what_to_do(dovecote: Dovecote, tmp_path: Path) -> None:
    refused = dovecote("workspace", "approve", str(tmp_path / "nothing"))

    assert refused.returncode == 1
    assert "is no directory" in refused.stderr
    assert "whole path" in refused.stderr


def test_a_place_of_the_system_is_allowed_with_a_warning_and_a_whole_one_is_not(dovecote: Dovecote) -> None:
    allowed = dovecote("workspace", "approve", "/usr/share/doc")
    refused = dovecote("workspace", "approve", "/etc")

    assert allowed.stdout == "/usr/share/doc is approved.\n"
    assert "Warning: /usr/share/doc belongs to the system" in allowed.stderr
    assert "dovecote workspace remove /usr/share/doc" in allowed.stderr
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "'/etc' is a whole part of the system" in refused.stderr
