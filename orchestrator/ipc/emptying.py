"""Taking all that lies in a box: before a text is accepted, and after its agent's end."""

import asyncio
from typing import Final

from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.ids import BoxName
from orchestrator.contracts.wire.boxes import MESSAGES
from orchestrator.ipc.box import Box
from orchestrator.ipc.choosing import ALL_DIRECTORIES
from orchestrator.ipc.intake import Intake

_MESSAGES: Final = frozenset({MESSAGES})


async def take_waiting_texts(intake: Intake, name: BoxName, *, at_most_s: float) -> None:
    """Take every file that lies in the box's `messages/` now, so that order is the agent's order.

    at_most_s: what the rate holds back is waited for so long. An unfinished file is not waited for.
    """
    lane = intake.lane(name)
    if lane is None:
        return
    loop = asyncio.get_running_loop()
    deadline = loop.time() + at_most_s
    wanted = await intake.left(lane, only=_MESSAGES)
    while wanted and intake.lane(name) is lane:
        wanted &= await intake.take_from(lane, only=_MESSAGES)
        left_s = deadline - loop.time()
        if not wanted or left_s <= 0:
            return
        await asyncio.sleep(min(intake.wait_s(lane), left_s))


async def drain(intake: Intake, caller: AgentCaller, box: Box) -> None:
    """Take what is left, by the rights of `caller`: one burst at once, and no more.

    Its agent is dead: nobody waits for what lies beyond that, so it is refused, and so is at once what is
    no request now. While the store or the disk is away this waits.
    """
    lane = await intake.take_over(caller, box)
    while await intake.take_from(lane, only=ALL_DIRECTORIES):
        if (refusal := intake.why_no_more(lane)) is not None:
            await intake.refuse_left(lane, refusal)
            return
        await asyncio.sleep(intake.wait_s(lane))
