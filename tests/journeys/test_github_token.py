"""A GitHub token is there for whom `AGENT.md` names it, and below him for whom it is handed down."""

import json
from typing import Any

import pytest

from orchestrator.store.secret_values import SecretKeeper
from tests.support.home_on_disk import HomeOnDisk
from tests.support.spawned import agents_of, ended, rule, scenario, spawn

TOKEN = "ghp-canary-5f1c"
NAME = "providers/github/family"
LOOK = """
import json, os, stat, sys
path = os.environ.get("GITHUB_TOKEN_FILE")
told = None if path is None else {
    "path": path,
    "token": open(path).read(),
    "mode": stat.S_IMODE(os.stat(path).st_mode),
    "shown": any(open(path).read() in value for value in os.environ.values()),
}
with open("/workspace/group/out/" + sys.argv[1] + ".json", "w") as file:
    json.dump(told, file)
"""


def look(who: str) -> dict[str, object]:
    """A step: write down which token there is."""
    return {"run": ["python3", "/workspace/group/look.py", who]}


async def prepare(home: HomeOnDisk, **wishes: bool) -> None:
    """A group whose agent looks for its token, and asks for children that do so; wishes: by their tasks."""
    home.set(agent__runner="bubblewrap", shutdown_grace_s=0)
    await home.add_group()
    (home.workspace().parent / "AGENT.md").write_text(
        f"---\ntools: [chat, spawn]\ngithub_token: secret:{NAME}\n---\n"
    )
    (home.workspace() / "look.py").write_text(LOOK)
    (home.workspace() / "look.py").chmod(0o644)
    asks = [
        spawn(task, permissions={"inheritGitHubToken": wish}, writablePaths=["out/"])
        for task, wish in wishes.items()
    ]
    children = [rule(task, look(task), {"say": "seen"}) for task in wishes]
    home.play(scenario(rule("go", look("root"), *asks, {"say": "asked"}), *children))
    (home.workspace() / "out").mkdir()
    (home.workspace() / "out").chmod(0o777)


def seen(home: HomeOnDisk, who: str) -> dict[str, Any] | None:
    """What it wrote down."""
    found: dict[str, Any] | None = json.loads((home.workspace() / "out" / f"{who}.json").read_text())
    return found


@pytest.mark.bubblewrap
async def test_the_token_is_handed_down_where_that_is_wished_and_lies_in_a_file(home: HomeOnDisk) -> None:
    await prepare(home, heir=True, other=False)
    SecretKeeper(home.path / "data" / "store" / "secrets", environment={}).set(NAME, TOKEN, in_file=True)

    async with home.running():
        home.ask("go")
        await ended(home, "heir", "other")
        await home.quiet()

    given = {"path": "/run/dovecote/token/github", "token": TOKEN, "mode": 0o400, "shown": False}
    assert (seen(home, "root"), seen(home, "heir"), seen(home, "other")) == (given, given, None)
    assert list((home.path / "data" / "run" / "tokens").iterdir()) == []


async def test_an_agent_without_a_token_cannot_hand_one_down(home: HomeOnDisk) -> None:
    await home.add_group()
    (home.workspace().parent / "AGENT.md").write_text("---\ntools: [chat, spawn]\n---\n")
    asks = spawn("heir", permissions={"inheritGitHubToken": True})
    home.play(scenario(rule("go", asks, {"say": "asked"})))

    async with home.running():
        home.ask("go")
        await home.said("asked")
        await home.quiet()

    [root] = home.rows("SELECT permissions FROM agents")
    assert json.loads(root["permissions"])["inherit_github_token"] is False
    assert agents_of(home) == []
