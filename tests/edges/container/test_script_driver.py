"""What the script driver plays, in a real agent runner."""

import json

import pytest

from orchestrator.contracts.wire.container_io import (
    AgentDefinition,
    AgentLog,
    Progress,
    ToolUsed,
    TurnStatus,
    WaitingInput,
)
from orchestrator.contracts.wire.framing import LogLine
from tests.edges.container.agent_process import Home, agent, eventually, given


async def test_without_a_scenario_the_last_message_is_echoed_and_yaml_is_not_loaded(home: Home) -> None:
    (home.root / "yaml.py").write_text("raise SystemExit('yaml was imported')")

    async with agent(
        home, extra={"PYTHONPATH": f"{home.root}:{home.environment()['PYTHONPATH']}"}
    ) as running:
        await running.give(given("one", "two"))
        await running.until(lambda: running.ended)

    assert running.texts == ["re: two"]


async def test_turns_are_used_up_then_rules_then_the_default(home: Home) -> None:
    home.play(
        {
            "turns": [[{"say": "turn {turn}"}]],
            "rules": [
                {"match": "WEATHER", "steps": [{"say": "sunny"}]},
                {"regex": r"^\d+$", "steps": [{"say": "a number"}]},
            ],
            "default": [{"say": "else {text}"}],
        }
    )
    async with agent(home) as running:
        await running.give(given("weather"))
        for n, text in enumerate(["the weather?", "42", "4 2"], start=2):
            await running.until_ended(n - 1)
            home.follow_up(f"{n}.json", text, ids=[f"m{n}"], turn_id=f"turn-{n}")
        await running.until_ended(4)

    assert running.texts == ["turn 1", "sunny", "a number", "else 4 2"]


async def test_a_rule_with_a_limit_counts_over_several_runs(home: Home) -> None:
    home.play({"rules": [{"match": "one", "times": 1, "steps": [{"exit": 3}]}], "default": [{"say": "fine"}]})
    async with agent(home) as first:
        await first.give(given("one"))
        first_code = await first.exit_code()

    async with agent(home) as second:
        await second.give(given("one"))
        await second.until(lambda: second.ended)

    assert first_code == 3
    assert second.texts == ["fine"]


async def test_a_scenario_may_be_named_by_the_definition(home: Home) -> None:
    (home.workspace / "other.yaml").write_text("default: [{say: other}]")
    definition = AgentDefinition(driver="script", options={"scenario": "other.yaml"})
    async with agent(home) as running:
        plain = given("one")
        fields = {name: getattr(plain, name) for name in plain.__slots__}
        await running.give(type(plain)(**(fields | {"agent": definition})))
        await running.until(lambda: running.ended)

    assert running.texts == ["other"]


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        pytest.param("default: [{say: hello}", "line 1", id="not YAML"),
        pytest.param("default:\n- sya: hello", r"default[0]: unknown step 'sya'", id="unknown step"),
    ],
)
async def test_a_broken_scenario_fails_the_turn_and_says_where(home: Home, scenario: str, words: str) -> None:
    (home.workspace / "scenario.yaml").write_text(scenario)

    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.ended)

    ended = running.ended[0]
    assert ended.status is TurnStatus.ERROR
    assert ended.error is not None
    assert words in ended.error.message


async def test_events_come_in_the_order_of_their_steps(home: Home) -> None:
    home.play(
        {
            "default": [
                {"tool": {"name": "search", "status": "running"}},
                {"progress": 50},
                {"event": {"type": "waiting_input", "question": "sure?", "options": ["yes", "no"]}},
            ]
        }
    )
    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.ended)

    assert running.items[2:-1] == [
        ToolUsed(name="search", status="running"),
        Progress(progress=50.0),
        WaitingInput(question="sure?", options=("yes", "no")),
    ]


@pytest.mark.parametrize("newlines", [False, True], ids=["on one line", "in many lines"])
async def test_a_flood_is_bounded_noise_for_the_reader_and_the_turn_goes_on(
    home: Home, newlines: bool
) -> None:
    home.play({"default": [{"flood": {"bytes": 5_000_000, "newlines": newlines}}, {"say": "after"}]})

    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.ended)

    assert running.texts == ["after"]
    noise = [item for item in running.items if isinstance(item, LogLine)]
    assert len(noise) == (50_000 if newlines else 1)


async def test_a_flood_of_standard_error_stays_there(home: Home) -> None:
    home.play({"default": [{"flood": {"bytes": 300_000, "stream": "stderr"}}, {"stderr": "last"}]})

    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.ended)
        await running.until(lambda: "last" in running.stderr)

    assert running.stderr.count("x") == 300_000


async def test_a_message_is_sent_by_request_and_the_reply_is_logged(home: Home) -> None:
    home.play({"default": [{"send_message": "on my own"}, {"say": "done"}]})
    async with agent(home) as running:
        await running.give(given("one"))
        await eventually(lambda: home.requests("messages"))
        [path] = home.requests("messages")
        request = json.loads(path.read_text())
        reply = {"requestId": request["requestId"], "ok": True}
        (home.box / "replies" / "part").write_text(json.dumps(reply))
        (home.box / "replies" / "part").rename(home.box / "replies" / f"{request['requestId']}.json")
        await running.until(lambda: running.ended)

    assert (request["chatJid"], request["text"]) == ("console:family", "on my own")
    assert any(isinstance(item, AgentLog) and "ok=True" in item.message for item in running.items)


async def test_a_request_may_be_any_file_at_all(home: Home) -> None:
    home.play({"default": [{"request": {"directory": "tasks", "name": "0001", "body": "{broken"}}]})

    async with agent(home) as running:
        await running.give(given("one"))
        await running.until(lambda: running.ended)

    assert (home.box / "tasks" / "0001.json").read_text() == "{broken"
