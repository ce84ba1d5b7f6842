"""A group's folder: made once, never over another's, never through a link."""

import os
from pathlib import Path

import pytest

from orchestrator.contracts.errors import Conflict, InvalidRequest
from orchestrator.contracts.ids import GroupFolder
from orchestrator.store.group_folders import create_group_folder, group_workspace

FAMILY = GroupFolder("family")


def test_a_new_folder_has_instructions_for_the_operator_and_a_memory_for_the_agent(tmp_path: Path) -> None:
    create_group_folder(tmp_path, FAMILY, template="Be kind.\n")

    assert (tmp_path / "family" / "AGENT.md").read_text() == "Be kind.\n"
    assert group_workspace(tmp_path, FAMILY) == tmp_path / "family" / "workspace"
    assert (tmp_path / "family" / "workspace" / "MEMORY.md").read_text() == ""
    assert (tmp_path / "family" / "workspace").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="giving files away needs root")
def test_the_workspace_belongs_to_the_agents_user_and_the_rest_does_not(tmp_path: Path) -> None:
    create_group_folder(tmp_path, FAMILY, template="x", uid=64_101, gid=64_101)

    family = tmp_path / "family"
    owners = {path.name: path.stat().st_uid for path in (family, *family.rglob("*"))}
    assert owners == {"family": 0, "AGENT.md": 0, "workspace": 64_101, "MEMORY.md": 64_101}
    assert family.stat().st_mode & 0o777 == 0o711
    assert (family / "AGENT.md").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_there_is_refused_unless_it_is_adopted(tmp_path: Path) -> None:
    (tmp_path / "family" / "workspace").mkdir(parents=True)
    (tmp_path / "family" / "AGENT.md").write_text("the operator's words")
    (tmp_path / "family" / "workspace" / "MEMORY.md").write_text("milk")

    with pytest.raises(Conflict, match="already exists") as refusal:
        create_group_folder(tmp_path, FAMILY, template="new")
    create_group_folder(tmp_path, FAMILY, template="new", adopt=True)

    assert "--adopt" in (refusal.value.suggestion or "")
    assert (tmp_path / "family" / "AGENT.md").read_text() == "the operator's words"
    assert (tmp_path / "family" / "workspace" / "MEMORY.md").read_text() == "milk"


@pytest.mark.skipif(os.geteuid() != 0, reason="giving files away needs root")
def test_adopting_gives_the_agent_its_files_but_none_that_lie_elsewhere_too(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    workspace = tmp_path / "groups" / "family" / "workspace"
    (workspace / "deep").mkdir(parents=True)
    (workspace / "deep" / "note").write_text("x")
    (workspace / "deep" / "link").symlink_to(tmp_path / "precious")
    os.link(tmp_path / "precious", workspace / "hard")

    create_group_folder(tmp_path / "groups", FAMILY, template="x", uid=64_101, gid=64_101, adopt=True)

    assert (workspace / "deep" / "note").stat().st_uid == 64_101
    assert (workspace / "deep").stat().st_uid == 64_101
    assert (tmp_path / "precious").stat().st_uid == 0


@pytest.mark.parametrize("adopt", [False, True])
def test_a_name_that_differs_by_case_only_is_refused(tmp_path: Path, adopt: bool) -> None:
    (tmp_path / "Family").mkdir()

    with pytest.raises(Conflict, match="letter case"):
        create_group_folder(tmp_path, FAMILY, template="x", adopt=adopt)

    assert [path.name for path in tmp_path.iterdir()] == ["Family"]


@pytest.mark.parametrize("adopt", [False, True])
def test_a_link_in_the_folders_place_is_never_used(tmp_path: Path, adopt: bool) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "groups").mkdir()
    (tmp_path / "groups" / "family").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(Conflict, match="link"):
        create_group_folder(tmp_path / "groups", FAMILY, template="x", adopt=adopt)

    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_link_in_the_workspaces_place_is_never_used(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "groups" / "family").mkdir(parents=True)
    (tmp_path / "groups" / "family" / "workspace").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(Conflict):
        create_group_folder(tmp_path / "groups", FAMILY, template="x", adopt=True)

    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", ["", "..", "a/b", "Family", "global", "errors", "con", "@x", "a" * 65, "-a"])
def test_a_name_that_breaks_the_rule_makes_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidRequest):
        create_group_folder(tmp_path, GroupFolder(name), template="x")

    assert list(tmp_path.iterdir()) == []
