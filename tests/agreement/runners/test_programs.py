"""Which programs the agents of each runner would find, as the doctor asks."""

from pathlib import Path

import pytest

from orchestrator.runners.catalog import DescribedRunner
from tests.agreement.runners.conftest import WALLED


@pytest.mark.parametrize(
    ("program", "is_there"),
    [("python3", True), ("no-such-program", False), ("/usr/bin/env", True), ("/no/such/program", False)],
)
async def test_a_runner_knows_which_programs_its_agents_find(
    runner: DescribedRunner, program: str, is_there: bool
) -> None:
    assert await runner.finds(program) is is_there


@pytest.mark.parametrize("kind", WALLED)
async def test_a_program_of_the_hosts_own_is_none_of_an_agents(
    runner: DescribedRunner, tmp_path: Path
) -> None:
    program = tmp_path / "mine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)

    assert await runner.finds(str(program)) is False
