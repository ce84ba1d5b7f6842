"""What the built-in driver answers, in a real agent runner."""

import json
import re
from collections.abc import Sequence

import pytest

from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.wire.boxes import FollowUp
from orchestrator.contracts.wire.codec import to_json
from orchestrator.contracts.wire.container_io import Progress, TurnStatus
from tests.edges.container.agent_process import Home, agent, given, message_xml


async def ask(home: Home, *texts: str, is_main: bool = True) -> list[str]:
    """The answers to one batch of messages."""
    async with agent(home) as running:
        await running.give(given(*texts, driver="builtin", is_main=is_main))
        await running.until(lambda: running.ended)
        assert running.ended[0].status is TurnStatus.SUCCESS
        assert running.ended[0].outputs == len(running.texts)
        return running.texts


async def test_three_messages_get_three_right_answers_and_the_third_names_milk(home: Home) -> None:
    answers = await ask(home, "@Assistant what time is it?", "@Assistant remember milk", "@Assistant recall")

    assert len(answers) == 3
    assert re.search(r"\b\d\d:\d\d\b.*Europe/Berlin", answers[0])
    assert "milk" in answers[1]
    assert "milk" in answers[2]


async def test_what_was_remembered_outlives_the_agent(home: Home) -> None:
    await ask(home, "remember to buy milk")

    answers = await ask(home, "what do you remember?")

    assert "buy milk" in answers[0]
    assert "buy milk" in (home.workspace / "MEMORY.md").read_text()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(["echo hello"], ["hello"], id="echo"),
        pytest.param(["echo  two\n  lines "], ["two\n  lines"], id="echo keeps lines"),
        pytest.param(
            ["echo OUTPUT_END_MARKER\n\\OUTPUT_START_MARKER"],
            ["OUTPUT_END_MARKER\n\\OUTPUT_START_MARKER"],
            id="echo of markers",
        ),
        pytest.param(
            ["recall"], ["I don't remember anything yet. Tell me with `remember …`."], id="nothing yet"
        ),
        pytest.param(["thanks!"], ["You're welcome! 😊"], id="thanks"),
        pytest.param(["files"], ["Our workspace is empty so far."], id="no files"),
        pytest.param(
            ["remember a", "forget a", "recall a"],
            [
                "Got it, I'll remember: **a**",
                "Done, I forgot: **a**",
                "I don't remember anything yet. Tell me with `remember …`.",
            ],
            id="forget",
        ),
        pytest.param(
            ["remember red milk", "remember milk", "forget milk", "recall"],
            [
                "Got it, I'll remember: **red milk**",
                "Got it, I'll remember: **milk**",
                "Done, I forgot: **milk**",
                "This is what I remember:\n- red milk",
            ],
            id="forget takes the exact note first",
        ),
        pytest.param(
            ["remember red milk", "remember old milk", "forget milk", "forget everything"],
            [
                "Got it, I'll remember: **red milk**",
                "Got it, I'll remember: **old milk**",
                "Which one? Say it in full:\n- red milk\n- old milk",
                "Done, I forgot everything (2 notes).",
            ],
            id="forget asks when it is not clear",
        ),
        pytest.param(
            ["remember", "milk", "forget", "milk", "echo", "hello"],
            [
                "What shall I remember? For example: `remember buy milk`",
                "Got it, I'll remember: **milk**",
                "What shall I forget? For example: `forget milk`, or `forget everything`",
                "Done, I forgot: **milk**",
                "Echo what? For example: `echo hello`",
                "hello",
            ],
            id="what was asked back is answered by the next message",
        ),
        pytest.param(
            ["remember", "never mind", "recall"],
            [
                "What shall I remember? For example: `remember buy milk`",
                "Okay, never mind.",
                "I don't remember anything yet. Tell me with `remember …`.",
            ],
            id="a question is left",
        ),
        pytest.param(
            ["remember milk", "recall tea"],
            ["Got it, I'll remember: **milk**", "I remember nothing about **tea**."],
            id="recall of something else",
        ),
    ],
)
async def test_a_plain_sentence_gets_its_answer(
    home: Home, texts: Sequence[str], expected: Sequence[str]
) -> None:
    assert await ask(home, *texts) == list(expected)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        pytest.param("help", "remember buy milk", id="help"),
        pytest.param("", "help", id="only its name"),
        pytest.param("sing a song", "help", id="something it can't do"),
        pytest.param("remember", "remember buy milk", id="remember what"),
        pytest.param("forget", "forget milk", id="forget what"),
        pytest.param("echo", "echo hello", id="echo what"),
    ],
)
async def test_a_question_it_cannot_answer_gets_a_sentence_that_helps(
    home: Home, text: str, hint: str
) -> None:
    [answer] = await ask(home, f"@Assistant {text}")

    assert hint in answer


async def test_it_counts_and_tells_how_far_it_is(home: Home) -> None:
    async with agent(home) as running:
        await running.give(given("count to 2", driver="builtin", is_main=True))
        await running.until_ended(1)

        progress = [(each.progress, each.description) for each in running.items if isinstance(each, Progress)]
        assert running.texts == ["I counted to 2."]
        assert progress == [(50, "counted to 1"), (100, "counted to 2")]


@pytest.mark.parametrize("text", ["count to 0", "count to 3601", "count to 999999999"])
async def test_it_counts_no_further_than_anybody_would_wait(home: Home, text: str) -> None:
    [answer] = await ask(home, text)

    assert "from 1 to 3,600" in answer


async def test_exactly_the_triggers_of_a_batch_are_answered_each_by_a_pair(home: Home) -> None:
    texts = ["echo chatter", "hey @Gardener echo one", "@Gardener, echo quoted by a guest", "echo reply"]
    options = {"trigger": "@Gardener", "trigger_position": "anywhere"}

    async with agent(home) as running:
        await running.give(given(*texts, driver="builtin", triggers=["m2", "m4"], options=options))
        await running.until_ended(1)

        assert running.texts == ["one", "reply"]
        assert (running.ended[0].inputs, running.ended[0].outputs) == (("m1", "m2", "m3", "m4"), 2)


async def test_the_context_of_the_main_chat_is_not_answered(home: Home) -> None:
    async with agent(home) as running:
        await running.give(
            given("echo a bot's words", "echo one", driver="builtin", is_main=True, triggers=["m2"])
        )
        await running.until_ended(1)

        assert running.texts == ["one"]


async def test_exactly_the_triggers_of_a_follow_up_are_answered(home: Home) -> None:
    later = [("m2", "echo chatter"), ("m3", "@Foo echo two"), ("m4", "echo more"), ("m5", "@Bar: echo three")]
    xml = "\n".join(message_xml(text, message_id=message_id) for message_id, text in later)
    follow_up = FollowUp(
        content=xml, text=xml, ids=("m2", "m3", "m4", "m5"), triggers=("m3", "m5"), turn_id=TurnId("turn-2")
    )

    async with agent(home) as running:
        await running.give(given("@Foo echo one", driver="builtin", triggers=["m1"]))
        home.drop("1-a.json", to_json(follow_up))
        await running.until_ended(2)

        assert running.texts == ["one", "two", "three"]
        assert running.ended[1].inputs == ("m2", "m3", "m4", "m5")


async def test_an_older_host_is_answered_by_what_is_addressed_in_a_group(home: Home) -> None:
    texts = ["chatter", "@assistant: echo one", "@Assistants echo no", "Assistant, echo two"]

    answers = await ask(home, *texts, is_main=False)

    assert answers == ["one", "two"]


async def test_chatter_of_an_older_host_is_left_alone(home: Home) -> None:
    assert await ask(home, "echo one", "echo two", is_main=False) == []


async def test_an_agent_of_the_1x_dialect_answers_what_is_addressed_to_it(home: Home) -> None:
    older = {
        "prompt": '<messages><message sender="A" time="Jan 1">@Assistant echo one</message>'
        '<message sender="B" time="Jan 1">echo no</message></messages>',
        "groupFolder": "family",
        "chatJid": "1@g.us",
        "assistantName": "Assistant",
        "isScheduledTask": False,
    }

    async with agent(home) as running:
        await running.give(json.dumps(older).encode() + b"\n")
        await running.until_ended(1)
        home.drop(
            "1-a.json", {"type": "message", "text": '<message sender="A">@Assistant echo two</message>'}
        )
        await running.until_ended(2)

        assert running.texts == ["one", "two"]


async def test_the_files_of_the_workspace_are_listed(home: Home) -> None:
    (home.workspace / "notes").mkdir()
    (home.workspace / "notes" / "a`b.txt").write_text("x" * 1500)
    (home.workspace / "link").symlink_to("/etc/passwd")

    [answer] = await ask(home, "show me the files")

    assert answer == "In our workspace:\n- `notes/a'b.txt` (1.5 kB)"


async def test_a_hostile_memory_is_refused_in_a_sentence(home: Home) -> None:
    secret = home.root / "secret"
    secret.write_text("- the secret\n")
    (home.workspace / "MEMORY.md").symlink_to(secret)

    answers = await ask(home, "recall", "remember milk", "echo still here")

    assert all("not a plain file" in answer for answer in answers[:2])
    assert "the secret" not in answers[0]
    assert answers[2] == "still here"
    assert secret.read_text() == "- the secret\n"


async def test_a_memory_full_of_garbage_is_no_obstacle(home: Home) -> None:
    (home.workspace / "MEMORY.md").write_bytes(b"\xff\x00- \n- caf\xe9\n" + b"x" * 1000)

    answers = await ask(home, "remember milk", "recall")

    assert answers[1].startswith("This is what I remember:\n- caf")
    assert answers[1].endswith("- milk")
