"""What people are told when files take too much room: once when it begins, once when it is over."""

from orchestrator.commands.chat_views import chat_view
from orchestrator.commands.hearing.chat_texts import status_text
from orchestrator.commands.usage import dir_budgets
from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.records.dir_sizes import DirBudget
from orchestrator.core.dir_budgets import Excess
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.store import groups
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT

OVERFULL = dir_budgets.Overfull(
    place="groups/family/workspace",
    budget=DirBudget(max_bytes=5 * 1024**3, max_entries=100_000),
    excess=Excess.BYTES,
)


async def folder_of(desk: Desk) -> GroupFolder:
    """The group of the desk's chat."""
    group = await desk.run(lambda tx: groups.by_jid(tx, CHAT))
    assert group is not None
    return group.folder


async def test_files_that_take_too_much_are_told_once_and_shown_until_they_fit(desk: Desk) -> None:
    folder, services, at = await folder_of(desk), desk.services, desk.now
    for _ in range(2):
        await desk.run(
            lambda tx: dir_budgets.note_overfull(tx, services, folder, OVERFULL, was_stopped=True, at=at)
        )
    during = (await desk.texts(), (await chat_view(services, CHAT, after=0)).held_by)
    known = await desk.run(dir_budgets.known_overfull)
    group = await desk.run(lambda tx: groups.by_folder(tx, folder))
    assert group is not None
    status = await desk.run(lambda tx: status_text(tx, desk.services, group))
    for _ in range(2):
        await desk.run(lambda tx: dir_budgets.note_fitting(tx, services, folder, at=at))
    after = (await desk.texts(), (await chat_view(services, CHAT, after=0)).held_by)

    assert during == ([ENGLISH[Say.FILES_FULL_STOPPED]], ("files",))
    assert known == [folder]
    assert ENGLISH[Say.STATUS_FILES_FULL] in status
    assert after == ([ENGLISH[Say.FILES_FULL_STOPPED], ENGLISH[Say.WORKING_AGAIN]], ())
    assert await desk.run(dir_budgets.known_overfull) == []


def test_each_excess_has_its_sentence_with_the_place_and_the_limit() -> None:
    sentences = {
        excess: dir_budgets.why(
            dir_budgets.Overfull(place="here", budget=OVERFULL.budget, excess=excess), "en"
        )
        for excess in Excess
    }

    assert sentences == {
        Excess.BYTES: "here holds more than 5,120 MiB.",
        Excess.ENTRIES: "here holds more than 100,000 files and directories.",
        Excess.DEPTH: "here has directories more than 200 deep in one another.",
        Excess.EXCHANGED: say(Say.FILES_EXCHANGED, "en", place="here"),
    }
