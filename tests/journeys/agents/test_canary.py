"""A real program uses the operator's key for all of a conversation, and has it nowhere.

Searched in the middle of a turn and after the end: what the agent's processes see, hold and were given, what
the engine tells, the image, and the whole home but for the one place where secrets are kept.
"""

import asyncio
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import docker
import pytest

from orchestrator.core.sentence_keys import Say as Sentence
from orchestrator.core.wording import say
from orchestrator.runners.docker_engine import Engine
from tests.journeys.agents.test_answers import WORK
from tests.support.agent_image import IMAGE
from tests.support.canary_inside import agents_below, layers_with, memory_with, seen_with
from tests.support.canary_search import descendants_of, files_with, processes_with
from tests.support.model_server import Fail, Rule, Say, Wait
from tests.support.real_agents import KEY, RealAgents, let_it_try_again

pytestmark = pytest.mark.agents
CANARY: Final = KEY.encode()
_WALLS: Final = {"bwrap", "docker-init", "tini"}
TALK: Final = (
    *WORK[:-1],
    Rule(text="hello", steps=(Fail(status=401),), has_tools=True),
    Rule(tool_result="", steps=(Wait(gate="held"), Say(text="It is planned.")), has_tools=True),
)


@pytest.mark.bubblewrap
async def test_in_a_sandbox_the_operators_key_is_nowhere(agents: RealAgents) -> None:
    await agents.prepare()
    agents.model.play(*TALK)

    async with agents.home.running() as app:
        agents.home.ask("plan it")
        await agents.model.gate("held").reached()
        inside = await asyncio.to_thread(agents_below, os.getpid())
        users = await asyncio.to_thread(_users_of, inside)
        in_turn = await asyncio.to_thread(_in_turn, agents, os.getpid(), inside)
        agents.model.gate("held").open()
        await agents.answered("from the tool", "It is planned.")
        await agents.home.quiet()  # else what comes now would join that turn
        agents.home.ask("hello there")
        await agents.answered(say(Sentence.PROVIDER_REFUSES, "en"))
        agents.model.play(Rule(text="hello", steps=(Say(text="Good day."),), has_tools=True))
        await let_it_try_again(app)
        await agents.answered_in_the_end(app, "Good day.")

    assert users, "no agent was looked at"
    assert 0 not in users
    assert in_turn == []
    assert await asyncio.to_thread(_in_files, agents) == []
    assert {KEY in str(each.headers) for each in agents.model.model_calls} == {True}


@pytest.mark.docker
async def test_a_program_works_in_a_container_where_the_operators_key_is_nowhere(
    docker_agents: RealAgents, docker_engine: Engine
) -> None:
    agents = docker_agents
    await agents.prepare()
    agents.model.play(*TALK)

    async with agents.home.running():
        agents.home.ask("plan it")
        await agents.model.gate("held").reached()
        first, told = await docker_engine.call(lambda client: _told(client, agents))
        inside = [first, *await asyncio.to_thread(descendants_of, first)]
        users = await asyncio.to_thread(_users_of, inside)
        in_turn = await asyncio.to_thread(_in_turn, agents, first, inside)
        agents.model.gate("held").open()
        await agents.answered("from the tool", "It is planned.")
    in_layers = await docker_engine.call(lambda client: layers_with(CANARY, client, IMAGE))

    assert 0 not in users
    assert in_turn == []
    assert [text for text in told if KEY in text] == []
    assert in_layers == []
    assert await asyncio.to_thread(_in_files, agents) == []
    assert {KEY in str(each.headers) for each in agents.model.model_calls} == {True}


def _users_of(processes: list[int]) -> set[int]:
    """Who runs the programs among them; what builds the walls around them is no agent's."""
    users: set[int] = set()
    for path in (Path(f"/proc/{pid}") for pid in processes):
        with suppress(FileNotFoundError, ProcessLookupError):  # one that has ended meanwhile
            user = path.stat().st_uid
            if (path / "comm").read_text().strip() not in _WALLS:
                users.add(user)
    return users


def _in_turn(agents: RealAgents, process: int, inside: list[int]) -> list[str]:
    """Where it is while the agent works. process: the first of those that were started for it."""
    return [
        *processes_with(CANARY, below=process),
        *seen_with(CANARY, inside),
        *memory_with(CANARY, inside),
        *_in_files(agents),
    ]


def _in_files(agents: RealAgents) -> list[str]:
    """Logs, store, boxes, snapshots, session homes, chats: everything but where secrets are kept."""
    home = agents.home
    secrets = home.opened().paths.secrets
    assert files_with(CANARY, secrets), "the search finds nothing even where it is"
    found = files_with(CANARY, home.path, without=[secrets])
    return found + files_with(CANARY, Path(home.channel))


def _told(client: docker.DockerClient, agents: RealAgents) -> tuple[int, list[str]]:
    """The first process of the one container, and all that the engine tells of it and of its image."""
    (container,) = agents.home.containers_now(client)
    inspected = client.api.inspect_container(container)
    # The types of the docker package leave these two out.
    history = client.api.history(IMAGE)  # type: ignore[no-untyped-call]
    image = client.api.inspect_image(IMAGE)  # type: ignore[no-untyped-call]
    told = [inspected, history, image, client.api.diff(container), client.api.top(container)]
    log = client.api.logs(container).decode(errors="replace")
    return int(inspected["State"]["Pid"]), [*map(json.dumps, told), log]
