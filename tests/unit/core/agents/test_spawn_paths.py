"""The paths that a spawn names, before anybody looks at the disk."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.errors import DovecoteError, ErrorCode, InvalidRequest
from orchestrator.core.agents.spawn_paths import (
    is_host_path,
    is_within,
    without_inner,
    workspace_words,
    writable_words,
)

PATHS = st.text(alphabet="ab./:\n ", min_size=0, max_size=14) | st.sampled_from(
    [
        "/workspace/group",
        "/workspace/group/",
        "/workspace/group/a",
        "/workspace/groupx",
        "/workspace/group/../a",
    ]
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/workspace/group", "."),
        ("/workspace/group/", "."),
        ("/workspace/group/a/b/", "a/b"),
        ("/workspace/group/./a//b", "a/b"),
        ("/home/me/project", None),
        ("/workspace/groupies", None),
    ],
)
def test_a_workspace_is_the_callers_own_or_a_place_on_the_host(path: str, expected: str | None) -> None:
    assert workspace_words(path) == expected
    assert is_host_path(path) is (expected is None)


@pytest.mark.parametrize(
    "path", ["", "src", "./src", "../src", "/workspace/group/../main", "/a\nb", "/a:b", "/" + "x" * 1024]
)
def test_a_workspace_that_is_not_absolute_or_plain_is_refused(path: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        workspace_words(path)

    assert caught.value.code is ErrorCode.INVALID_WORKSPACE


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["src/auth/", "tests/"], ("src/auth/", "tests/")),
        (["./src", "src"], ("src",)),
        (["/workspace/group/src/", "notes.md"], ("src/", "notes.md")),
        (["a//b"], ("a/b",)),
        ([], ()),
    ],
)
def test_writable_paths_are_relative_to_the_workspace(paths: list[str], expected: tuple[str, ...]) -> None:
    assert writable_words(paths) == expected


@pytest.mark.parametrize(
    "path",
    ["", ".", "./", "/", "..", "a/../..", "/etc/passwd", "/workspace/group", "/workspace/group/../x", "a\0b"],
)
def test_writable_paths_outside_of_the_workspace_or_all_of_it_are_refused(path: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        writable_words([path])

    assert caught.value.code is ErrorCode.INVALID_WORKSPACE


def test_a_hundred_writable_paths_are_the_most() -> None:
    assert len(writable_words([f"f{number}" for number in range(100)])) == 100
    with pytest.raises(InvalidRequest, match="101"):
        writable_words([f"f{number}" for number in range(101)])


@given(st.lists(PATHS, max_size=5))
def test_what_is_taken_never_leaves_the_workspace(paths: list[str]) -> None:
    try:
        taken = writable_words(paths)
    except DovecoteError:
        return

    for path in taken:
        joined = posixpath.normpath(posixpath.join("/top", path))
        assert is_within(joined, "/top")
        assert joined != "/top"
        assert len(taken) == len(set(taken))


@given(st.lists(st.sampled_from(["a/", "a/b", "a/b/", "ab", "c", "c/d"]), max_size=6))
def test_what_lies_in_a_directory_of_the_list_is_not_named_again(paths: list[str]) -> None:
    kept = without_inner(paths)

    for path in paths:
        assert any(path == each or (each.endswith("/") and path.startswith(each)) for each in kept)
    for path in kept:
        assert not any(path != each and each.endswith("/") and path.startswith(each) for each in kept)
