"""Which runner a machine uses, and the one line that says so."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.contracts.errors import InvalidSettings, Unavailable
from orchestrator.runners.catalog import RUNNERS, Chosen, RunnerOptions, choose_runner, make_runner
from tests.agreement.runners.conftest import lacking
from tests.support.agent_image import IMAGE


@pytest.fixture
def nothing_there(programs: Path, tmp_path: Path) -> RunnerOptions:
    """A machine with no engine and a bwrap that does not work."""
    return RunnerOptions(
        image=IMAGE,
        programs_directory=programs,
        engine_url=f"unix://{tmp_path}/none.sock",
        bwrap=Path("/bin/false"),
    )


async def test_with_nothing_there_agents_have_no_walls_and_it_says_why(nothing_there: RunnerOptions) -> None:
    chosen = await choose_runner("auto", nothing_there)
    await chosen.runner.close()

    assert chosen.runner.name == "process"
    assert chosen.line == (
        "Agents run without walls: only those that run no commands of a model may. "
        f"No Docker engine answers at {nothing_there.engine_url}. "
        "The setting agent.bwrap does not fit (see dovecote doctor)."
    )
    assert "systemctl start docker" in chosen.in_full
    assert "/bin/false" in chosen.in_full
    assert "\n" not in chosen.in_full


@pytest.mark.bubblewrap
async def test_without_an_engine_agents_run_in_sandboxes(nothing_there: RunnerOptions) -> None:
    chosen = await choose_runner("auto", replace(nothing_there, bwrap=None))
    await chosen.runner.close()
    if chosen.runner.name == "process":
        lacking(chosen.in_full)

    assert chosen.runner.name == "bubblewrap"
    assert chosen.line.startswith("Agents run in bubblewrap sandboxes (")
    assert chosen.line.endswith(
        f"). No Docker engine answers at {nothing_there.engine_url} (see dovecote doctor)."
    )
    assert "No such file or directory. Start it" in chosen.in_full


async def test_of_an_image_that_is_not_there_the_line_says_no_more_than_that(
    nothing_there: RunnerOptions,
) -> None:
    missing = "The image dovecote-agent:0.1.0-a4b25a3877e1a28a is not there. Run: dovecote image build"
    chosen = Chosen(
        runner=make_runner("process", nothing_there), words="Agents run somehow.", passed_over=(missing,)
    )
    await chosen.runner.close()

    assert chosen.line == (
        "Agents run somehow. The image dovecote-agent:0.1.0-a4b25a3877e1a28a is not there "
        "(see dovecote doctor)."
    )
    assert chosen.in_full == f"Agents run somehow. {missing}"


@pytest.mark.docker
async def test_with_an_engine_and_an_image_agents_run_in_containers(
    nothing_there: RunnerOptions, agent_image: str | None
) -> None:
    if agent_image is not None:
        lacking(agent_image)

    chosen = await choose_runner("auto", replace(nothing_there, engine_url=None, image=None))
    await chosen.runner.close()

    assert chosen.runner.name == "docker"
    assert chosen.line.startswith("Agents run in Docker containers (engine ")
    assert IMAGE in chosen.line


@pytest.mark.parametrize("name", ["docker", "bubblewrap"])
async def test_a_wanted_runner_that_does_not_work_is_an_error(
    nothing_there: RunnerOptions, name: str
) -> None:
    with pytest.raises(Unavailable, match=name):
        await choose_runner(name, nothing_there)


def test_an_unknown_runner_is_refused_with_the_known_ones(nothing_there: RunnerOptions) -> None:
    with pytest.raises(InvalidSettings, match="podman") as refused:
        make_runner("podman", nothing_there)

    assert refused.value.suggestion is not None
    assert all(name in refused.value.suggestion for name in RUNNERS)


@pytest.mark.bubblewrap
async def test_a_wrong_bwrap_in_the_settings_costs_no_walls_where_another_one_works(
    nothing_there: RunnerOptions, tmp_path: Path
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no such thing >&2\nexit 3\n")
    broken.chmod(0o755)

    chosen = await choose_runner("auto", replace(nothing_there, bwrap=broken))
    await chosen.runner.close()
    if chosen.runner.name == "process":
        lacking(chosen.in_full)

    assert chosen.runner.name == "bubblewrap"
    assert chosen.line.endswith("The setting agent.bwrap does not fit (see dovecote doctor).")
    assert f"agent.bwrap does not fit: bwrap does not work: {broken}" in chosen.in_full
    assert "it ended with 3 and said: no such thing" in chosen.in_full


@pytest.mark.parametrize(
    ("mode", "wanted"), [(None, "there is no such file"), (0o644, "this user may not execute it")]
)
async def test_a_bwrap_that_cannot_be_started_is_named_with_the_reason(
    nothing_there: RunnerOptions, tmp_path: Path, mode: int | None, wanted: str
) -> None:
    program = tmp_path / "bwrap"
    if mode is not None:
        program.touch(mode)

    with pytest.raises(Unavailable, match=f"{program}: {wanted}"):
        await choose_runner("bubblewrap", replace(nothing_there, bwrap=program))
