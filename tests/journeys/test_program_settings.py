"""What a host sets for agents' programs reaches their drivers."""

import json

from tests.support.home_on_disk import HomeOnDisk
from tests.support.raw_agents import raw_agent


async def test_the_bounds_of_programs_are_those_of_the_settings(home: HomeOnDisk) -> None:
    home.set(
        programs__answer_s=7,
        programs__session_bytes=65_536,
        programs__kept_sessions=3,
        programs__kept_session_bytes=1_000,
    )
    await home.add_group()

    async with home.running(command=raw_agent("tells_its_options")):
        home.ask("hello")
        await home.quiet()

    [told] = home.texts()
    assert json.loads(told) == {
        "answer_s": 7,
        "session_bytes": 65_536,
        "kept_sessions": 3,
        "kept_bytes": 1_000,
        "trigger": "@Assistant",
        "trigger_position": "start",
    }
