"""Which of the program's own tools a model is shown."""

from typing import Final

import pytest

from container.drivers.claude_permissions import allowed_tools, offered_tools

SPEAKING: Final = frozenset(
    {"SendMessage", "SendUserMessage", "SendUserFile", "AskUserQuestion", "PushNotification", "TeamCreate"}
)
"""Tools of such programs that sound like ours and reach nobody here."""
LATER: Final = frozenset({"CronCreate", "ScheduleWakeup", "RemoteTrigger"})
OUTSIDE: Final = frozenset({"WebFetch", "WebSearch"})


@pytest.mark.parametrize("permissions", ["deny-all", "approve-reads", "approve-all"])
def test_l4_none_that_could_be_taken_for_one_of_ours_is_offered(permissions: str) -> None:
    """Case L4."""
    offered = frozenset(offered_tools(permissions))

    assert offered.isdisjoint(SPEAKING | LATER | OUTSIDE)
    assert allowed_tools() == ("mcp__dovecote",)
    assert bool(offered) is (permissions != "deny-all")
