"""The first five minutes: without a model, somebody in the terminal has helpers, sees them and stops them."""

import re

from orchestrator.app.doors import App
from orchestrator.contracts.ids import Jid
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.orchestrator_process import OrchestratorProcess
from tests.support.spawned import agents_of, running

MAIN = Jid("console:main")


def said(home: HomeOnDisk) -> list[str]:
    """What the assistant has said in the terminal."""
    rows = home.rows(f"SELECT text FROM outbox WHERE chat_jid = '{MAIN}' ORDER BY id")
    return [str(row["text"]) for row in rows]


async def answer(home: HomeOnDisk, app: App, words: str) -> str:
    """What is said next after these words."""
    before = len(said(home))
    await app.console.receive(MAIN, words)
    await eventually(lambda: len(said(home)) > before, within_s=40, what=home.story)
    return said(home)[before]


async def test_a_newcomer_asks_a_helper_sees_the_tree_and_stops_it(home: HomeOnDisk) -> None:
    home.set(agent__provider="builtin", shutdown_grace_s=0)

    async with home.running() as app:
        asked = await answer(home, app, "ask helper echo hello")
        spawned = await answer(home, app, "spawn ask helper count to 3000")
        await running(home, "count to 3000")
        tree = (await answer(home, app, "show tree")).splitlines()
        stopped = await answer(home, app, "stop helper 2")
        again = await answer(home, app, "stop helper 2")
        done = await answer(home, app, "stop helper 1")
        left = await answer(home, app, "stop helper")
        shown = await answer(home, app, "show helper 1")
        ended = await answer(home, app, "show helper 2")
        refused = await answer(home, app, "count to 11")

    assert asked == "**helper 1** says:\nhello"
    assert spawned.startswith("**helper 2** is at work: ask helper count to 3000\n")
    assert tree[:2] == ["This is our tree:", "- **me**: running"]
    assert tree[2].startswith("  - **helper 1**: echo hello (completed, ")
    assert tree[2].endswith("): hello")
    assert tree[3].startswith("  - **helper 2**: ask helper count to 3000 (waits for 1 helper, ")
    assert tree[4].startswith("    - **helper 1**: count to 3000 (running, ")
    assert stopped == "**helper 2** is stopped: ask helper count to 3000"
    assert {row["status"] for row in agents_of(home) if "count" in row["task"]} == {"terminated"}
    over, line = again.splitlines()
    assert over == "There is nothing to stop, it has ended:"
    assert re.fullmatch(r"- \*\*helper 2\*\*: ask helper count to 3000 \(terminated, \d+ s ago\)", line)
    assert "- **helper 1**: echo hello (completed, " in done
    assert left == "No helper is at work."
    assert shown == asked
    assert ended.startswith("**helper 2** has ended early: It was stopped")
    assert "`spawn count to 11`" in refused


async def test_where_the_definition_has_no_helpers_it_says_how_to_have_them(home: HomeOnDisk) -> None:
    home.set(agent__provider="builtin")
    await home.add_group()

    async with home.running():
        home.ask("spawn count to 3")
        await eventually(lambda: home.texts() != [], what=home.story)

    (told,) = home.texts()
    assert "adds `spawn` to `tools`" in told


async def test_a_helper_that_died_with_the_orchestrator_is_told_of_and_shown_as_ended(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    home.set(agent__provider="builtin", agent__runner="process", shutdown_grace_s=0)
    await home.add_group()
    (home.workspace().parent / "AGENT.md").write_text("---\ntools: [chat, spawn]\n---\n")
    await orchestrator.start()
    home.ask("spawn count to 3000")
    await running(home, "count to 3000")
    await home.quiet()  # a turn that is cut would be run again, and ask for its helper once more
    await orchestrator.kill()

    await orchestrator.start()
    home.ask("show tree")
    await eventually(lambda: len(home.texts()) == 3, what=home.story)
    await orchestrator.stop()

    _, lost, tree = home.texts()
    head, line = tree.splitlines()
    assert lost == say(Say.HELPER_LOST, "en", helpers="helper 1 (“count to 3000”)")
    assert head == "No helper is at work. These have ended lately:"
    assert line.startswith("- **helper 1**: count to 3000 (terminated, ")
    assert line.endswith("): Dovecote ended while it ran, and its work was not done by then.")


async def test_a_helper_that_is_stopped_with_the_orchestrator_is_told_of_and_one_that_was_done_is_not(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    home.set(agent__provider="builtin", agent__runner="process", shutdown_grace_s=0)
    await home.add_group()
    (home.workspace().parent / "AGENT.md").write_text("---\ntools: [chat, spawn]\n---\n")
    await orchestrator.start()
    home.ask("spawn echo hello")
    await eventually(lambda: [row["status"] for row in agents_of(home, task="echo hello")] == ["completed"])
    home.ask("spawn count to 3000")
    await running(home, "count to 3000")
    await home.quiet()
    await orchestrator.stop()

    told = home.texts()[2:]
    await orchestrator.start()
    await home.quiet()
    await orchestrator.stop()

    assert told == [say(Say.HELPER_STOPPED, "en", helpers="helper 2 (“count to 3000”)")]
    assert home.texts()[2:] == told


async def test_a_helper_waits_for_a_helper_of_its_own_and_passes_on_what_it_said(home: HomeOnDisk) -> None:
    home.set(agent__provider="builtin", shutdown_grace_s=0)

    async with home.running() as app:
        told = await answer(home, app, "ask helper spawn echo hello")

    assert told == "**helper 1** says:\n**helper 1** says:\nhello"
    assert {row["status"] for row in agents_of(home) if row["task"] is not None} == {"completed"}
