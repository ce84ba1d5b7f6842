"""Where a spawned agent may work: paths are looked up first and judged then. Source: agents.md section 2."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import AgentId
from orchestrator.store import agents
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    return await open_bench(desk)


@pytest.fixture
def workspace(bench: SpawnBench) -> Path:
    """The family's, with some files."""
    top = bench.desk.services.paths.groups / "family" / "workspace"
    (top / "src" / "auth").mkdir(parents=True)
    (top / "src" / "auth" / "login.py").write_text("x")
    (top / "docs").mkdir()
    return top


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory of the machine beside the home, with a file."""
    place = tmp_path.parent / f"{tmp_path.name}-outside"
    (place / "project" / "inner").mkdir(parents=True)
    (place / "secret").write_text("s")
    return place


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/auth/", "src/auth/"),
        ("src/auth", "src/auth/"),
        ("src/auth/login.py", "src/auth/login.py"),
        ("new.txt", "new.txt"),
        ("new/deep/", "new/deep/"),
        ("/workspace/group/docs", "docs/"),
    ],
    ids=["directory", "directory by its look", "file", "file to come", "directory to come", "as seen inside"],
)
async def test_a_writable_path_is_kept_as_it_lies_in_the_workspace(
    bench: SpawnBench, workspace: Path, path: str, expected: str
) -> None:
    record = await bench.record(await bench.spawn(writable_paths=(path,)))

    assert record.writable_paths == (expected,)
    assert not (workspace / "new").exists()


async def test_a_link_that_stays_inside_is_kept_as_what_it_leads_to(
    bench: SpawnBench, workspace: Path
) -> None:
    (workspace / "here").symlink_to("src/auth")
    (workspace / "there").symlink_to(workspace / "docs")

    record = await bench.record(await bench.spawn(writable_paths=("here/login.py", "there")))

    assert record.writable_paths == ("src/auth/login.py", "docs/")


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("{outside}", "link"),
        ("{outside}", "link/project"),
        ("{outside}/secret", "link"),
        ("../../main/workspace", "link"),
        ("/", "link/etc"),
        (".", "link"),
        ("nothing", "link"),
        ("link", "link"),
        ("{outside}/nothing", "link"),
    ],
    ids=["out", "through", "file", "other group", "root", "all", "broken", "itself", "broken out"],
)
async def test_attack_a_link_out_of_the_workspace_is_refused(
    bench: SpawnBench, workspace: Path, outside: Path, target: str, path: str
) -> None:
    """FP20: links are resolved, then judged; broken ones are refused."""
    (workspace / "link").symlink_to(target.format(outside=outside))

    assert await bench.code(bench.spawn(writable_paths=(path,))) == "INVALID_WORKSPACE"


async def test_attack_a_link_put_in_place_of_a_directory_later_is_refused_then(
    bench: SpawnBench, workspace: Path, outside: Path
) -> None:
    """FP20: nothing that was found once is believed the next time."""
    assert await bench.code(bench.spawn(writable_paths=("docs/",))) == "done"
    (workspace / "docs").rmdir()
    (workspace / "docs").symlink_to(outside)

    assert await bench.code(bench.spawn(writable_paths=("docs/",))) == "INVALID_WORKSPACE"


async def test_attack_a_workspace_behind_a_link_is_refused(
    bench: SpawnBench, workspace: Path, outside: Path
) -> None:
    (workspace / "link").symlink_to(outside)

    for path in ("/workspace/group/link", "/workspace/group/link/project"):
        assert await bench.code(bench.spawn(workspace_path=path)) == "INVALID_WORKSPACE"


async def test_a_part_of_the_parents_workspace_can_be_the_childs(bench: SpawnBench, workspace: Path) -> None:
    record = await bench.record(
        await bench.spawn(workspace_path="/workspace/group/src", writable_paths=("auth/",))
    )

    assert (record.workspace, record.writable_paths) == (str(workspace / "src"), ("auth/",))


async def test_a_child_lets_nobody_write_what_it_may_not_write_itself(
    bench: SpawnBench, workspace: Path
) -> None:
    child = await bench.started(writable_paths=("src/",))

    async def code(**fields: Any) -> str:
        return await bench.code(bench.ask(by=child, **fields))

    assert await code(writable_paths=("src/auth/",)) == "done"
    assert await code(workspace_path="/workspace/group/src", writable_paths=("auth/",)) == "done"
    assert await code(writable_paths=("docs/",)) == "WORKSPACE_NOT_ALLOWED"
    assert (
        await code(workspace_path="/workspace/group/docs", writable_paths=("a",)) == "WORKSPACE_NOT_ALLOWED"
    )


async def test_a_directory_of_the_host_needs_the_allowlist(bench: SpawnBench, outside: Path) -> None:
    project = outside / "project"

    refused = await bench.code(bench.ask_as_operator(workspace_path=str(project)))
    bench.set(roots=(str(project),))
    allowed = await bench.code(
        bench.ask_as_operator(workspace_path=str(project / "inner"), writable_paths=("out/",))
    )

    assert (refused, allowed) == ("WORKSPACE_NOT_ALLOWED", "done")
    assert await bench.code(bench.ask_as_operator(workspace_path=str(outside))) == "WORKSPACE_NOT_ALLOWED"


async def test_attack_a_link_below_an_allowed_directory_leads_nowhere_else(
    bench: SpawnBench, outside: Path
) -> None:
    (outside / "elsewhere").mkdir()
    (outside / "project" / "link").symlink_to(outside / "elsewhere")
    bench.set(roots=(str(outside / "project"),))

    code = await bench.code(bench.ask_as_operator(workspace_path=str(outside / "project" / "link")))

    assert code == "WORKSPACE_NOT_ALLOWED"


async def test_attack_an_agent_cannot_find_out_what_lies_on_the_host(
    bench: SpawnBench, outside: Path
) -> None:
    messages = []
    for path in (outside / "project", outside / "secret", outside / "nothing"):
        with pytest.raises(DovecoteError) as caught:
            await bench.spawn(workspace_path=str(path))
        messages.append((caught.value.code, caught.value.message.replace(str(path), "X")))

    assert len(set(messages)) == 1
    assert messages[0][0] == "WORKSPACE_NOT_ALLOWED"


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("/srv/a b", "Let an operator allow it: dovecote workspace approve '/srv/a b'"),
        ("/etc", "Choose another directory: this one is a whole part of the system"),
        ("/srv/../usr", "Choose another directory: this one is a whole part of the system"),
        ("/srv/x/.ssh", "Choose another directory: this one has .ssh in its path"),
    ],
)
async def test_what_no_operator_can_allow_is_not_advised(bench: SpawnBench, path: str, advice: str) -> None:
    with pytest.raises(DovecoteError) as caught:
        await bench.spawn(workspace_path=path)

    assert (caught.value.suggestion or "").startswith(advice)


async def test_attack_a_refused_directory_does_not_tell_where_the_homes_are(bench: SpawnBench) -> None:
    home = bench.desk.services.paths.home
    told = []
    for path in (home, home.parent / "no-home"):
        with pytest.raises(DovecoteError) as caught:
            await bench.spawn(workspace_path=str(path))
        told.append(str(caught.value).replace(str(path), "X"))

    assert told[0] == told[1]


async def test_dovecotes_own_home_is_given_to_nobody_whatever_is_allowed(bench: SpawnBench) -> None:
    home = bench.desk.services.paths.home
    bench.set(roots=(str(home.parent),))

    for path in (home, home / "data" / "store", home.parent):
        code = await bench.code(bench.ask_as_operator(workspace_path=str(path)))
        assert code == "WORKSPACE_NOT_ALLOWED"


@pytest.mark.parametrize("has_begun", [False, True])
async def test_a_child_is_admitted_before_its_parent_has_begun_and_has_a_workspace(
    bench: SpawnBench, has_begun: bool
) -> None:
    answer = await bench.ask_as_operator("the parent")
    parent, at = AgentId(str(answer["agentId"])), bench.desk.now
    if has_begun:
        await bench.desk.run(lambda tx: agents.claim(tx, parent, runner="process", provider="script", at=at))

    child = await bench.ask_as_operator("the child", parent=parent, writable_paths=("notes/",))

    record = await bench.record(AgentId(str(child["agentId"])))
    own = (await bench.record(parent)).workspace
    assert (record.workspace, record.writable_paths) == (own, ("notes/",))


async def test_a_refused_child_brings_back_no_workspace_of_a_parent_that_has_ended(bench: SpawnBench) -> None:
    answer = await bench.ask_as_operator("the parent")
    parent = await bench.run_it(AgentId(str(answer["agentId"])))
    await bench.end(parent.agent_id)
    own = Path((await bench.record(parent.agent_id)).workspace)
    await asyncio.to_thread(own.rmdir)

    assert await bench.code(bench.ask_as_operator(parent=parent.agent_id)) == "PARENT_NOT_RUNNING"
    assert not await asyncio.to_thread(own.exists)
