"""What people in a group see: who wakes the assistant, what it is given, and its manners.

Source: contracts.md section 6.
"""

from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.home_on_disk import ECHO, HomeOnDisk
from tests.support.raw_agents import raw_agent

WAITS = {"rules": [{"match": "wait", "steps": [{"wait_for_file": "go"}, {"say": "waited"}]}], **ECHO}
BOB = {"sender_jid": "file:bob", "sender_name": "Bob"}
OPERATOR = {"sender_jid": "file:olga", "sender_name": "Olga"}


def go(home: HomeOnDisk, folder: str = "kitchen") -> None:
    """Let the turn go on that waits for it."""
    (home.workspace(folder) / "go").touch()


async def in_a_turn(home: HomeOnDisk, message: str) -> None:
    """Wait until an agent has taken the message into a turn."""
    query = "SELECT 1 FROM messages WHERE message_id = ? AND is_in_turn = 1"
    await eventually(lambda: home.rows(query, message), what=home.story)


async def test_chatter_wakes_nobody_and_is_the_context_of_the_next_trigger(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(ECHO)

    async with home.running():
        home.say("the milk is out")
        home.say("and the butter")
        home.ask("what is missing?")
        await home.quiet()

    assert home.texts() == ["re: the milk is out\nand the butter\n@Assistant what is missing?"]
    assert len(home.rows("SELECT 1 FROM turns WHERE status != 'joined'")) == 1


async def test_a_group_that_requires_no_trigger_is_answered_at_every_message(home: HomeOnDisk) -> None:
    await home.add_group(requires_trigger=False)
    home.play(ECHO)

    async with home.running():
        home.say("hello")
        await home.said("re: hello")
        await home.quiet()


async def test_d_3_the_cap_passes_over_chatter_with_a_count_and_over_no_trigger(home: HomeOnDisk) -> None:
    """Case D-3."""
    await home.add_group("busy")
    await home.add_group()
    home.set(queue__max_running=1, queue__batch_max_messages=3)
    (home.workspace("busy") / "hold").touch()

    async with home.running(command=raw_agent("tells_its_prompt")):
        await in_a_turn(home, home.ask("hold", chat="file:busy"))
        first = home.ask("first")
        chatter = [home.say(f"chatter {number}") for number in range(5)]
        last = home.ask("last")
        await eventually(lambda: last in home.statuses())
        (home.workspace("busy") / "hold").unlink()
        await home.quiet()

    [prompt] = home.texts()
    assert '<omitted count="3"/>' in prompt
    assert [f"chatter {n}" in prompt for n in range(5)] == [False, False, False, True, True]
    assert "@Assistant first" in prompt
    assert "@Assistant last" in prompt
    skipped, shown = chatter[:3], [first, *chatter[3:], last]
    assert home.statuses() == dict.fromkeys(skipped, "skipped") | dict.fromkeys(shown, "settled")


async def test_a6_e14_three_messages_in_one_warm_container_are_three_answers(home: HomeOnDisk) -> None:
    """Cases A6, E14: an agent that lives is used again, and what its start took is in the log."""
    await home.add_group()
    home.play(ECHO)

    async with home.running():
        for count, word in enumerate(("one", "two", "three"), start=1):
            home.ask(word)
            await eventually(lambda count=count: len(home.texts()) == count, what=home.story)
        await home.quiet()

    assert home.texts() == [f"re: @Assistant {word}" for word in ("one", "two", "three")]
    (running,) = home.logs("agent.running")
    assert running["start_ms"] > 0
    assert len(home.rows("SELECT 1 FROM agents")) == 1


async def test_what_comes_in_a_turn_joins_it_where_the_driver_can(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play({"join": True, "turns": [[{"wait_for_join": 20}, {"say": "with {joined}"}]]})

    async with home.running():
        await in_a_turn(home, home.ask("one"))
        home.ask("two")
        await home.said("with @Assistant two")
        await home.quiet()

    assert set(home.statuses().values()) == {"settled"}
    assert len(home.rows("SELECT 1 FROM turns WHERE status != 'joined'")) == 1


async def test_chatter_alone_does_not_disturb_a_running_turn(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(WAITS)

    async with home.running():
        await in_a_turn(home, home.ask("wait"))
        chatter = home.say("just talking")
        await eventually(lambda: chatter in home.statuses())
        go(home)
        await home.said("waited")
        await home.quiet()

    assert home.statuses()[chatter] == "pending"


async def test_b8_a_redelivered_message_is_one_row_and_one_answer(home: HomeOnDisk) -> None:
    """Case B8."""
    await home.add_group()
    home.play(ECHO)

    async with home.running():
        home.ask("one", message_id="same")
        home.ask("one", message_id="same")
        await home.quiet()
        home.ask("one", message_id="same")
        await home.quiet()

    assert home.texts() == ["re: @Assistant one"]
    assert list(home.statuses()) == ["same"]


async def test_b7_an_own_text_that_comes_back_wakes_nobody(home: HomeOnDisk) -> None:
    """Case B7."""
    await home.add_group(requires_trigger=False)
    home.play(ECHO)

    async with home.running():
        home.say("hello")
        await home.quiet()
        [row] = home.rows("SELECT channel_message_id FROM outbox")
        home.say("re: hello", message_id=row["channel_message_id"], is_from_me=True)
        await home.quiet()

    assert home.texts() == ["re: hello"]
    assert list(home.statuses()) == ["m1"]


async def test_a18_a_chat_that_is_not_registered_is_told_of_in_the_log_once(home: HomeOnDisk) -> None:
    """Case A18."""
    async with home.running():
        home.ask("hello", chat="file:unknown")
        home.ask("hello?", chat="file:unknown")
        await home.quiet()

    [warning] = home.logs("chat.not_registered")
    assert warning["chat"] == "file:unknown"
    assert "dovecote group add" in warning["suggestion"]


async def test_who_asked_may_retry_what_broke_off_and_others_may_not(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(
        {"rules": [{"match": "one", "times": 1, "steps": [{"say": "half"}, {"crash": "KILL"}]}], **ECHO}
    )

    async with home.running():
        message = home.ask("one")
        await home.said("half", say(Say.PARTIAL, "en"))
        await home.quiet()
        home.say("/retry", **BOB)
        await home.said("half", say(Say.PARTIAL, "en"), say(Say.NOTHING_TO_RETRY, "en"))
        home.say("/retry")
        await eventually(lambda: len(home.texts()) == 5, what=home.story)
        await home.quiet()

    assert home.texts()[3:] == [say(Say.RETRYING, "en"), "re: @Assistant one"]
    assert home.statuses()[message] == "settled"


async def test_an_operator_may_retry_what_another_asked(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(assistant__operators=[OPERATOR["sender_jid"]])
    home.play(
        {"rules": [{"match": "one", "times": 1, "steps": [{"say": "half"}, {"crash": "KILL"}]}], **ECHO}
    )

    async with home.running():
        home.ask("one")
        await home.said("half", say(Say.PARTIAL, "en"))
        await home.quiet()
        home.say("/retry", **OPERATOR)
        await eventually(lambda: "re: @Assistant one" in home.texts(), what=home.story)
        await home.quiet()


async def test_who_asked_may_stop_it_and_another_may_not(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(WAITS)

    async with home.running():
        message = home.ask("wait")
        await in_a_turn(home, message)
        home.say("/stop", **BOB)
        await home.said(say(Say.NOT_YOURS_TO_STOP, "en"))
        still = home.statuses()[message]
        home.say("/stop")
        await home.said(say(Say.NOT_YOURS_TO_STOP, "en"), say(Say.STOPPED, "en"))
        await home.quiet()

    assert still == "dispatched"
    assert home.statuses()[message] == "failed"


async def test_an_operator_may_stop_what_another_asked(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(assistant__operators=[OPERATOR["sender_jid"]])
    home.play(WAITS)

    async with home.running():
        await in_a_turn(home, home.ask("wait"))
        home.say("/stop", **OPERATOR)
        await home.said(say(Say.STOPPED, "en"))
        home.say("/stop", **OPERATOR)
        await home.said(say(Say.STOPPED, "en"), say(Say.NOTHING_TO_STOP, "en"))
        await home.quiet()
