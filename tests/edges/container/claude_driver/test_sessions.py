"""Sessions of the driver `claude`: resumed, gone, too large, too long, kept and removed."""

import os

import pytest

from orchestrator.contracts.wire.container_io import SessionNamed, TurnStatus
from tests.edges.container.claude_driver.claude_home import ClaudeHome, asked, session_of
from tests.support.model_server import Fail, Rule, Say

pytestmark = pytest.mark.agents

GONE = "(Our earlier conversation could not be found any more, so I begin afresh.)"
SHORTENED = "(Our conversation had grown too long, so I go on with a summary of it.)"


async def once(claude: ClaudeHome, text: str, **more: object) -> tuple[list[str], str]:
    """One run with one turn: what it said, and its session."""
    async with claude.running() as running:
        await running.give(asked(text, **more))  # type: ignore[arg-type]  # as `asked` takes them
        await running.until_ended(1)
        claude.home.drop("0001-close.json", {"type": "_close"})
        assert await running.exit_code() == 0
        assert running.ended[0].status is TurnStatus.SUCCESS
        return running.texts, session_of(running)


async def test_a_later_run_goes_on_in_the_session_and_counts_only_its_own_cost(claude: ClaudeHome) -> None:
    _, session = await once(claude, "my cat is called Momo")

    async with claude.running() as running:
        await running.give(asked("what is my cat called?", session_id=session))
        await running.until_ended(1)

    assert session_of(running) == session
    assert "my cat is called Momo" in claude.model.model_calls[-1].body.decode()
    usage = running.ended[0].usage
    assert usage is not None
    # 100 tokens in and 20 out at 3 and 15 dollars a million: of one turn, not of two.
    assert usage.cost_usd == pytest.approx(0.0006)


async def test_a_session_that_is_gone_is_replaced_and_people_are_told_once(claude: ClaudeHome) -> None:
    claude.model.play(Rule(steps=(Say(text="Hello."),)))
    session = "0b0e5a2e-98a4-4d6c-8a3e-000000000000"

    async with claude.running() as running:
        await running.give(asked("hello", session_id=session))
        await running.until_ended(1)
        claude.home.follow_up("0001.json", "again", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)

    assert running.texts == [GONE, "Hello.", "Hello."]
    assert session_of(running) != session


async def test_a_transcript_that_is_no_conversation_is_replaced_too(claude: ClaudeHome) -> None:
    _, session = await once(claude, "hello")
    claude.transcripts[0].write_text('{"type": "summary"}\nnot JSON at all\n')
    claude.model.play(Rule(steps=(Say(text="Hello."),)))

    texts, fresh = await once(claude, "hello again", session_id=session)

    assert texts == [GONE, "Hello."]
    assert fresh != session


async def twice(claude: ClaudeHome, **more: object) -> tuple[list[str], list[str]]:
    """One run with two turns: what it said in the second, and its sessions."""
    async with claude.running() as running:
        await running.give(asked("my cat is called Momo", **more))  # type: ignore[arg-type]  # as `asked` takes them
        await running.until_ended(1)
        said = len(running.texts)
        claude.home.follow_up("0001.json", "what is my cat called?", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)
        assert [turn.status for turn in running.ended] == [TurnStatus.SUCCESS] * 2
        sessions = [item.session_id for item in running.items if isinstance(item, SessionNamed)]
        return running.texts[said:], sessions


async def test_i2_a_session_over_its_size_is_replaced_by_one_with_the_models_summary(
    claude: ClaudeHome,
) -> None:
    claude.model.play(
        Rule(text="Our conversation ends here", steps=(Say(text="They have a cat named Momo."),)),
        Rule(text="what is my cat", steps=(Say(text="Momo."),)),
    )

    texts, sessions = await twice(claude, options={"session_bytes": 1})

    assert texts == [SHORTENED, "Momo."]
    assert len(set(sessions)) == 2
    last = claude.model.model_calls[-1].body.decode()
    assert "They have a cat named Momo." in last
    assert "my cat is called Momo" not in last


async def test_where_the_model_gives_no_summary_the_last_words_stand_in(claude: ClaudeHome) -> None:
    claude.model.play(
        Rule(text="Our conversation ends here", steps=(Fail(status=529),)),
        Rule(text="what is my cat", steps=(Say(text="Momo."),)),
    )

    texts, sessions = await twice(claude, options={"session_bytes": 1})

    assert texts == [SHORTENED, "Momo."]
    assert len(set(sessions)) == 2
    assert "my cat is called Momo" in claude.model.model_calls[-1].body.decode()


async def test_i6_a_conversation_that_is_too_long_for_the_model_goes_on_in_a_fresh_one(
    claude: ClaudeHome,
) -> None:
    claude.model.play(
        Rule(text="<earlier-conversation>", steps=(Say(text="Momo."),)),
        Rule(text="my cat is called", steps=(Say(text="A fine name."),)),
        Rule(steps=(Fail(is_context_overflow=True),)),
    )

    texts, sessions = await twice(claude)

    assert texts == [SHORTENED, "Momo."]
    assert len(set(sessions)) == 2
    last = claude.model.model_calls[-1].body.decode()
    assert "my cat is called Momo" in last
    assert "what is my cat called?" in last


async def test_a_message_that_is_too_long_by_itself_fails_with_that_reason(claude: ClaudeHome) -> None:
    claude.model.play(Rule(steps=(Fail(is_context_overflow=True),)))

    async with claude.running() as running:
        await running.give(asked("a whole book"))
        await running.until_ended(1)

    error = running.ended[0].error
    assert error is not None
    assert error.code == "CONTEXT_TOO_LONG"
    assert running.texts == []


async def test_i4_old_transcripts_are_removed_beyond_the_number_that_is_kept(claude: ClaudeHome) -> None:
    directory = claude.configuration / "projects" / "older"
    directory.mkdir(parents=True)
    for age_s in (10, 20, 30):
        (directory / f"old-{age_s}.jsonl").touch()
        os.utime(directory / f"old-{age_s}.jsonl", (1_700_000_000 - age_s,) * 2)
    (directory / "old-30").mkdir()

    _, session = await once(claude, "hello", options={"kept_sessions": 1})

    assert sorted(path.stem for path in claude.transcripts) == sorted(["old-10", session])
    assert not (directory / "old-30").exists()
