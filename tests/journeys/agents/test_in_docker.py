"""The one program that is tried in containers of the engine, too."""

import pytest

from tests.journeys.agents.test_answers import WORK
from tests.support.real_agents import RealAgents

pytestmark = [pytest.mark.agents, pytest.mark.docker]


async def test_a_real_program_works_in_a_container_without_a_network(docker_agents: RealAgents) -> None:
    await docker_agents.prepare()
    docker_agents.model.play(*WORK)

    async with docker_agents.home.running():
        docker_agents.home.ask("plan it")
        await docker_agents.answered("from the tool", "It is planned.")
