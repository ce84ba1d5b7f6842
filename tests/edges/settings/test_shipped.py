"""The templates that come with Dovecote."""

from pathlib import Path

from orchestrator.shipped import load_shipped, template_for

REPOSITORY = Path(__file__).parents[3]


def test_the_tracked_groups_hold_the_shipped_texts() -> None:
    shipped = load_shipped()

    assert shipped.global_agent_md == (REPOSITORY / "groups/global/AGENT.md").read_text(encoding="utf-8")
    assert shipped.main_agent_md == (REPOSITORY / "groups/main/AGENT.md").read_text(encoding="utf-8")


def test_the_main_group_and_a_new_group_begin_with_texts_of_their_own() -> None:
    main, new = template_for(is_main=True), template_for(is_main=False)

    assert main != new
    assert "MEMORY.md" in main
    assert "MEMORY.md" in new
