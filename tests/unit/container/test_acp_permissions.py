"""The policy on what a program wants. Source: agents.md section 4."""

from dataclasses import dataclass

import pytest

from container.drivers.acp_permissions import (
    Verdict,
    Wish,
    is_own_tool,
    judge_tool,
    judge_wish,
    option_for,
    tool_question,
)

KINDS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    kind: str
    option_id: str


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("permissions", "expected"),
    [("approve-all", Verdict.ALLOW), ("approve-reads", Verdict.ASK), ("deny-all", Verdict.REFUSE)],
)
def test_tools_are_judged_by_the_permissions_and_reads_may_be_free(
    permissions: str, expected: Verdict, kind: str | None
) -> None:
    verdict = judge_tool(permissions, kind=kind, title="a title", is_inside=True)

    assert verdict is (Verdict.ALLOW if (permissions, kind) == ("approve-reads", "read") else expected)


@pytest.mark.parametrize("permissions", ["approve-all", "approve-reads", "deny-all"])
def test_what_lies_outside_is_refused_whatever_is_allowed(permissions: str) -> None:
    assert judge_tool(permissions, kind="read", title="", is_inside=False) is Verdict.REFUSE


@pytest.mark.parametrize(
    ("permissions", "expected"),
    [
        ("approve-all", {Wish.READ_FILE: "allow", Wish.WRITE_FILE: "allow", Wish.RUN_COMMAND: "allow"}),
        ("approve-reads", {Wish.READ_FILE: "allow", Wish.WRITE_FILE: "ask", Wish.RUN_COMMAND: "ask"}),
        ("deny-all", {Wish.READ_FILE: "refuse", Wish.WRITE_FILE: "refuse", Wish.RUN_COMMAND: "refuse"}),
    ],
)
def test_what_we_are_to_do_is_judged_by_the_same_permissions(
    permissions: str, expected: dict[Wish, str]
) -> None:
    assert {wish: judge_wish(permissions, wish).value for wish in Wish} == expected


@pytest.mark.parametrize(
    ("title", "kind", "expected"),
    [
        ("mcp__dovecote__send_message", "other", True),
        ("mcp__dovecote__send_message", None, True),
        ("mcp_dovecote_send_message", "other", True),
        ("dovecote_send_message", "other", True),
        ("dovecote.send_message", "other", True),
        ("send_message (dovecote MCP Server)", "other", True),
        ("mcp__dovecote__send_message", "execute", False),
        ("mcp__dovecote__send_message; rm -r x", "other", False),
        ("mcp__lab__add", "other", False),
        ("mcp__dovecotes__add", "other", False),
        ("", None, False),
    ],
)
def test_only_a_tool_of_our_own_server_is_ours(title: str, kind: str | None, expected: bool) -> None:
    assert is_own_tool(title, kind) is expected


@pytest.mark.parametrize(("is_allowed", "expected"), [(True, "b"), (False, "c")])
def test_an_option_is_chosen_by_its_kind_and_only_for_once(is_allowed: bool, expected: str) -> None:
    kinds = {"a": "allow_always", "b": "allow_once", "c": "reject_once", "d": "reject_always"}
    offers = [Offered(kind=kind, option_id=name) for name, kind in kinds.items()]

    assert option_for(offers, is_allowed=is_allowed) == expected
    assert option_for([offers[0], offers[3]], is_allowed=is_allowed) is None


@pytest.mark.parametrize(
    ("kind", "title", "given", "question"),
    [
        ("execute", "`ls`", {"command": "ls"}, "May I run this command?\n`ls`"),
        ("execute", "List files", {"command": "ls -l"}, "May I run this command?\nList files\nls -l"),
        ("other", "mcp__lab__add", {"a": 1}, 'May I use this tool?\nmcp__lab__add\n{"a": 1}'),
        ("future", "", None, "May I use this tool?"),
        ("edit", "x" * 600, None, f"May I change this file?\n{'x' * 500} […]"),
    ],
)
def test_a_question_shows_what_the_tool_would_do(kind: str, title: str, given: object, question: str) -> None:
    assert tool_question(kind=kind, title=title, given=given) == question
