"""Agents that take more room than they may, or all there is: stopped, told, and started again after."""

from pathlib import Path

from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.home_on_disk import MEMBER, HomeOnDisk, once
from tests.support.small_disk import small_disk

MIB = 1024 * 1024
GARDEN = "file:garden"


def shell(words: str) -> dict[str, object]:
    """A step that runs a shell as the agent."""
    return {"run": ["sh", "-c", words]}


def operator_texts(home: HomeOnDisk) -> list[str]:
    """What the operator was told in the main chat."""
    rows = home.rows("SELECT text FROM outbox WHERE chat_jid = 'console:main' ORDER BY id")
    return [row["text"] for row in rows]


async def stopped_and_on_again(home: HomeOnDisk, *, too_much: str, mend: str, why: str) -> None:
    """An agent does `too_much`; somebody mends it."""
    await home.add_group()
    home.play(once("one", shell(too_much), {"wait_for_file": "never"}))

    async with home.running():
        home.ask("one")
        await home.said(say(Say.FILES_FULL_STOPPED, "en"), within_s=60)
        await eventually(lambda: home.logs("agent.ended"), what=home.story)
        waiting = home.ask("two")
        home.say("/status")
        await eventually(lambda: len(home.texts()) == 2, what=home.story)
        status = home.statuses()[waiting]
        shell_of_ours(mend)
        await eventually(lambda: home.texts()[-1] == "re: @Assistant two", what=home.story, within_s=60)
        home.say("/status")
        await home.quiet()

    assert status == "pending"
    assert say(Say.STATUS_FILES_FULL, "en") in home.texts()[1]
    assert home.texts()[2] == say(Say.WORKING_AGAIN, "en")
    assert say(Say.STATUS_FILES_FULL, "en") not in home.texts()[-1]
    (told,) = operator_texts(home)
    assert why in told


def shell_of_ours(path: str) -> None:
    """The operator removes a file, or all files of a directory."""
    for each in [Path(path)] if Path(path).is_file() else list(Path(path).iterdir()):
        each.unlink()


async def test_attack_a_workspace_that_holds_too_many_bytes_stops_its_agent_until_it_fits(
    home: HomeOnDisk,
) -> None:
    home.set(agent__workspace_bytes=MIB, assistant__operators=[MEMBER])
    big = home.path / "groups" / "kitchen" / "workspace" / "big"

    await stopped_and_on_again(
        home,
        too_much=f"head -c {3 * MIB} /dev/zero > {big}",
        mend=str(big),
        why="groups/kitchen/workspace holds more than 1 MiB.",
    )


async def test_attack_a_session_home_of_too_many_files_stops_its_agent_until_it_fits(
    home: HomeOnDisk,
) -> None:
    home.set(agent__max_files=100, assistant__operators=[MEMBER])
    many = home.path / "data" / "sessions" / "kitchen" / "script" / "many"

    await stopped_and_on_again(
        home,
        too_much=f"mkdir {many}; for n in $(seq 150); do : > {many}/$n; done",
        mend=str(many),
        why="data/sessions/kitchen holds more than 100 files and directories.",
    )


async def test_a_group_that_was_full_is_not_started_after_a_restart_until_it_fits(home: HomeOnDisk) -> None:
    home.set(agent__workspace_bytes=MIB)
    await home.add_group()
    big = home.workspace() / "big"
    home.play(once("one", shell(f"head -c {3 * MIB} /dev/zero > {big}"), {"wait_for_file": "never"}))
    async with home.running():
        home.ask("one")
        await home.said(say(Say.FILES_FULL_STOPPED, "en"), within_s=60)
    await home.nothing_left()
    starts = len(home.logs("agent.starting"))

    async with home.running():
        waiting = home.ask("two")
        await eventually(lambda: waiting in home.statuses(), what=home.story)
        big.unlink()
        await eventually(lambda: home.texts()[-1] == "re: @Assistant two", what=home.story, within_s=60)
        await home.quiet()

    assert home.texts()[1:] == [say(Say.WORKING_AGAIN, "en"), "re: @Assistant two"]
    assert len(home.logs("agent.starting")) == starts + 1


async def test_attack_when_the_disk_runs_low_the_one_that_fills_it_is_stopped_and_nobody_else(
    home: HomeOnDisk,
) -> None:
    with small_disk(home.path / "groups", 64 * MIB):
        await home.add_group()
        await home.add_group("garden")
        home.set(disk_floor_bytes=24 * MIB)
        big = home.workspace() / "big"
        home.play(once("one", shell(f"head -c {48 * MIB} /dev/zero > {big}"), {"wait_for_file": "never"}))
        home.play(once("calm", {"wait_for_file": "go"}, {"say": "went on"}), "garden")
        async with home.running():
            home.ask("calm", chat=GARDEN)
            await home.begun("garden")
            home.ask("one")
            await home.said(say(Say.STOPPED_FOR_ROOM, "en"), within_s=60)
            (home.workspace("garden") / "go").touch()
            await home.said("went on", chat=GARDEN)
            big.unlink()
            await eventually(
                lambda: say(Say.OPERATOR_DISK_WELL, "en") in operator_texts(home), what=home.story
            )
            home.ask("two")
            await eventually(lambda: home.texts()[-1] == "re: @Assistant two", what=home.story)
            await home.quiet()
        await home.nothing_left()
        ends = home.rows("SELECT folder FROM agents WHERE end_reason = 'stopped'")
        told = operator_texts(home)

    assert [row["folder"] for row in ends] == ["kitchen"]
    assert [text for text in told if "nearly full:" in text and "24 MiB" in text]
    assert told.count(say(Say.OPERATOR_DISK_WELL, "en")) == 1


async def test_attack_a_file_without_a_name_that_fills_the_disk_costs_its_agent_its_life(
    home: HomeOnDisk,
) -> None:
    with small_disk(home.path / "groups", 64 * MIB):
        await home.add_group()
        home.set(disk_floor_bytes=24 * MIB)
        unseen = (
            "import os, time\n"
            f"file = os.open({str(home.workspace())!r}, os.O_TMPFILE | os.O_WRONLY)\n"
            "for _ in range(30):\n"
            "    os.write(file, bytes(2 * 1024 * 1024))\n"
            "    time.sleep(0.05)\n"
            "time.sleep(600)\n"
        )
        home.play(once("one", {"run": ["python3", "-c", unseen]}, {"wait_for_file": "never"}))
        async with home.running():
            home.ask("one")
            await home.said(say(Say.STOPPED_FOR_ROOM, "en"), within_s=60)
            await eventually(
                lambda: say(Say.OPERATOR_DISK_WELL, "en") in operator_texts(home), what=home.story
            )
            await home.quiet()
        await home.nothing_left()
        texts = home.texts()

    assert texts == [say(Say.STOPPED_FOR_ROOM, "en")]
