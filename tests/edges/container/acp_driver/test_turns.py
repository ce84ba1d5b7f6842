"""What people see of a turn whose program speaks the protocol."""

import pytest

from container.drivers.acp_session import STARTUP_PROMPT
from orchestrator.contracts.wire.container_io import Progress, ToolUsed, TurnStatus, Usage
from tests.edges.container.acp_driver.bench import bench
from tests.edges.container.agent_process import Home


async def test_pieces_of_an_answer_become_one_text_in_their_order(home: Home) -> None:
    async with bench(home, {"turns": [[{"many": 300}]]}) as running:
        result = await running.turn()

    assert result.status is TurnStatus.SUCCESS
    assert running.texts == [" ".join(str(number) for number in range(300))]


async def test_a_text_before_a_tool_is_a_message_of_its_own_and_the_tool_is_told(home: Home) -> None:
    steps = [
        {"say": "I look."},
        {"tool": {"title": "mcp__lab__add", "kind": "other", "status": "in_progress"}},
        {"tool_update": {"status": "completed"}},
        {"say": "It is 42."},
    ]
    async with bench(home, {"turns": [steps]}) as running:
        await running.turn()

    assert running.texts == ["I look.", "It is 42."]
    tools = [(item.name, item.status) for item in running.items if isinstance(item, ToolUsed)]
    assert tools == [("mcp__lab__add", "running"), ("mcp__lab__add", "done")]


async def test_a_command_line_never_becomes_the_name_of_a_tool(home: Home) -> None:
    steps = [{"tool": {"title": "`cat secret notes`", "kind": "execute", "status": "failed"}}]
    async with bench(home, {"turns": [steps]}) as running:
        await running.turn()

    tools = [(item.name, item.status) for item in running.items if isinstance(item, ToolUsed)]
    assert tools == [("execute", "failed")]


async def test_a_plan_tells_how_far_the_work_is(home: Home) -> None:
    plan = [["dig", "completed"], ["sow", "in_progress"], ["water", "pending"], ["wait", "pending"]]
    async with bench(home, {"turns": [[{"plan": plan}, {"say": "done"}]]}) as running:
        await running.turn()

    told = [(item.progress, item.description) for item in running.items if isinstance(item, Progress)]
    assert told == [(25.0, "sow")]


async def test_the_startup_prompt_goes_with_the_first_prompt_only_and_is_marked(home: Home) -> None:
    async with bench(home, instructions="You are a gardener.") as running:
        await running.turn("first")
        await running.turn("second")

    first, second = running.records("prompt")
    assert first["texts"][0] == "You are a gardener."
    assert "first" in first["texts"][1]
    assert first["meta"] == {STARTUP_PROMPT: True}
    assert len(second["texts"]) == 1
    assert "second" in second["texts"][0]
    assert second["meta"] == {}


async def test_what_a_turn_used_is_told_and_a_sum_over_the_session_is_taken_apart(home: Home) -> None:
    turns = [
        [{"say": "a"}, {"usage": [150, 100, 20]}, {"cost": 0.25}],
        [{"say": "b"}, {"usage": [120, 100, 20]}, {"cost": 0.75}],
        [{"say": "c"}],
    ]
    async with bench(home, {"turns": turns}) as running:
        results = [await running.turn() for _ in turns]

    assert [result.usage for result in results] == [
        Usage(input_tokens=130, output_tokens=20, cost_usd=0.25),
        Usage(input_tokens=100, output_tokens=20, cost_usd=0.5),
        Usage(),
    ]


@pytest.mark.parametrize(
    ("reason", "texts"),
    [
        ("max_tokens", ["half", "(My answer grew too long and ends here.)"]),
        (
            "max_turn_requests",
            ["half", "I stopped because this took more steps than I may take at once. Shall I go on?"],
        ),
        ("refusal", ["half"]),
    ],
)
async def test_an_end_for_another_reason_is_told_in_our_words(
    home: Home, reason: str, texts: list[str]
) -> None:
    async with bench(home, {"turns": [[{"say": "half"}, {"stop": reason}]]}) as running:
        result = await running.turn()

    assert result.status is TurnStatus.SUCCESS
    assert running.texts == texts


async def test_a_refusal_without_a_word_is_said_for_the_program(home: Home) -> None:
    async with bench(home, {"turns": [[{"think": "no"}, {"stop": "refusal"}]]}) as running:
        await running.turn()

    assert running.texts == ["I can't help with that request."]


@pytest.mark.parametrize(
    "noise",
    [
        "Warning: Model metadata for `gpt-5.4` not found. Defaulting to fallback metadata; this can.\n\n",
        "**Warning:** in auto mode a model decides what may run.\n\n",
        "Compacting...\n\nCompacting completed.",
        "Retrying (attempt 1/2, waiting 1s)...",
        "Retry finished, resuming.",
        "Context nearing limit, running automatic compaction...",
    ],
)
async def test_what_a_program_says_of_itself_is_not_part_of_the_answer(home: Home, noise: str) -> None:
    async with bench(home, {"turns": [[{"say": noise}, {"say": "The answer."}]]}) as running:
        await running.turn()

    assert running.texts == ["The answer."]


async def test_a_very_long_answer_is_said_in_parts_and_nothing_of_it_is_lost(home: Home) -> None:
    line = "water the plants " * 60
    steps = [{"say": f"{line}{number}\n"} for number in range(100)]
    async with bench(home, {"turns": [steps]}) as running:
        await running.turn()

    assert len(running.texts) > 1
    assert all(len(text) <= 30_000 for text in running.texts)
    assert "\n".join(running.texts).split("\n") == [f"{line}{number}" for number in range(100)]


async def test_a_prompt_that_comes_back_empty_at_once_is_given_once_more(home: Home) -> None:
    async with bench(home, {"turns": [[], [{"say": "here I am"}]]}) as running:
        await running.turn("are you there?")

    assert running.texts == ["here I am"]
    assert len(running.records("prompt")) == 2


async def test_a_program_that_has_nothing_to_say_is_asked_twice_and_no_more(home: Home) -> None:
    async with bench(home, {"turns": [[], [], [{"say": "too late"}]]}) as running:
        result = await running.turn()

    assert (result.status, running.texts) == (TurnStatus.SUCCESS, [])
    assert len(running.records("prompt")) == 2


async def test_what_broke_off_and_comes_again_is_said_once(home: Home) -> None:
    steps = [
        {"say": "The ans"},
        {"say": "Retrying (attempt 1/2, waiting 1s)..."},
        {"say": "The answer."},
        {"say": "Retry finished, resuming."},
    ]
    async with bench(home, {"turns": [steps]}) as running:
        await running.turn()

    assert running.texts == ["The answer."]
