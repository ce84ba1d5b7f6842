"""Which session mode is set. Expected values: the table of modes in agents.md section 4."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from container.drivers.acp_modes import choose_mode

CLAUDE = ("auto", "default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
CODEX = ("read-only", "auto", "full-access")
CODEX_2 = ("agent", "read-only", "workspace-write", "agent-full-access")
GEMINI = ("default", "autoEdit", "yolo", "plan")


@pytest.mark.parametrize(
    ("permissions", "candidates", "reported", "chosen"),
    [
        ("approve-all", (), CODEX, "full-access"),
        ("approve-all", (), ("full_access", "ro"), "full_access"),
        ("approve-all", (), ("bypassPermissions", "auto"), "bypassPermissions"),
        ("approve-all", (), ("bypass_permissions", "auto"), "bypass_permissions"),
        ("approve-all", (), ("acceptEdits", "auto"), "auto"),
        ("approve-all", (), ("acceptEdits", "other"), "acceptEdits"),
        ("approve-all", (), CODEX_2, None),
        ("approve-all", ("full-access", "agent-full-access"), CODEX_2, "agent-full-access"),
        ("approve-all", ("yolo",), GEMINI, "yolo"),
        ("approve-all", (), CLAUDE, "default"),
        ("approve-reads", (), CODEX, "read-only"),
        ("approve-reads", (), ("readOnly", "plan"), "readOnly"),
        ("approve-reads", (), ("read_only", "plan"), "read_only"),
        ("approve-reads", (), ("write", "plan"), "plan"),
        ("approve-reads", (), ("write", "plan", "ask"), "ask"),
        ("approve-reads", ("default",), CLAUDE, "default"),
        ("deny-all", (), CODEX_2, "read-only"),
        ("deny-all", (), ("PLAN", "write"), "PLAN"),
        ("deny-all", ("plan",), GEMINI, "plan"),
        ("deny-all", (), (), None),
        ("anything else", (), CODEX, "read-only"),
    ],
)
def test_the_first_mode_that_fits_is_chosen(
    permissions: str, candidates: tuple[str, ...], reported: tuple[str, ...], chosen: str | None
) -> None:
    assert choose_mode(permissions, candidates=candidates, reported=reported) == chosen


@given(
    permissions=st.sampled_from(["approve-all", "approve-reads", "deny-all"]),
    candidates=st.lists(st.text(max_size=8)),
    reported=st.lists(st.sampled_from([*CLAUDE, *CODEX, *CODEX_2, *GEMINI])),
)
def test_a_mode_is_one_that_was_reported_and_its_place_in_the_report_does_not_count(
    permissions: str, candidates: list[str], reported: list[str]
) -> None:
    chosen = choose_mode(permissions, candidates=candidates, reported=reported)

    assert chosen is None or chosen in reported
    assert chosen == choose_mode(permissions, candidates=candidates, reported=sorted(reported))
    if permissions != "approve-all" and not candidates:
        assert chosen not in ("auto", "bypassPermissions", "full-access", "yolo", "acceptEdits")
