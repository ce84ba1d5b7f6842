"""What was said in one group is nowhere in what another group's agent is given or can read."""

import json
from typing import Final

import pytest

from orchestrator.contracts.records.launch import WORKSPACE_TARGET
from tests.support.home_on_disk import HomeOnDisk

SECRET: Final = "the-surprise-party-is-on-friday"
OWN: Final = "the-club-meets-on-monday"
# Looks through all that it sees but the kernel's own trees and the system's programs; by two halves, so that
# it does not find itself.
SEARCH: Final = """
import json, os
halves = {"theirs": ("the-surprise-party", "-is-on-friday"), "ours": ("the-club", "-meets-on-monday")}
wanted = {name: "".join(both) for name, both in halves.items()}
found = {name: [] for name in wanted}
for directory, names, files in os.walk("/"):
    if directory == "/":
        names[:] = [name for name in names if name not in ("proc", "sys", "dev", "usr")]
    for name in (*names, *files):
        path = os.path.join(directory, name)
        held = os.fsencode(path)
        if os.path.isfile(path):
            try:
                with open(path, "rb") as file:
                    held += file.read(8_000_000)
            except OSError:
                pass
        for name, word in wanted.items():
            if word.encode() in held:
                found[name].append(path)
with open("seen.json", "w") as file:
    json.dump(found, file)
"""
REMEMBERS: Final = {
    "session": "s-1",
    "default": [
        {"write_file": {"path": "MEMORY.md", "text": SECRET}},
        {"run": ["chmod", "-R", "a+rX", "."]},  # the walls hold though its user does not
        {"say": "I know: {texts}"},
    ],
}


def play_search(home: HomeOnDisk, folder: str) -> None:
    """That group's agent looks for the secret and for what its own knows, and says what it was told."""
    own = home.workspace(folder) / "MEMORY.md"
    own.write_text(OWN, encoding="utf-8")
    own.chmod(0o644)
    program = home.workspace(folder) / "search.py"
    program.write_text(SEARCH, encoding="utf-8")
    program.chmod(0o644)
    search = {"run": ["python3", "-s", "-P", f"{WORKSPACE_TARGET}/search.py"]}
    home.play({"default": [search, {"say": "re: {texts}"}]}, folder)


@pytest.mark.bubblewrap
async def test_h12_a_secret_of_one_group_is_in_no_file_and_no_prompt_of_another(home: HomeOnDisk) -> None:
    """Case H12."""
    home.set(agent__runner="bubblewrap")
    for folder in ("family", "club"):
        await home.add_group(folder)
    home.play(REMEMBERS, "family")
    play_search(home, "club")

    async with home.running():
        home.say(f"nobody may know: {SECRET}", chat="file:family")
        home.ask("remember it", chat="file:family")
        await home.quiet()
        home.ask("what is new?", chat="file:club")
        await home.quiet()

    seen = json.loads((home.workspace("club") / "seen.json").read_text(encoding="utf-8"))
    assert SECRET in home.texts("file:family")[0]
    assert home.texts("file:club") == ["re: @Assistant what is new?"]
    assert seen == {"theirs": [], "ours": [f"{WORKSPACE_TARGET}/MEMORY.md"]}
