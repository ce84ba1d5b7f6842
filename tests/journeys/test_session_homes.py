"""Where agents keep what their programs remember: a group's home stays, a single agent's goes with it.

Source: agents.md section 4.
"""

from orchestrator.contracts.records.tasks import ContextMode
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.planned import due_now, plan_in, runs_are

WAITS = {"rules": [{"match": "water", "steps": [{"wait_for_file": "go"}, {"say": "done"}]}]}


def homes(home: HomeOnDisk) -> list[str]:
    return sorted(path.name for path in (home.path / "data" / "sessions").iterdir())


def agent_homes(home: HomeOnDisk) -> list[str]:
    return [f"@{row['agent_id']}" for row in home.rows("SELECT agent_id FROM agents")]


async def test_an_isolated_task_has_a_home_of_its_own_that_goes_with_it(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(WAITS)

    async with home.running() as app:
        await plan_in(app, due_now(context_mode=ContextMode.ISOLATED))
        await eventually(lambda: bool(homes(home)), what=home.story)
        await eventually(lambda: homes(home) == agent_homes(home), what=lambda: (homes(home), home.story()))
        (home.workspace() / "go").touch()
        await home.said("done")
        await runs_are(home, "succeeded")
        await eventually(lambda: not homes(home), what=lambda: (homes(home), home.story()))


async def test_the_home_of_a_group_stays_and_those_left_by_dead_agents_go_at_the_start(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    left = home.path / "data" / "sessions" / "@agent-0123456789abcdef" / ".claude"
    left.mkdir(parents=True)
    (left / "session.jsonl").write_text("{}")

    async with home.running():
        home.ask("hello")
        await home.quiet()

    assert homes(home) == ["kitchen"]
