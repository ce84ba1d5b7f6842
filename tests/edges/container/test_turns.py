"""Turns of a real agent runner: their paper trail, follow-ups, and how they end."""

import json
import os

import pytest

from orchestrator.contracts.wire.container_io import AgentLog, TurnError, TurnStatus, Usage
from orchestrator.contracts.wire.framing import Text
from tests.edges.container.agent_process import Home, agent, eventually, given, message_xml


async def test_the_ack_file_comes_before_each_event_and_the_inputs_go_in_between(home: Home) -> None:
    home.play({"turns": [[{"say": "first"}], [{"wait_for_file": "go"}, {"say": "second"}]]})
    async with agent(home) as running:
        await running.give(given("one"))
        await running.until_ended(1)
        first_ack = home.ack("turn-1")
        home.follow_up("0001.json", "two", ids=["m2"], turn_id="turn-2")
        await running.until(lambda: len(running.started) == 2)
        started_ack, lies_in_input = home.ack("turn-2"), home.input_names()

        (home.workspace / "go").touch()
        await running.until_ended(2)
        ended_ack, left_in_input = home.ack("turn-2"), home.input_names()

    assert (first_ack["type"], first_ack["status"], first_ack["outputs"]) == ("turn_ended", "success", 1)
    assert started_ack == {"turnId": "turn-2", "inputs": ["m2"], "status": "started"}
    assert lies_in_input == ["0001.json"]
    assert (ended_ack["type"], ended_ack["inputs"], ended_ack["outputs"]) == ("turn_ended", ["m2"], 1)
    assert left_in_input == []


async def test_three_messages_in_one_warm_container_give_three_answers(home: Home) -> None:
    async with agent(home) as running:
        await running.give(given("one"))
        await running.until_ended(1)
        home.follow_up("0001.json", "two", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)
        home.follow_up("0002.json", "three", ids=["m3"], turn_id="turn-3")
        await running.until_ended(3)

    assert running.texts == ["re: one", "re: two", "re: three"]
    assert [ended.turn_id for ended in running.ended] == ["turn-1", "turn-2", "turn-3"]
    assert [ended.inputs for ended in running.ended] == [("m1",), ("m2",), ("m3",)]


async def test_c3_follow_ups_that_come_during_a_turn_wait_and_keep_their_order(home: Home) -> None:
    """Case C3."""
    home.play({"turns": [[{"wait_for_file": "go"}, {"say": "first"}]]})
    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.started)
        for n in (3, 2):
            home.follow_up(f"000{n}.json", f"text {n}", ids=[f"m{n}"], turn_id=f"turn-{n}")

        (home.workspace / "go").touch()
        await running.until_ended(3)

    assert running.texts[0] == "first"
    assert sorted(running.texts[1:]) == ["re: text 2", "re: text 3"]
    assert [len(ended.inputs) for ended in running.ended] == [1, 1, 1]


async def test_follow_ups_found_together_are_taken_in_name_order(home: Home) -> None:
    for n in (3, 1, 2):
        home.follow_up(f"000{n}.json", f"text {n}", ids=[f"f{n}"], turn_id=f"turn-f{n}")

    async with agent(home) as running:
        await running.give(given("zero"))
        await running.until_ended(4)

    assert running.texts == ["re: zero", "re: text 1", "re: text 2", "re: text 3"]


async def test_a_joining_follow_up_is_on_file_and_announced_before_the_driver_hears_it(home: Home) -> None:
    home.play({"join": True, "turns": [[{"wait_for_join": 15}, {"say": "heard {joined}"}]]})
    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.started)

        home.follow_up("0001.json", "and two", ids=["m2"], turn_id="turn-2")
        await running.until(lambda: running.ended)

    assert running.texts == ["heard and two"]
    assert [(event.turn_id, event.inputs) for event in running.started] == [
        ("turn-1", ("m1",)),
        ("turn-1", ("m1", "m2")),
    ]
    announced = running.items.index(running.started[1])
    assert announced < running.items.index(Text(text="heard and two"))
    assert [(event.turn_id, event.inputs) for event in running.ended] == [("turn-1", ("m1", "m2"))]
    assert home.input_names() == []


@pytest.mark.parametrize("poll_only", [False, True], ids=["with kernel events", "by polling alone"])
async def test_both_spellings_of_a_follow_up_are_read(home: Home, poll_only: bool) -> None:
    extra = {"DOVECOTE_WATCH": "poll"} if poll_only else {}
    async with agent(home, extra=extra) as running:
        await running.give(given("one"))
        await running.until_ended(1)
        home.drop("0001.json", {"type": "message", "text": message_xml("older", message_id="a")})
        await running.until_ended(2)
        home.drop("0002.json", {"type": "message", "content": "no XML at all"})
        await running.until_ended(3)

    assert running.texts == ["re: one", "re: older", "re: no XML at all"]
    assert running.ended[1].inputs == ("a",)


async def test_what_is_no_input_stays_where_it_is_and_disturbs_no_other(home: Home) -> None:
    async with agent(home) as running:
        await running.give(given("one"))
        await running.until_ended(1)
        directory = home.box / "input"
        home.drop("0001.json", "{broken")
        home.drop("0002.json", {"type": "message", "content": 5})
        os.mkfifo(directory / "0003.json")
        (directory / "0004.json").symlink_to("/etc/passwd")
        (directory / "0005.json").mkdir()
        (directory / ".0006.json.tmp").write_text("half")
        (directory / "note.txt").write_text("no input")

        home.follow_up("0009.json", "two", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)
        logs = [item.message for item in running.items if isinstance(item, AgentLog)]
        left = home.input_names()

    assert running.texts == ["re: one", "re: two"]
    assert {name[:4] for name in left if name.startswith("000")} == {f"000{n}" for n in range(1, 6)}
    assert ".0006.json.tmp" in left
    assert len(logs) == 5, "each is told once"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("0002-close.json", json.dumps({"type": "_close"}), id="document"),
        pytest.param("_close", "", id="NanoClaw 1.x"),
        pytest.param("_close", json.dumps({"type": "_close"}), id="1.x with content"),
    ],
)
async def test_a_wish_to_close_finishes_the_turn_and_what_came_before_it(
    home: Home, name: str, content: str
) -> None:
    home.play({"turns": [[{"wait_for_file": "go"}, {"say": "finished"}]]})
    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.started)
        home.follow_up("0001.json", "two", ids=["m2"], turn_id="turn-2")
        home.drop(name, content)
        await eventually(lambda: name not in home.input_names())
        home.follow_up("0003.json", "too late", ids=["m3"], turn_id="turn-3")

        (home.workspace / "go").touch()
        code = await running.exit_code()

    assert code == 0
    assert running.texts == ["finished", "re: two"]
    assert home.input_names() == ["0003.json"], "the host finds it and takes it back"


@pytest.mark.parametrize("name", ["0001-close.json", "_close"])
async def test_a_wish_to_close_that_was_there_before_the_agent_is_not_meant_for_it(
    home: Home, name: str
) -> None:
    home.drop(name, json.dumps({"type": "_close"}))

    async with agent(home) as running:
        await running.give(given("one"))
        await running.until_ended(1)
        home.follow_up("0002.json", "two", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)

    assert running.texts == ["re: one", "re: two"]


async def test_an_exception_in_a_driver_ends_only_its_turn(home: Home) -> None:
    home.play({"turns": [[{"say": "so far"}, {"raise": "out of tea"}]]})
    async with agent(home) as running:
        await running.give(given("one"))
        await running.until_ended(1)
        home.follow_up("0001.json", "two", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)

    failed, fine = running.ended
    assert (failed.status, failed.outputs) == (TurnStatus.ERROR, 1)
    assert failed.error == TurnError(code="AGENT_ERROR", message="RuntimeError: out of tea")
    assert "Traceback" in running.stderr
    assert fine.status is TurnStatus.SUCCESS


async def test_a_providers_failure_and_the_usage_are_passed_on_as_the_driver_says_them(home: Home) -> None:
    overloaded = {"fail": {"code": "PROVIDER_OVERLOADED", "message": "529"}}
    home.play({"turns": [[{"usage": {"input_tokens": 7, "cost_usd": 0.5}}], [overloaded, {"say": "never"}]]})

    async with agent(home) as running:
        await running.give(given("one"))
        await running.until_ended(1)
        home.follow_up("0001.json", "two", ids=["m2"], turn_id="turn-2")
        await running.until_ended(2)

    assert running.ended[0].usage == Usage(input_tokens=7, cost_usd=0.5)
    assert running.ended[1].error == TurnError(code="PROVIDER_OVERLOADED", message="529")
    assert running.texts == []


async def test_half_a_character_in_a_message_disturbs_nothing_on_the_way_back(home: Home) -> None:
    home.play({"default": [{"say": "{text}"}, {"raise": "{text}"}]})
    async with agent(home) as running:
        await running.give(given("x"))
        await running.until_ended(1)
        home.drop("0001.json", r'{"type": "message", "content": "half a \ud83d sign", "ids": ["\ud83d"]}')
        await running.until_ended(2)

    assert running.texts[1] == "half a \ufffd sign"
    assert running.ended[1].inputs == ("\ufffd",)


async def test_an_id_of_a_turn_that_is_no_file_name_is_not_used_as_one(home: Home) -> None:
    async with agent(home) as running:
        await running.give(given("one", turn_id="../../evil"))
        await running.until(lambda: running.ended)

    assert os.listdir(home.box / "acks") == [f"{running.ended[0].turn_id}.json"]
    assert not list(home.root.glob("*evil*"))
