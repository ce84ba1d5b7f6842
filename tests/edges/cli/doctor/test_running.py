"""Faults of what runs or should: the orchestrator, the engine, the runner, the image, left containers."""

import asyncio
import contextlib
import io
import json
import os
import tarfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.api.operator_token import ensure_operator_token
from orchestrator.cli.container_checks import docker_findings
from orchestrator.cli.findings import Finding, Health
from orchestrator.cli.runner_checks import check_runner, judge_choice
from orchestrator.cli.running_checks import running_findings
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.version import VERSION
from orchestrator.runners.catalog import Chosen, RunnerOptions, make_runner
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.docker_leftovers import INSTANCE_LABEL
from orchestrator.runners.image import PROTOCOL_LABEL
from orchestrator.settings.tree import AgentSettings, Settings
from orchestrator.store import agents, facts
from orchestrator.store.instance_lock import InstanceLock
from tests.edges.api.conftest import served_at
from tests.edges.cli.doctor.conftest import SickHome, assert_names
from tests.support.store_rows import agent

NOWHERE = "unix:///nowhere/docker.sock"


@contextlib.asynccontextmanager
async def answering(home: SickHome, version: str) -> AsyncIterator[None]:
    """An orchestrator of that version, as far as its health goes."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = json.dumps({"status": "ok", "version": version}).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        writer.write(head.encode() + b"connection: close\r\n\r\n" + body)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    ensure_operator_token(home.paths.operator_token)
    server = await asyncio.start_unix_server(answer, home.paths.socket)
    async with server:
        yield


async def test_an_orchestrator_of_another_version_is_named_with_what_replaces_it(home: SickHome) -> None:
    with InstanceLock.acquire(home.paths.lock, pid=os.getpid()):
        async with answering(home, "0.0.1"):
            (found,) = await asyncio.to_thread(running_findings, home.patient(pid=os.getpid()))

    why = f"The orchestrator that runs is version 0.0.1; this command is {VERSION}"
    assert_names(found, Health.WARNING, why, f"kill {os.getpid()}")


async def test_a_part_that_is_started_again_and_again_is_named(home: SickHome) -> None:
    with InstanceLock.acquire(home.paths.lock, pid=os.getpid()):
        async with served_at(home.paths) as served:
            served.services.troubles["event feed"] = "no room"
            served.services.troubles["api port 8001"] = "taken"
            api, part = await asyncio.to_thread(running_findings, home.patient(pid=os.getpid()))

    assert_names(api, Health.OK, "0 agents live", "")
    assert part.what == "part event feed"
    assert_names(part, Health.WARNING, "no room", "data/logs")


def with_agents(**fields: object) -> Settings:
    return Settings(agent=AgentSettings.model_validate(fields))


def test_an_engine_that_is_down_is_a_failure_where_it_is_needed(home: SickHome) -> None:
    needed = home.patient(settings=with_agents(runner="docker", engine_url=NOWHERE))
    unneeded = home.patient(settings=with_agents(runner="auto", engine_url=NOWHERE))

    runner, (image,) = check_runner(needed), docker_findings(needed)

    assert_names(runner, Health.FAILURE, f"No Docker engine answers at {NOWHERE}", "agent.runner to auto")
    assert_names(image, Health.FAILURE, "No Docker engine answers", "systemctl start docker")
    assert [each.health for each in docker_findings(unneeded)] == [Health.OK]


def test_a_bwrap_that_is_not_there_is_a_failure(home: SickHome) -> None:
    settings = with_agents(runner="bubblewrap", bwrap=Path("/bin/false"))

    found = check_runner(home.patient(settings=settings))

    assert_names(found, Health.FAILURE, "'bubblewrap', which the settings name, can't start", "agent.runner")


async def test_a_runner_that_is_not_the_best_is_a_warning_only_where_a_setting_names_a_better_one() -> None:
    options = RunnerOptions(image=None, programs_directory=Path("/nowhere"))
    so = "No Docker engine answers at unix:///x: No such file."
    advice = "Start it (sudo systemctl start docker)."
    chosen = Chosen(
        runner=make_runner("bubblewrap", options),
        words="Agents run in sandboxes.",
        passed_over=(f"{so} {advice}",),
    )
    await chosen.runner.close()

    found = judge_choice(chosen, is_wanted=False)
    with_better_set = judge_choice(chosen, is_wanted=True)
    best = judge_choice(replace(chosen, passed_over=()), is_wanted=False)

    assert (found.health, with_better_set.health) == (Health.OK, Health.WARNING)
    assert found.why == with_better_set.why == f"Agents run in sandboxes. {so}"
    assert found.mend == f"For Docker containers instead: {advice}"
    assert with_better_set.mend == advice
    assert (best.health, best.why) == (Health.OK, "Agents run in sandboxes.")


def test_agents_without_walls_are_a_warning_where_models_may_run_so_and_else_what_was_chosen(
    home: SickHome,
) -> None:
    chosen = check_runner(home.patient(settings=with_agents(runner="process")))
    found = check_runner(home.patient(settings=with_agents(runner="process", allow_unisolated=True)))

    assert_names(found, Health.WARNING, "", "dovecote image build")
    assert (chosen.health, chosen.mend) == (Health.OK, None)
    assert chosen.why.endswith("So agent.runner wants it.")


async def test_of_agents_without_walls_each_reason_and_each_advice_stands_once(home: SickHome) -> None:
    options = RunnerOptions(image=None, programs_directory=Path("/nowhere"))
    docker, bwrap = "No Docker engine answers at unix:///x.", "There is no bwrap."
    chosen = Chosen(
        runner=make_runner("process", options),
        words="Agents run without walls.",
        passed_over=(f"{docker} Start it.", f"{bwrap} Install it.", f"{bwrap} Install it."),
    )
    await chosen.runner.close()

    found = judge_choice(chosen, is_wanted=False)

    assert found.why == f"Agents run without walls. {docker} {bwrap}"
    assert (found.health, found.mend) == (Health.WARNING, "Start it. Install it.")


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine()
    yield made
    made.close()


@contextlib.contextmanager
def image_with(engine: Engine, name: str, *labels: str) -> Iterator[None]:
    """An image in which nothing is, with these labels."""
    nothing = io.BytesIO()
    tarfile.open(fileobj=nothing, mode="w").close()
    changes = [f"LABEL {each}" for each in labels]
    repository, _, tag = name.partition(":")
    engine.run(
        lambda client: client.api.import_image_from_data(
            nothing.getvalue(), repository=repository, tag=tag, changes=changes
        )
    )
    try:
        yield
    finally:
        engine.run(lambda client: client.api.remove_image(name))


def named(findings: list[Finding], what: str) -> Finding:
    """The one of this name."""
    (found,) = [each for each in findings if each.what == what]
    return found


@pytest.mark.docker
def test_an_image_that_is_missing_or_of_other_words_is_named_with_what_builds_it(
    home: SickHome, engine: Engine, tmp_path: Path
) -> None:
    name = f"dovecote-doctor:{tmp_path.name.replace('_', '-')}-{os.getpid()}"
    docker = home.patient(settings=with_agents(runner="docker", image=name))
    auto = home.patient(settings=with_agents(runner="auto", image=name))

    missing = named(docker_findings(docker), "image")
    with image_with(engine, name, f"{PROTOCOL_LABEL}=0"):
        old, unneeded = named(docker_findings(docker), "image"), named(docker_findings(auto), "image")

    assert_names(missing, Health.FAILURE, "It is not there", "dovecote image build")
    assert_names(old, Health.FAILURE, "built by another version", "dovecote image build")
    assert unneeded.health is Health.WARNING


@pytest.mark.docker
def test_a_container_that_belongs_to_no_agent_is_named_with_what_removes_it(
    home: SickHome, engine: Engine, tmp_path: Path
) -> None:
    place = facts.HomePlace.of(home.paths.home)
    home.fill(lambda tx: agents.add(tx, agent("agent-ours", status=AgentStatus.RUNNING)))
    instances: list[str] = []
    home.fill(lambda tx: instances.append(facts.instance_id(tx, place)))
    name = f"dovecote-doctor:{tmp_path.name.replace('_', '-')}-{os.getpid()}"
    stray = AgentId(f"agent-doctor-{os.getpid()}")
    patient = home.patient(settings=with_agents(runner="auto", image=name))

    with image_with(engine, name):
        made = engine.run(
            lambda client: client.api.create_container(
                name, "nothing", name=stray, labels={INSTANCE_LABEL: instances[0]}
            )
        )
        try:
            found = named(docker_findings(patient), "containers")
        finally:
            engine.run(lambda client: client.api.remove_container(made["Id"], force=True))
    gone = named(docker_findings(patient), "containers")

    assert_names(found, Health.WARNING, f"such as {stray}", f"docker rm -f {stray}")
    assert gone.health is Health.OK
