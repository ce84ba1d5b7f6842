"""Agent programs: what is offered, how they are laid out, found where they are needed, and removed again."""

import json
import os
import stat
import sys
import tomllib
from pathlib import Path

import pytest

from orchestrator import shipped
from orchestrator.contracts.errors import InvalidRequest, StartFailed
from orchestrator.runners.agent_directory import (
    InstalledPart,
    current_agents,
    outdated_parts,
)
from orchestrator.runners.agent_programs import (
    OFFERED,
    PARTS,
    Part,
    is_complete,
    named_programs,
    parts_of,
    programs_in,
)
from orchestrator.runners.image import (
    AGENTS_LABEL,
    PROGRAMS_LABEL,
    PROTOCOL_LABEL,
    WIRE_LABEL,
    ImageState,
    Stamps,
    agents_inside,
    state_by_labels,
)
from orchestrator.runners.model_programs import model_programs
from orchestrator.runners.program_pruning import prune_programs
from orchestrator.runners.runner_files import Interpreter, choose_interpreter, ensure_programs, open_to_all
from orchestrator.runners.tool_packages import OUR_VERSION

OWN = Interpreter(inside=sys.executable, outside=sys.executable)
OWN_STAMPS = Stamps(wire="w1", programs="p1")


def test_every_program_that_a_shipped_provider_names_is_offered() -> None:
    providers = tomllib.loads(Path(shipped.__file__).with_name("providers.toml").read_text(encoding="utf-8"))

    named = {entry["program"] for entry in providers.values() if "program" in entry}

    assert named == set(OFFERED)


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_list_pins_a_version_has_hashes_and_names_no_place_to_fetch_from(part: Part) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in part.lists)

    assert part.version[0].isdigit()
    assert "sha256:" in text or "sha512-" in text
    assert "://" not in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", ()),
        ("codex", ("codex",)),
        (" gemini , claude,", ("claude", "gemini")),
        ("all", OFFERED),
    ],
)
def test_programs_are_named_by_a_list(words: str, expected: tuple[str, ...]) -> None:
    assert named_programs(words) == expected


def test_a_program_that_is_not_offered_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidRequest, match="'cladue'") as refused:
        named_programs("codex,cladue")

    assert "claude, claude-code" in str(refused.value)


def test_a_program_is_there_once_all_its_parts_are() -> None:
    assert [part.name for part in parts_of(["gemini"])] == ["node", "gemini"]
    assert not is_complete("gemini", ["gemini"])
    assert is_complete("gemini", ["gemini", "node"])
    assert not is_complete("of my own", PARTS)
    assert programs_in(["node", "codex", "claude-code"]) == ("claude-code", "codex")


def labels(**agents: str) -> dict[str, str]:
    """Of an image of this version with these parts, by name and stamp."""
    inside = {name: {"version": "1", "stamp": stamp} for name, stamp in agents.items()}
    plain = {PROTOCOL_LABEL: "1", WIRE_LABEL: "w1", PROGRAMS_LABEL: "p1"}
    return plain | {AGENTS_LABEL: json.dumps(inside)}


def test_an_image_whose_lists_have_changed_is_stale() -> None:
    assert state_by_labels(labels(claude=PARTS["claude"].stamp), OWN_STAMPS) is ImageState.OK
    assert state_by_labels(labels(claude="0"), OWN_STAMPS) is ImageState.STALE
    assert state_by_labels(labels(unheard="0"), OWN_STAMPS) is ImageState.STALE
    assert outdated_parts({"claude": InstalledPart(version="1", stamp="0")}) == ("claude",)


@pytest.mark.parametrize("label", ["", "[]", "{", '{"claude": 3}', '{"claude": {"colour": "red"}}'])
def test_a_label_that_nobody_understands_tells_of_no_program(label: str) -> None:
    assert agents_inside({AGENTS_LABEL: label}) == {}


def lay(root: Path, *parts: str, python: tuple[int, int] = OUR_VERSION) -> Path:
    """A directory of agent programs, as an installation leaves it, without the programs."""
    made = root / "agents-0123456789abcdef"
    made.mkdir(parents=True)
    entries = {name: {"version": "1", "stamp": PARTS[name].stamp} for name in parts}
    (made / "manifest.json").write_text(json.dumps({"python": python, "parts": entries}))
    (root / "agents").symlink_to(made.name)
    return made


def test_an_installed_program_is_taken_as_it_is(tmp_path: Path) -> None:
    made = lay(tmp_path, "claude")

    tools, found = model_programs(tmp_path, OWN, "claude")

    assert found == made
    assert tools.name.startswith("tools-")


@pytest.mark.parametrize(
    ("python", "program"), [(OUR_VERSION, "codex"), ((3, 99), "codex")], ids=["missing", "another Python"]
)
def test_a_program_that_can_not_be_fetched_now_is_told_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: tuple[int, int], program: str
) -> None:
    lay(tmp_path, "node", python=python)
    monkeypatch.setenv("PATH", str(tmp_path))  # where there is no npm

    with pytest.raises(StartFailed, match="there is no npm") as refused:
        model_programs(tmp_path, OWN, program)

    assert f"dovecote image build --with {program}" in str(refused.value)
    assert current_agents(tmp_path) is not None


def test_a_program_that_nobody_offers_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="of-my-own is not installed") as refused:
        model_programs(tmp_path, OWN, "of-my-own")

    assert "claude-code" in str(refused.value)


@pytest.mark.parametrize("manifest", ["", "[]", '{"python": [3]}', '{"python": [3, 11], "parts": {"x": 1}}'])
def test_a_directory_that_says_nothing_of_itself_counts_as_none(tmp_path: Path, manifest: str) -> None:
    (lay(tmp_path, "claude") / "manifest.json").write_text(manifest)

    assert current_agents(tmp_path) is None


def make_old(path: Path) -> None:
    """As if nothing had changed in it for hours."""
    os.utime(path, (0, 0))


def test_what_earlier_versions_left_goes_and_what_counts_or_is_young_stays(tmp_path: Path) -> None:
    current = lay(tmp_path, "claude")
    programs = ensure_programs(tmp_path, choose_interpreter()).library.parent
    names = ("fedcba9876543210", "tools-fedcba9876543210", "agents-fedcba9876543210", ".agents.0123abcd")
    for name in (*names, "of-the-operator"):
        (tmp_path / name).mkdir()
        make_old(tmp_path / name)
    young = tmp_path / "agents-ffffffffffffffff"
    young.mkdir()
    make_old(current)
    make_old(programs)

    gone = prune_programs(tmp_path)

    assert gone == sorted(names)
    left = {"agents", current.name, programs.name, "of-the-operator", young.name}
    assert set(os.listdir(tmp_path)) == left


def test_an_installed_program_is_readable_by_all_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        (tmp_path / "bin").mkdir()
        for name, mode in (("program", 0o700), ("text", 0o600)):
            (tmp_path / "bin" / name).touch()
            (tmp_path / "bin" / name).chmod(mode)
        (tmp_path / "bin" / "nowhere").symlink_to("none")
    finally:
        os.umask(before)

    open_to_all(tmp_path)

    modes = {name: stat.S_IMODE((tmp_path / "bin" / name).stat().st_mode) for name in ("program", "text")}
    assert modes == {"program": 0o755, "text": 0o644}
    assert stat.S_IMODE((tmp_path / "bin").stat().st_mode) == 0o755
