"""A container that outlived the orchestrator that started it is taken over by the next one.

Source: agents.md section 2.
"""

from collections.abc import AsyncIterator

import pytest

from orchestrator.contracts.ids import AgentId
from orchestrator.runners.docker_runner import DockerRunner
from tests.agreement.runners.conftest import lacking
from tests.agreement.runners.stage import Stage, collect
from tests.support.agent_image import IMAGE

TALKS = (
    "import sys, time; print('first', flush=True); print('aside', file=sys.stderr, flush=True); "
    "sys.stdin.read(); "
    "time.sleep(0.3); print('last'); sys.exit(4)"
)

pytestmark = pytest.mark.docker


@pytest.fixture
async def runner(agent_image: str | None) -> AsyncIterator[DockerRunner]:
    """That of the process which began."""
    if agent_image is not None:
        lacking(agent_image)
    made = DockerRunner(image=IMAGE)
    yield made
    await made.close()


async def test_its_output_comes_again_from_the_first_byte_and_it_ends_as_it_does(
    runner: DockerRunner, stage: Stage
) -> None:
    plan = stage.plan(TALKS)
    first = await runner.start(plan)
    successor = DockerRunner(image=IMAGE)
    try:
        await first.write_input(b"{}\n")
        left = await successor.stop_leftovers(stage.instance_id, [], spare=[plan.agent_id])
        adopted = await successor.adopt(stage.instance_id, plan.agent_id, first.process_ref)
        assert adopted is not None
        chunks = [chunk async for chunk in adopted.output()]
        status = await adopted.wait()
        log = await collect(adopted.log_output())
        late = await successor.adopt(stage.instance_id, plan.agent_id, first.process_ref)
        assert late is not None
        again = await collect(late.output())
        await adopted.close()
        await late.close()
    finally:
        await first.close()
        await successor.close()

    assert left == []
    assert chunks.count(b"") == 1, "where what it had said by its adoption ends"
    assert (b"".join(chunks), again, log) == (b"first\nlast\n", b"first\nlast\n", b"aside\n")
    assert (status.code, status.is_clean) == (4, False)


async def test_what_is_gone_or_belongs_to_others_is_not_taken_over(
    runner: DockerRunner, stage: Stage
) -> None:
    plan = stage.plan(TALKS)
    handle = await runner.start(plan)
    ref = handle.process_ref
    try:
        of_others = await runner.adopt("other", plan.agent_id, ref)
        of_another = await runner.adopt(stage.instance_id, AgentId("agent-other"), ref)
    finally:
        await handle.close()
    gone = await runner.adopt(stage.instance_id, plan.agent_id, ref)

    assert (of_others, of_another, gone) == (None, None, None)
