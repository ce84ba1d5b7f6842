"""kill -9 of the orchestrator between what people tell it and the deed. Source: contracts.md section 6."""

from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from tests.support.eventually import eventually
from tests.support.home_on_disk import ECHO, HomeOnDisk, once
from tests.support.orchestrator_process import OrchestratorProcess

ASK = {"ask": {"question": "Delete it all?", "options": ["Yes", "No"]}}


def asked(home: HomeOnDisk) -> set[str]:
    """The questions that the chat was asked, by their first lines: a kill may have one sent twice."""
    return {text.splitlines()[0] for text in home.texts() if text.startswith("The assistant asks")}


async def test_what_was_told_to_stop_before_a_kill_does_not_run_again(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await home.add_group()
    home.play(once("one", {"wait_for_file": "never"}))
    await orchestrator.start(crash_at="inbound.committed", nth=2)
    message = home.ask("one")
    await home.begun()
    home.say("/stop")
    await orchestrator.died()

    await orchestrator.start()
    await home.quiet()
    await orchestrator.stop()

    assert home.texts() == [ENGLISH[Say.STOPPED]], home.story()
    assert home.statuses()[message] == "failed"


async def test_an_answer_that_a_kill_kept_from_its_agent_is_asked_for_anew_and_heard_once(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await home.add_group()
    home.play({"rules": [{"match": "tidy", "steps": [ASK, {"say": "told {answer}"}]}], **ECHO})
    await orchestrator.start(crash_at="answer.committed")
    message = home.ask("tidy up")
    await eventually(lambda: len(asked(home)) == 1, what=home.story)
    home.say("/answer 1")
    await orchestrator.died()

    await orchestrator.start()
    await eventually(lambda: len(asked(home)) == 2, what=home.story)
    home.say("/answer 2")
    await home.quiet()
    await orchestrator.stop()

    told = [text for text in home.texts_once() if text.startswith("told")]
    assert told == ["told No"], home.story()
    assert home.statuses()[message] == "settled"
