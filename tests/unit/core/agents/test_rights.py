"""A child never may what its parent may not."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.records.agents import ALL_PERMISSIONS, SpawnPermissions
from orchestrator.contracts.records.spawns import WishedPermissions
from orchestrator.core.agents.rights import beyond, narrow, toolsets_of

NAMES = tuple(field.name for field in fields(SpawnPermissions))
PERMISSIONS = st.builds(SpawnPermissions, **dict.fromkeys(NAMES, st.booleans()))
WISHES = st.builds(WishedPermissions, **dict.fromkeys(NAMES, st.none() | st.booleans()))


def held(permissions: SpawnPermissions) -> set[str]:
    return {name for name in NAMES if getattr(permissions, name)}


@given(PERMISSIONS, st.lists(WISHES, max_size=6))
def test_no_chain_of_spawns_widens_what_is_allowed(
    first: SpawnPermissions, wishes: list[WishedPermissions]
) -> None:
    current = first
    for wish in wishes:
        child = narrow(current, wish)

        assert held(child) <= held(current) <= held(first)
        current = child


@given(PERMISSIONS, WISHES)
def test_what_is_wished_for_in_so_many_words_is_given_or_named(
    parent: SpawnPermissions, wish: WishedPermissions
) -> None:
    child, too_much = narrow(parent, wish), beyond(parent, wish)

    for name in NAMES:
        if getattr(wish, name):
            assert getattr(child, name) is (name not in too_much)
        if getattr(wish, name) is False:
            assert not getattr(child, name)
            assert name not in too_much


def test_a_child_usually_may_start_others_and_nothing_more() -> None:
    assert held(narrow(ALL_PERMISSIONS, WishedPermissions())) == {"can_spawn"}


@pytest.mark.parametrize(
    ("chat", "can_spawn", "offered"),
    [
        (False, True, ("spawn", "progress")),
        (False, False, ("progress",)),
        (True, True, ("chat", "tasks", "groups", "spawn", "progress")),
        (True, False, ("chat", "tasks", "groups", "progress")),
    ],
)
def test_a_child_is_offered_the_tools_that_it_may_use(
    chat: bool, can_spawn: bool, offered: tuple[str, ...]
) -> None:
    may = SpawnPermissions(chat=chat, can_spawn=can_spawn)

    assert toolsets_of(("chat", "tasks", "groups", "spawn"), may) == offered
    assert toolsets_of(("chat",), may) == (("chat", "progress") if chat else ("progress",))
