"""When something goes wrong, a chat hears one plain sentence, keeps its order, and loses nothing."""

from collections.abc import Mapping, Sequence

import pytest

from orchestrator.contracts.errors import DovecoteError, ErrorCode, StartFailed, Unavailable
from orchestrator.contracts.records.launch import LaunchPlan
from orchestrator.contracts.seams import AgentHandle
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.runners.process_runner import ProcessRunner
from tests.support.eventually import eventually
from tests.support.file_channel import Outcome
from tests.support.flaky_runner import FlakyRunner
from tests.support.home_on_disk import ECHO, HomeOnDisk
from tests.support.raw_agents import raw_agent
from tests.support.shifted_clock import ShiftedClock
from tests.support.stubborn_runner import StubbornHandle

SAID_AGAIN = f"re: @Assistant one\n\n{say(Say.RESENT_NOTE, 'en')}"
LONGEST_HOLD_S = 300
"""A failure that is not the message's own is tried again after so long at the latest."""


def saying(*texts: str) -> dict[str, object]:
    """A scenario of one turn with these texts."""
    return {"turns": [[{"say": text} for text in texts]]}


@pytest.mark.parametrize(
    "trouble",
    [StartFailed("It is broken."), Unavailable("It is away.", code=ErrorCode.RUNNER_UNAVAILABLE)],
    ids=["the start fails", "the engine is away"],
)
async def test_a9_starts_that_fail_are_told_once_after_the_third_and_once_when_it_is_over(
    trouble: DovecoteError, home: HomeOnDisk
) -> None:
    """Case A9."""
    await home.add_group()
    home.play(ECHO)
    clock = ShiftedClock()
    runner = FlakyRunner(ProcessRunner(programs_directory=home.opened().paths.programs))
    runner.trouble = trouble

    async with home.running(clock=clock, runner=(runner, "a flaky one")):
        message = home.ask("one")
        said_after: list[list[str]] = []
        for count in range(1, 6):
            await eventually(lambda count=count: runner.starts >= count, what=home.story)
            await eventually(lambda: home.statuses().get(message) == "pending", what=home.story)
            said_after.append(home.texts())
            if count == 3:
                await home.said(say(Say.CANNOT_START, "en"))
            if count < 5:
                clock.advance(LONGEST_HOLD_S)
        runner.trouble = None
        clock.advance(LONGEST_HOLD_S)
        await home.quiet()

    assert said_after[:2] == [[], []]
    assert home.texts() == [
        say(Say.CANNOT_START, "en"),
        "re: @Assistant one",
        say(Say.WORKING_AGAIN, "en"),
    ]
    [row] = home.rows("SELECT tries, status FROM messages")
    assert row == {"tries": 0, "status": "settled"}


async def test_an_engine_that_hangs_ends_the_start_in_its_time_and_the_message_runs_again(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    home.set(agent__start_timeout_s=3)
    home.play(ECHO)
    clock = ShiftedClock()
    runner = FlakyRunner(ProcessRunner(programs_directory=home.opened().paths.programs))
    runner.trouble, runner.hangs = None, True

    async with home.running(clock=clock, runner=(runner, "a hanging one")):
        message = home.ask("one")
        await eventually(lambda: runner.starts, what=home.story)
        await eventually(lambda: home.statuses().get(message) == "pending", what=home.story)
        runner.hangs = False
        clock.advance(LONGEST_HOLD_S)
        await home.quiet()

    assert home.texts() == ["re: @Assistant one"]
    assert "was not started in 3 s" in home.logs("agent.not_started")[0]["error"]


async def test_a12_an_empty_answer_gets_one_prompt_more_and_then_one_sentence(home: HomeOnDisk) -> None:
    """Case A12."""
    await home.add_group()
    home.play({"default": []})

    async with home.running():
        message = home.ask("one")
        await home.said(say(Say.EMPTY_ANSWER, "en"))
        await home.quiet()

    assert len(home.rows("SELECT 1 FROM turns")) == 2
    assert home.statuses()[message] == "settled"


async def test_an_answer_to_the_second_prompt_is_all_that_is_seen(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play({"turns": [[]], **ECHO})

    async with home.running():
        home.ask("one")
        await home.said("re: @Assistant one")
        await home.quiet()


async def test_a_provider_without_capacity_holds_the_message_without_a_try(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play({"rules": [{"match": "one", "times": 3, "steps": [{"fail": "PROVIDER_RATE_LIMITED"}]}], **ECHO})
    clock = ShiftedClock()

    async with home.running(clock=clock):
        message = home.ask("one")
        for count in range(1, 4):
            await eventually(lambda count=count: turns_that_failed(home) >= count, what=home.story)
            await eventually(lambda: home.statuses().get(message) == "pending", what=home.story)
            await home.said(say(Say.PROVIDER_TROUBLE, "en"))
            clock.advance(LONGEST_HOLD_S)
        await home.quiet()

    assert sorted(home.texts()[1:]) == sorted(["re: @Assistant one", say(Say.PROVIDER_BACK, "en")])
    assert home.rows("SELECT tries, status FROM messages") == [{"tries": 0, "status": "settled"}]


def turns_that_failed(home: HomeOnDisk) -> int:
    """How many turns ended in an error."""
    return len(home.rows("SELECT 1 FROM turns WHERE status = 'error'"))


async def test_a_message_that_ends_every_agent_fails_after_five_tries_and_is_told_once(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    home.play({"rules": [{"match": "poison", "steps": [{"crash": "SEGV"}]}], **ECHO})
    clock = ShiftedClock()

    async with home.running(clock=clock):
        message = home.ask("poison")
        for tries in range(1, 5):
            await eventually(lambda tries=tries: tries_of(home, message) >= tries, what=home.story)
            clock.advance(3600)
        await home.said(say(Say.FAILED, "en"))
        home.ask("harmless")
        await home.said(say(Say.FAILED, "en"), "re: @Assistant harmless")
        await home.quiet()

    assert home.statuses()[message] == "failed"


def tries_of(home: HomeOnDisk, message: str) -> int:
    """How often the message has ended an agent and waits again."""
    query = "SELECT tries FROM messages WHERE message_id = ? AND status = 'pending'"
    return max((int(row["tries"]) for row in home.rows(query, message)), default=-1)


async def test_an_answer_that_was_sent_as_a_message_before_is_not_sent_again(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play({"turns": [[{"send_message": "It is  noon."}, {"say": "It is noon."}, {"say": "Bye."}]]})

    async with home.running():
        home.ask("one")
        await home.said("It is  noon.", "Bye.")
        await home.quiet()


async def test_a_long_text_comes_in_parts_in_order_with_its_code_fenced_in_each(home: HomeOnDisk) -> None:
    await home.add_group()
    code = "\n".join(f"line_{number:03} = {number}" for number in range(60))
    home.play(saying(f"Look:\n```python\n{code}\n```\nDone."))

    async with home.running(max_text_chars=200):
        home.ask("one")
        await home.quiet()

    texts = home.texts()
    assert len(texts) > 3
    assert all(len(text) <= 200 for text in texts)
    assert all(text.count("```") % 2 == 0 for text in texts)
    seen = [line for text in texts for line in text.splitlines() if line.startswith("line_")]
    assert seen == code.splitlines()


async def test_d_16_texts_keep_their_order_across_a_send_that_fails(home: HomeOnDisk) -> None:
    """Case D-16."""
    await home.add_group()
    home.play(saying("first", "second", "third"))
    home.behave({"match": "second", "outcome": Outcome.UNAVAILABLE, "times": 3})

    async with home.running():
        home.ask("one")
        await home.said("first", "second", "third")
        await home.quiet()

    assert [row["attempts"] for row in home.rows("SELECT attempts FROM outbox ORDER BY id")] == [1, 4, 1]


async def test_a_slow_chat_holds_up_no_other(home: HomeOnDisk) -> None:
    await home.add_group()
    await home.add_group("garden")
    home.play(ECHO)
    home.play(ECHO, "garden")
    home.behave({"match": "slow", "until": "go"})

    async with home.running():
        home.ask("slow")
        await eventually(lambda: home.rows("SELECT 1 FROM outbox WHERE status = 'sending'"), what=home.story)
        home.ask("quick", chat="file:garden")
        await home.said("re: @Assistant quick", chat="file:garden")
        assert home.texts() == []
        (home.channel / "go").touch()
        await home.quiet()


async def test_word_of_a_failed_text_is_not_lost_with_an_agent_that_never_began_its_turn(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    home.behave({"match": "@Assistant one", "outcome": Outcome.REFUSE})
    clock = ShiftedClock()

    async with home.running(command=raw_agent("tells_its_prompt")):
        home.ask("one")
        await home.quiet()
        await eventually(lambda: not home.boxes())
    async with home.running(clock=clock, command=raw_agent("exits_at_once")):
        home.ask("two")
        await eventually(lambda: home.logs("agent.not_started"), what=home.story)
        await eventually(lambda: not home.boxes())
    clock.advance(LONGEST_HOLD_S)
    async with home.running(clock=clock, command=raw_agent("tells_its_prompt")):
        await home.quiet()

    [prompt] = home.texts()
    assert '<undelivered count="1"/>' in prompt


async def test_a10_a_refused_text_fails_at_once_and_operator_and_agent_are_told(home: HomeOnDisk) -> None:
    """Case A10."""
    await home.add_group()
    home.behave({"match": "@Assistant one", "outcome": Outcome.REFUSE})

    async with home.running(command=raw_agent("tells_its_prompt")):
        home.ask("one")
        await home.quiet()
        home.ask("two")
        await home.quiet()

    told = home.rows("SELECT text FROM outbox WHERE chat_jid = 'console:main'")
    assert told == [{"text": say(Say.DELIVERY_FAILED, "en", chat_name="kitchen")}]
    [prompt] = home.texts()
    assert '<undelivered count="1"/>' in prompt
    assert [row["attempts"] for row in home.rows("SELECT attempts FROM outbox WHERE status = 'failed'")] == [
        1
    ]


@pytest.mark.parametrize(
    ("outcome", "seen"),
    [
        (Outcome.UNKNOWN_BEFORE, [SAID_AGAIN]),
        (Outcome.UNKNOWN_AFTER, ["re: @Assistant one", SAID_AGAIN]),
    ],
    ids=["it was not taken", "it was taken"],
)
async def test_a_text_without_an_answer_is_sent_once_more_and_noted(
    outcome: Outcome, seen: Sequence[str], home: HomeOnDisk
) -> None:
    await home.add_group()
    home.play(ECHO)
    home.behave({"outcome": outcome})

    async with home.running():
        home.ask("one")
        await home.said(*seen)
        await home.quiet()

    assert home.rows("SELECT status, was_resent FROM outbox") == [{"status": "sent", "was_resent": 1}]
    assert len(home.logs("outbox.unknown")) == 1


async def test_a_text_that_fills_its_message_is_sent_again_within_the_limit(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(saying("x" * 200))
    home.behave({"outcome": Outcome.UNKNOWN_BEFORE})

    async with home.running(max_text_chars=200):
        home.ask("one")
        await home.said("x" * 200)
        await home.quiet()

    assert home.rows("SELECT status, was_resent FROM outbox") == [{"status": "sent", "was_resent": 1}]


async def test_a_text_twice_without_an_answer_is_failed_and_told(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(saying("first", "second"))
    home.behave({"match": "first", "outcome": Outcome.UNKNOWN_BEFORE, "times": 2})

    async with home.running():
        home.ask("one")
        await home.said("second")
        await home.quiet()

    assert [row["status"] for row in home.rows("SELECT status FROM outbox ORDER BY id")][:2] == [
        "failed",
        "sent",
    ]
    assert len(home.rows("SELECT 1 FROM outbox WHERE chat_jid = 'console:main'")) == 1


class _LosesAMount(FlakyRunner):
    """Its agents start; what is mounted in them is not what was planned."""

    async def start(self, plan: LaunchPlan) -> AgentHandle:
        """An agent with a mount missing."""
        self.starts += 1
        return _WithoutAMount(await self._real.start(plan), refusals=0)


class _WithoutAMount(StubbornHandle):
    async def check_walls(self, reported: Mapping[str, str]) -> None:
        """They differ."""
        raise StartFailed("The walls are not as planned: /workspace/group is missing.")


async def test_e11_an_agent_whose_mount_is_missing_is_given_no_message(home: HomeOnDisk) -> None:
    """Case E11: it ran without the mount, and nothing showed it."""
    await home.add_group()
    home.play(ECHO)
    runner = _LosesAMount(ProcessRunner(programs_directory=home.opened().paths.programs))
    ends = "SELECT end_reason FROM agents WHERE ended_ms IS NOT NULL"

    async with home.running(clock=ShiftedClock(), runner=(runner, "one that loses a mount")):
        message = home.ask("one")
        await eventually(lambda: home.rows(ends), what=home.story)

        assert home.rows(ends)[0]["end_reason"] == "start_failed"
        assert home.statuses() == {message: "pending"}
        assert home.texts() == []


async def test_an_agent_that_is_stopped_before_it_is_ready_is_no_error(home: HomeOnDisk) -> None:
    await home.add_group()

    async with home.running(command=("sleep", "300")):
        home.ask("one")
        await eventually(lambda: home.logs("agent.starting"), what=home.story)
        home.say("/stop")
        await eventually(lambda: home.logs("agent.ended"), what=home.story)

    assert home.logs("agent.stopped_early")
    assert not home.logs("agent.not_started")
