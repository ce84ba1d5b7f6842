"""FP1, FP12: a program in a sandbox asks for a helper over HTTP, by the token that it finds in a file."""

import json
import stat

import pytest

from tests.support.home_on_disk import HomeOnDisk
from tests.support.spawned import agents_of, rule, scenario

INSIDE = """
import json, os, stat, urllib.request
path = os.environ["PINOCCHIO_SESSION_TOKEN_FILE"]
token = open(path).read()
def ask(bearer):
    body = json.dumps({"task": "say hello", "timeout_ms": 60000}).encode()
    url = os.environ["PINOCCHIO_API_URL"] + "/api/v1/spawn"
    request = urllib.request.Request(url, data=body, headers={"Authorization": "Bearer " + bearer})
    try:
        with urllib.request.urlopen(request) as answer:
            return [answer.status, json.load(answer)]
    except urllib.error.HTTPError as error:
        return [error.code, json.load(error)]
def may_write(name):
    try:
        open(name, "w").close()
    except OSError:
        return False
    return True
told = {
    "mode": stat.S_IMODE(os.stat(path).st_mode),
    "shown": any(token in value for value in os.environ.values()),
    "writes": may_write(path) or may_write(os.path.dirname(path) + "/other"),
    "good": ask(token),
    "bad": ask(token[:-1] + ("0" if token[-1] != "0" else "1")),
}
with open("/workspace/group/told.new", "w") as file:
    json.dump(told, file)
os.rename("/workspace/group/told.new", "/workspace/group/told.json")
"""
ASKS_FOR = """
import json, os, sys, urllib.request
token = open(os.environ["PINOCCHIO_SESSION_TOKEN_FILE"]).read()
body = json.dumps({"task": sys.argv[1], "timeout_ms": 60000}).encode()
url = os.environ["PINOCCHIO_API_URL"] + "/api/v1/spawn"
urllib.request.urlopen(urllib.request.Request(url, data=body, headers={"Authorization": "Bearer " + token}))
"""
walled = pytest.mark.parametrize(
    "kind",
    [
        pytest.param("docker", marks=pytest.mark.docker),
        pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    ],
)


async def _give_a_program(home: HomeOnDisk, request: pytest.FixtureRequest, kind: str, text: str) -> None:
    """A group whose agents may spawn, and `ask.py` in its workspace."""
    if kind == "docker":
        request.getfixturevalue("docker_engine")
    home.set(agent__runner=kind, shutdown_grace_s=0)
    await home.add_group()
    (home.workspace().parent / "AGENT.md").write_text("---\ntools: [chat, spawn]\n---\n")
    (home.workspace() / "ask.py").write_text(text)
    (home.workspace() / "ask.py").chmod(0o644)


@walled
async def test_fp1_a_program_inside_a_helper_asks_for_a_helper_of_its_own(
    home: HomeOnDisk, request: pytest.FixtureRequest, kind: str
) -> None:
    await _give_a_program(home, request, kind, ASKS_FOR)

    def asks_for(task: str) -> dict[str, object]:
        return {"run": ["python3", "/workspace/group/ask.py", task]}

    home.play(
        scenario(
            rule("ask around", asks_for("pass it on"), {"say": "asked"}),
            rule("pass it on", asks_for("say hello"), {"say": "passed on"}),
            rule("say hello", {"say": "hello"}),
        )
    )

    async with home.running():
        home.ask("ask around")
        await home.said("asked")
        await home.quiet()

    helper, helpers_own = agents_of(home)
    assert (helper["task"], helper["depth"], helper["output"]) == ("pass it on", 1, "passed on")
    assert (helpers_own["task"], helpers_own["depth"], helpers_own["output"]) == ("say hello", 2, "hello")
    assert helpers_own["parent_agent_id"] == helper["agent_id"]


@walled
async def test_a_program_inside_asks_for_a_helper_and_gets_what_came_of_it(
    home: HomeOnDisk, request: pytest.FixtureRequest, kind: str
) -> None:
    await _give_a_program(home, request, kind, INSIDE)
    asks = {"run": ["python3", "/workspace/group/ask.py"]}
    home.play(scenario(rule("ask around", asks, {"say": "asked"}), rule("say hello", {"say": "hello"})))

    async with home.running():
        home.ask("ask around")
        await home.said("asked")
        tokens = home.path / "data" / "run" / "tokens"
        modes = [stat.S_IMODE(each.stat().st_mode) for each in tokens.glob("*/session")]
        await home.quiet()

    told = json.loads((home.workspace() / "told.json").read_text())
    assert (told["mode"], told["shown"], told["writes"]) == (0o400, False, False)
    assert set(modes) == {0o400}
    status, good = told["good"]
    assert (status, good["status"], good["output"], good["exit_code"]) == (200, "completed", "hello", 0)
    assert good["quota_info"] == {"tree_agents_remaining": 8, "depth_remaining": 1}
    assert told["bad"][0] == 401
    assert told["bad"][1].keys() == {"error", "code"}
    assert told["bad"][1]["code"] == "TOKEN_INVALID"
    (child,) = agents_of(home)
    assert (child["agent_id"], child["depth"]) == (good["agent_id"], 1)
    assert list((home.path / "data" / "run" / "tokens").iterdir()) == []
