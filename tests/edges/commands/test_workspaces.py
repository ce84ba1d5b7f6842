"""Which directories agents may be given: proposed, allowed, refused. Source: agents.md section 2."""

import asyncio
import os
from pathlib import Path

import pytest

from orchestrator.commands.spawning.workspaces import (
    approve_workspace,
    list_workspaces,
    propose_workspace,
    reject_workspace,
    remove_workspace,
)
from orchestrator.contracts.callers import KeyCaller, OperatorCaller
from orchestrator.contracts.records.tokens import Scope
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench
from tests.support.store_rows import OTHER_CHAT

OPERATOR = OperatorCaller()
PROGRAM = KeyCaller(name="builds", scopes=frozenset({Scope.SPAWN}))


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    return await open_bench(desk)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path.parent / f"{tmp_path.name}-project"
    place.mkdir()
    return place


async def listed(bench: SpawnBench) -> list[tuple[object, object]]:
    return [(each["path"], each["status"]) for each in await list_workspaces(bench.desk.services)]


async def can_be_given(bench: SpawnBench, path: Path) -> bool:
    return await bench.code(bench.ask_as_operator(workspace_path=str(path))) == "done"


async def test_a_directory_is_given_once_an_operator_allowed_it(bench: SpawnBench, project: Path) -> None:
    services = bench.desk.services
    await propose_workspace(services, PROGRAM, str(project))
    before = await can_be_given(bench, project)

    await approve_workspace(services, OPERATOR, str(project))

    assert (before, await can_be_given(bench, project)) == (False, True)
    assert await listed(bench) == [(str(project), "approved")]


async def test_operators_are_asked_once(bench: SpawnBench, project: Path) -> None:
    for _ in range(2):
        await propose_workspace(bench.desk.services, PROGRAM, str(project))

    [said] = await bench.desk.texts(OTHER_CHAT)
    assert str(project) in said
    assert "builds" in said
    assert await listed(bench) == [(str(project), "proposed")]


@pytest.mark.parametrize("take", [reject_workspace, remove_workspace])
async def test_what_is_taken_back_is_given_to_nobody_any_more(bench: SpawnBench, project: Path, take) -> None:  # type: ignore[no-untyped-def]  # either command
    await approve_workspace(bench.desk.services, OPERATOR, str(project))

    await take(bench.desk.services, OPERATOR, str(project))

    assert not await can_be_given(bench, project)


async def test_what_was_rejected_may_be_proposed_and_allowed_again(bench: SpawnBench, project: Path) -> None:
    services = bench.desk.services
    await propose_workspace(services, PROGRAM, str(project))
    await reject_workspace(services, OPERATOR, str(project))

    again = await propose_workspace(services, PROGRAM, str(project))
    await approve_workspace(services, OPERATOR, str(project))

    assert again["status"] == "proposed"
    assert await can_be_given(bench, project)


async def test_those_of_the_settings_are_listed_and_changed_only_there(
    bench: SpawnBench, project: Path
) -> None:
    bench.set(roots=(str(project),))
    services = bench.desk.services

    assert await listed(bench) == [(str(project), "approved")]
    for change in (reject_workspace, remove_workspace):
        code = await bench.code(change(services, OPERATOR, str(project)))
        assert code == "INVALID_REQUEST"


async def test_the_settings_allow_no_whole_part_of_the_system_either(
    bench: SpawnBench, project: Path
) -> None:
    bench.set(roots=("/usr", str(project)))

    assert await listed(bench) == [(str(project), "approved")]
    assert not await can_be_given(bench, Path("/usr/share"))
    assert not await can_be_given(bench, Path("/usr/share/doc"))


async def test_a_link_is_allowed_as_what_it_leads_to(bench: SpawnBench, project: Path) -> None:
    link = project.parent / f"{project.name}-link"
    link.symlink_to(project)

    allowed = await approve_workspace(bench.desk.services, OPERATOR, str(link))

    assert allowed["path"] == str(project)


@pytest.mark.parametrize("path", ["project", "", "/nothing/there", "/a\nb"])
async def test_what_is_no_directory_cannot_be_proposed(bench: SpawnBench, path: str) -> None:
    code = await bench.code(propose_workspace(bench.desk.services, PROGRAM, path))

    assert code == "INVALID_WORKSPACE"


async def test_what_no_agent_ever_gets_cannot_be_allowed_either(bench: SpawnBench) -> None:
    services = bench.desk.services
    home = await asyncio.to_thread(os.path.expanduser, "~")
    for path in ("/", str(services.paths.home), "/proc", "/etc", "/usr", "/var", "/home", "/root", home):
        code = await bench.code(approve_workspace(services, OPERATOR, path))
        assert code == "WORKSPACE_NOT_ALLOWED"


async def test_of_a_place_of_the_system_the_operator_is_told_what_that_means(
    bench: SpawnBench, project: Path
) -> None:
    services = bench.desk.services

    of_system = await approve_workspace(services, OPERATOR, "/usr/share/doc")
    of_ours = await approve_workspace(services, OPERATOR, str(project))

    assert "belongs to the system" in str(of_system["warning"])
    assert "warning" not in of_ours


@pytest.mark.parametrize("who", ["agent", "program"])
async def test_an_agent_or_a_program_may_propose_and_not_decide(
    bench: SpawnBench, project: Path, who: str
) -> None:
    services = bench.desk.services
    caller = bench.caller if who == "agent" else PROGRAM

    assert await bench.code(propose_workspace(services, caller, str(project))) == "done"
    for decide in (approve_workspace, reject_workspace, remove_workspace):
        code = await bench.code(decide(services, caller, str(project)))
        assert code == "FORBIDDEN"


async def test_twenty_wishes_are_the_most_that_wait(bench: SpawnBench, project: Path) -> None:
    places = [project / f"p{number}" for number in range(21)]
    for place in places:
        place.mkdir()
    services = bench.desk.services
    for place in places[:20]:
        await propose_workspace(services, PROGRAM, str(place))

    assert await bench.code(propose_workspace(services, PROGRAM, str(places[20]))) == "LIMIT_EXCEEDED"
    assert await bench.code(propose_workspace(services, PROGRAM, str(places[0]))) == "done"
