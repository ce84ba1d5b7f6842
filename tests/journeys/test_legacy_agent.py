"""An agent made for NanoClaw 1.x, run by the seed's rules alone: each pair ends a turn.

Source: contracts.md section 1.
"""

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.contracts.ids import new_id
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.process_runner import ProcessRunner
from tests.agreement.runners.stage import BASE_IMAGE
from tests.support import raw_agents
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.legacy_runner import LegacyRunner
from tests.support.raw_agents import raw_agent
from tests.support.shifted_clock import ShiftedClock

AGENT = raw_agent("nanoclaw_1x_agent")
LONGEST_HOLD_S = 300


def legacy(home: HomeOnDisk) -> tuple[LegacyRunner, str]:
    """What stands in for an image without our label."""
    return LegacyRunner(ProcessRunner(programs_directory=home.opened().paths.programs)), "legacy"


async def test_an_agent_of_1x_answers_and_stays_for_what_follows(home: HomeOnDisk) -> None:
    home.set(shutdown_grace_s=30)
    await home.add_group()

    async with home.running(runner=legacy(home), command=AGENT):
        home.say("the milk is out")
        home.ask("one")
        await home.said("1x: the milk is out + @Assistant one")
        await home.quiet()
        home.ask("two")
        await home.said("1x: the milk is out + @Assistant one", "1x: @Assistant two")
        await home.quiet()
        alive = len(home.rows("SELECT 1 FROM agents WHERE status = 'running' AND is_legacy = 1"))

    assert alive == 1
    assert set(home.statuses().values()) == {"settled"}
    assert home.rows("SELECT status, exit_code FROM agents") == [{"status": "completed", "exit_code": 0}]
    assert home.rows("SELECT session_id FROM sessions") == [{"session_id": "s-1"}]


async def test_silence_settles_nothing_and_a_null_frame_is_the_end_of_a_turn(home: HomeOnDisk) -> None:
    await home.add_group()

    async with home.running(runner=legacy(home), command=AGENT):
        message = home.ask("quiet")
        await home.said(say(Say.EMPTY_ANSWER, "en"))
        await home.quiet()

    assert home.statuses()[message] == "settled"


async def test_an_error_of_the_provider_is_never_shown_and_the_session_it_names_not_kept(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    clock = ShiftedClock()

    async with home.running(runner=legacy(home), command=AGENT, clock=clock):
        message = home.ask("provider")
        await home.said(say(Say.PROVIDER_TROUBLE, "en"))
        await eventually(lambda: home.statuses()[message] == "pending", what=home.story)
        await eventually(lambda: not home.boxes())

    assert home.rows("SELECT tries FROM messages") == [{"tries": 0}]
    assert home.rows("SELECT session_id FROM sessions") == [{"session_id": "s-real"}]


async def test_a_follow_up_that_it_took_and_died_of_waits_for_its_second_try(home: HomeOnDisk) -> None:
    await home.add_group()
    clock = ShiftedClock()

    async with home.running(runner=legacy(home), command=AGENT, clock=clock):
        home.ask("one")
        await home.said("1x: @Assistant one")
        await home.quiet()
        message = home.ask("die")
        await eventually(lambda: tries_of(home, message) >= 1, what=home.story)
        clock.advance(10)
        await eventually(lambda: tries_of(home, message) >= 2, what=home.story)

    assert home.statuses()[message] == "pending"
    assert home.texts() == ["1x: @Assistant one"]


def tries_of(home: HomeOnDisk, message: str) -> int:
    """How often the message has ended an agent."""
    query = "SELECT tries FROM messages WHERE message_id = ?"
    return max((int(row["tries"]) for row in home.rows(query, message)), default=0)


async def test_an_orderly_stop_closes_it_by_its_empty_file(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(shutdown_grace_s=30)

    async with home.running(runner=legacy(home), command=AGENT):
        home.ask("one")
        await home.said("1x: @Assistant one")
        await home.quiet()

    assert home.rows("SELECT exit_code, end_reason FROM agents") == [{"exit_code": 0, "end_reason": "exited"}]


@pytest.fixture
def image_of_1x(docker_engine: Engine) -> Iterator[str]:
    """An image with that agent as its entry point and no label of ours."""
    name = f"{new_id('nanoclaw')}:test"
    source = Path(raw_agents.__file__).parent / "nanoclaw_1x_agent.py"
    dockerfile = (
        f"FROM {BASE_IMAGE}\nCOPY agent.py /app/agent.py\nUSER 1000:1000\n"
        'ENTRYPOINT ["python3", "/app/agent.py"]\n'
    )
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as tar:
        for path, content in (("Dockerfile", dockerfile.encode()), ("agent.py", source.read_bytes())):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    context.seek(0)
    docker_engine.run(
        lambda client: list(client.api.build(fileobj=context, custom_context=True, tag=name, rm=True))
    )
    yield name
    docker_engine.run(lambda client: client.images.remove(name, force=True))


@pytest.mark.docker
async def test_an_image_without_our_label_is_run_by_the_rules_of_1x(
    home: HomeOnDisk, image_of_1x: str, docker_engine: Engine
) -> None:
    await home.add_group()
    home.set(agent__runner="docker", agent__image=image_of_1x, shutdown_grace_s=30)

    async with home.running():
        home.ask("one")
        await home.said("1x: @Assistant one", within_s=40)
        home.ask("two")
        await home.said("1x: @Assistant one", "1x: @Assistant two")
        await home.quiet()

    assert home.rows("SELECT is_legacy, status FROM agents") == [{"is_legacy": 1, "status": "completed"}]
    assert await home.containers(docker_engine) == []
