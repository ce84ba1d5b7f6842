"""What only Docker has: an engine that may be away or die, and images that may be old or foreign."""

import asyncio
import gc
import io
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import docker
import docker.errors
import pytest

from orchestrator.contracts.errors import StartFailed, Unavailable
from orchestrator.contracts.ids import new_id
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.docker_leftovers import INSTANCE_LABEL
from orchestrator.runners.docker_runner import DockerRunner, security_options
from orchestrator.runners.image import (
    PROTOCOL_LABEL,
    WIRE_LABEL,
    ImageState,
    Stamps,
    build_image,
    image_state,
    own_stamps,
    state_by_labels,
)
from tests.agreement.runners.conftest import lacking
from tests.agreement.runners.leaver import AGENT
from tests.agreement.runners.stage import BASE_IMAGE, Stage, collect, read_line, run
from tests.edges.runners import relay as relay_program
from tests.support.agent_image import IMAGE

SOCKET = "/var/run/docker.sock"
OWN = Stamps(wire="w1", programs="p1")


@pytest.fixture
def engine(agent_image: str | None) -> Iterator[Engine]:
    """The engine of this machine, with the agent image in it."""
    if agent_image is not None:
        lacking(agent_image)
    made = Engine()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("engine_info", "machine", "has_profile"),
    [
        pytest.param({"SecurityOptions": ["name=seccomp,profile=default"]}, "x86_64", True, id="usual"),
        pytest.param({"SecurityOptions": ["name=apparmor"]}, "x86_64", False, id="engine without seccomp"),
        pytest.param({"SecurityOptions": None}, "x86_64", False, id="engine without anything"),
        pytest.param({"SecurityOptions": ["name=seccomp"]}, "riscv64", False, id="machine without rules"),
    ],
)
def test_an_engine_gets_our_rules_for_system_calls_if_it_can_keep_them(
    engine_info: dict[str, object], machine: str, has_profile: bool
) -> None:
    options = security_options(engine_info, machine=machine)

    assert options[0] == "no-new-privileges:true"
    assert [option.split("=")[0] for option in options[1:]] == (["seccomp"] if has_profile else [])


@pytest.fixture
async def runner(engine: Engine) -> AsyncIterator[DockerRunner]:
    """One that works here."""
    made = DockerRunner(image=IMAGE)
    yield made
    await made.close()


def derived(engine: Engine, lines: str) -> str:
    """The name of a small image made from these lines of a Dockerfile."""
    name = f"dovecote-test:{new_id('image')}"
    engine.run(
        lambda client: client.images.build(
            fileobj=io.BytesIO(lines.encode()), tag=name, rm=True, network_mode="none"
        )
    )
    return name


def forget(engine: Engine, name: str) -> None:
    engine.run(lambda client: client.images.remove(name, force=True))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, ImageState.LEGACY),
        ({"dovecote.protocol": "1", "dovecote.wire": "w1", "dovecote.programs": "p1"}, ImageState.OK),
        ({"dovecote.protocol": "1", "dovecote.wire": "w1", "dovecote.programs": "p0"}, ImageState.STALE),
        ({"dovecote.protocol": "1", "dovecote.wire": "w0", "dovecote.programs": "p1"}, ImageState.OLD),
        ({"dovecote.protocol": "2", "dovecote.wire": "w1", "dovecote.programs": "p1"}, ImageState.OLD),
        ({"dovecote.protocol": "1"}, ImageState.OLD),
    ],
    ids=["foreign", "ours", "other programs", "other words", "another protocol", "no stamp"],
)
def test_an_image_is_known_by_its_labels(labels: dict[str, str], expected: ImageState) -> None:
    assert state_by_labels(labels, OWN) is expected


async def test_without_an_engine_the_reason_names_its_socket(tmp_path: Path, stage: Stage) -> None:
    socket = f"unix://{tmp_path}/none.sock"
    runner = DockerRunner(image=IMAGE, engine_url=socket)

    reason = await runner.why_not()
    with pytest.raises(Unavailable, match="No Docker engine answers"):
        await runner.start(stage.plan("pass"))
    left = await runner.stop_leftovers("home-1", [(stage.plan("pass").agent_id, None)])
    await runner.close()

    assert reason is not None
    assert socket in reason
    assert len(left) == 1


@pytest.mark.docker
async def test_a_missing_image_is_named_with_the_command_that_builds_it(engine: Engine, stage: Stage) -> None:
    runner = DockerRunner(image="dovecote-test:nowhere")

    reason = await runner.why_not()
    with pytest.raises(StartFailed, match="dovecote-test:nowhere"):
        await runner.start(stage.plan("pass"))
    await runner.close()

    assert reason is not None
    assert "dovecote image build" in reason


@pytest.mark.docker
async def test_an_image_with_other_words_is_refused_before_it_starts(engine: Engine, stage: Stage) -> None:
    old = derived(engine, f"FROM {IMAGE}\nLABEL {WIRE_LABEL}=of-yesterday\n")
    runner = DockerRunner(image=old)

    try:
        with pytest.raises(StartFailed) as refused:
            await runner.start(stage.plan("pass"))
    finally:
        await runner.close()
        forget(engine, old)

    assert "dovecote image build" in str(refused.value)


@pytest.mark.docker
async def test_a_foreign_image_is_legacy_and_starts_by_its_own_entry_point(
    engine: Engine, runner: DockerRunner, stage: Stage
) -> None:
    foreign = derived(engine, f'FROM {BASE_IMAGE}\nENTRYPOINT ["python3", "-c", "print(input())"]\n')
    plan = stage.plan("", image=foreign, command=("python3", "-s", "-P", "-m", "container.agent_runner"))
    handle = await runner.start(plan)

    try:
        await handle.write_input(b"what came in\n")
        said = await collect(handle.output())
        is_legacy = handle.is_legacy
    finally:
        await handle.close()
        forget(engine, foreign)

    assert is_legacy
    assert said == b"what came in\n"


@pytest.mark.docker
async def test_a_container_says_whose_it_is(engine: Engine, runner: DockerRunner, stage: Stage) -> None:
    plan = stage.plan(AGENT)
    handle = await runner.start(plan)

    attrs = engine.run(lambda client: client.api.inspect_container(handle.process_ref))
    await handle.close()

    labels = attrs["Config"]["Labels"]
    assert attrs["Name"] == f"/{plan.agent_id}"
    assert labels["dovecote.instance"] == stage.instance_id
    assert labels["dovecote.group"] == "kitchen"
    assert labels["dovecote.agent"] == plan.agent_id
    assert "dovecote.deadline" in labels


@pytest.mark.docker
async def test_closing_removes_the_container(engine: Engine, runner: DockerRunner, stage: Stage) -> None:
    handle = await runner.start(stage.plan(AGENT))

    await handle.close()

    with pytest.raises(docker.errors.NotFound):
        engine.run(lambda client: client.api.inspect_container(handle.process_ref))


@pytest.mark.docker
@pytest.mark.parametrize("after_s", [0.0, 0.01, 0.05, 0.12, 0.25])
async def test_a_start_cancelled_at_any_moment_leaves_no_container(
    engine: Engine, stage: Stage, after_s: float
) -> None:
    doomed = DockerRunner(image=IMAGE)
    await doomed.why_not()

    try:
        async with asyncio.timeout(after_s):
            handle = await doomed.start(stage.plan(AGENT))
        await handle.close()
    except TimeoutError:
        pass
    await doomed.close()
    wanted = {"label": f"{INSTANCE_LABEL}={stage.instance_id}"}
    left = engine.run(lambda client: client.api.containers(all=True, filters=wanted))

    assert left == []


@pytest.mark.docker
async def test_an_engine_that_dies_while_an_agent_runs_ends_its_output_and_says_so(
    engine: Engine, runner: DockerRunner, tmp_path: Path, stage: Stage
) -> None:
    async with engine_that_can_die(tmp_path / "engine.sock") as die:
        doomed = DockerRunner(image=IMAGE, engine_url=f"unix://{tmp_path}/engine.sock")
        handle = await doomed.start(stage.plan(AGENT))
        try:
            await handle.write_input(b"{}\n")
            output = handle.output()
            await read_line(output)

            die()
            async with asyncio.timeout(50):
                rest = await collect(output)
                with pytest.raises(Unavailable):
                    await handle.wait()
            is_gone = await handle.is_gone()
        finally:
            await handle.close()
            await doomed.close()
            unverified = await runner.stop_leftovers(stage.instance_id, [])

    assert rest == b""
    assert not is_gone
    assert unverified == []


@pytest.mark.docker
async def test_the_image_needs_no_network_to_build_and_says_each_step(engine: Engine) -> None:
    name = f"dovecote-test:{new_id('image')}"
    steps: list[str] = []

    build_image(engine, name=name, base=BASE_IMAGE, progress=steps.append)
    state = engine.run(lambda client: image_state(client, name, own_stamps()))
    labels = engine.run(lambda client: client.images.get(name).labels)
    forget(engine, name)

    assert state is ImageState.OK
    assert labels[PROTOCOL_LABEL] == "1"
    assert any(step.startswith("Step 1/") for step in steps)


@pytest.mark.docker
def test_a_base_that_can_not_be_had_is_told_with_what_to_do(engine: Engine) -> None:
    with pytest.raises(Unavailable, match="no-such-base") as refused:
        build_image(
            engine, name="dovecote-test:never", base="localhost:1/no-such-base", progress=lambda _: None
        )

    assert "--base" in str(refused.value)


@pytest.mark.docker
async def test_a_deadline_and_a_user_reach_the_engine(
    engine: Engine, runner: DockerRunner, stage: Stage
) -> None:
    ran = await run(runner, stage.plan("import os; print(os.getuid(), os.getgid(), os.getgroups())"))

    uid, gid, *_ = ran.output.decode().split()
    assert uid == gid
    assert uid != "0"


@asynccontextmanager
async def engine_that_can_die(path: Path) -> AsyncIterator[Callable[[], None]]:
    """The real engine behind a socket of ours; calling what is given ends all connections to it."""
    relay = await asyncio.create_subprocess_exec(
        *(sys.executable, relay_program.__file__, str(path), SOCKET), stdout=asyncio.subprocess.PIPE
    )
    assert relay.stdout is not None
    await relay.stdout.readline()
    try:
        yield relay.kill
    finally:
        if relay.returncode is None:
            relay.kill()
        await relay.wait()
        # The docker package leaves the socket of a connection that broke off to the collector.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
