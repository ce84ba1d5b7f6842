"""Which path a request may mean, what a file is called, how a text and its files go out."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.records.messages import SpooledFile
from orchestrator.core.chat.attachments import (
    MAX_CAPTION_CHARS,
    NO_NAME,
    AttachmentRefused,
    clean_file_name,
    numbered_name,
    outbox_parts,
    upload_limit_s,
    workspace_parts,
)

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=[]), max_size=300)


def spooled(name: str) -> SpooledFile:
    return SpooledFile(name=name, media_type="text/plain", size_bytes=1, spool_name=f"copy of {name}")


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        pytest.param("report.pdf", ("report.pdf",), id="relative"),
        pytest.param("/workspace/group/report.pdf", ("report.pdf",), id="as the container has it"),
        pytest.param("./a//b/./c.txt", ("a", "b", "c.txt"), id="dots and slashes that change nothing"),
        pytest.param("/workspace/group//a/b", ("a", "b"), id="absolute, two slashes"),
        pytest.param(" a b ", (" a b ",), id="white space is part of a name"),
        pytest.param("...", ("...",), id="three dots are a name"),
        pytest.param("ä/ö.txt", ("ä", "ö.txt"), id="letters beyond ASCII"),
    ],
)
def test_a_path_in_the_workspace_is_taken_apart(path: str, parts: tuple[str, ...]) -> None:
    assert workspace_parts(path) == parts


@pytest.mark.parametrize(
    ("path", "why"),
    [
        pytest.param("", "names no file", id="nothing"),
        pytest.param(".", "names no file", id="the workspace itself"),
        pytest.param("/workspace/group/", "names no file", id="the workspace, absolute"),
        pytest.param("a/", "names no file", id="a directory by its slash"),
        pytest.param("/workspace/group", "is not in your workspace", id="the workspace without a slash"),
        pytest.param("/etc/passwd", "is not in your workspace", id="absolute"),
        pytest.param("/workspace/groupies/a", "is not in your workspace", id="a neighbour by its beginning"),
        pytest.param("/workspace/ipc/x", "is not in your workspace", id="the box"),
        pytest.param("//workspace/group/a", "is not in your workspace", id="two slashes first"),
        pytest.param("../AGENT.md", "'..'", id="upwards"),
        pytest.param("a/../../AGENT.md", "'..'", id="upwards from below"),
        pytest.param("/workspace/group/../../etc/passwd", "'..'", id="upwards, absolute"),
        pytest.param("a\0b", "a NUL", id="NUL"),
        pytest.param("a\udcff", "not UTF-8", id="a byte that is not UTF-8"),
        pytest.param("a\ud800", "not UTF-8", id="half of a surrogate pair"),
        pytest.param("a" * 4_097, "4097 characters; 4096 is the limit", id="too long"),
        pytest.param("a/" * 64 + "b", "65 names deep; 64 is the limit", id="too deep"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused_with_the_reason(path: str, why: str) -> None:
    with pytest.raises(AttachmentRefused, match=why) as refusal:
        workspace_parts(path)

    assert refusal.value.code is ErrorCode.ATTACHMENT_REFUSED
    assert refusal.value.suggestion is not None
    assert len(refusal.value.message) < 300


@given(ANY_TEXT)
def test_no_path_ever_leads_out(path: str) -> None:
    try:
        parts = workspace_parts(path)
    except AttachmentRefused as refusal:
        refusal.message.encode()
        return

    assert parts
    assert all(part and part not in (".", "..") and "/" not in part and "\0" not in part for part in parts)


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        pytest.param("report.pdf", "report.pdf", id="as it is"),
        pytest.param("../../etc/passwd", "_.._etc_passwd", id="a path"),
        pytest.param("C:\\x\\a.txt", "C__x_a.txt", id="a path of another system"),
        pytest.param("a\nb\x00\x1b[31m.txt", "a b[31m.txt", id="control characters"),
        pytest.param("cod\u202egpj.exe", "codgpj.exe", id="a turned direction"),
        pytest.param("a\udcff.txt", "a_.txt", id="not UTF-8"),
        pytest.param(".bashrc", "bashrc", id="hidden"),
        pytest.param("...", NO_NAME, id="dots only"),
        pytest.param("", NO_NAME, id="nothing"),
        pytest.param("  a  b  ", "a b", id="white space"),
        pytest.param("x" * 300 + ".pdf", "x" * 196 + ".pdf", id="long, with its ending kept"),
        pytest.param("x." + "y" * 300, "x." + "y" * 198, id="an ending that is none"),
    ],
)
def test_a_name_is_made_safe_to_show_and_to_keep(name: str, cleaned: str) -> None:
    assert clean_file_name(name) == cleaned


@given(ANY_TEXT)
@example("0\r\ue000\x850")
def test_a_cleaned_name_is_one_visible_component_and_stays_as_it_is(name: str) -> None:
    cleaned = clean_file_name(name)

    assert 0 < len(cleaned.encode()) <= 200
    assert cleaned.isprintable()
    assert not set(cleaned) & set('/\\:*?"<>|')
    assert not cleaned.startswith(".")
    assert clean_file_name(cleaned) == cleaned


@pytest.mark.parametrize(
    ("name", "numbered"), [("a.txt", "a-2.txt"), ("a", "a-2"), (".a", ".a-2"), ("a.tar.gz", "a.tar-2.gz")]
)
def test_a_taken_name_gets_a_number_before_its_ending(name: str, numbered: str) -> None:
    assert numbered_name(name, 2) == numbered


@pytest.mark.parametrize(
    ("texts", "files", "expected"),
    [
        pytest.param(["hi"], [], [("hi", None)], id="a text"),
        pytest.param(["a", "b"], [], [("a", None), ("b", None)], id="a cut text"),
        pytest.param([], ["f"], [("", "f")], id="a file"),
        pytest.param(["hi"], ["f"], [("hi", "f")], id="a caption"),
        pytest.param(["hi"], ["f", "g"], [("hi", "f"), ("", "g")], id="a caption of the first"),
        pytest.param(["a", "b"], ["f"], [("a", None), ("b", None), ("", "f")], id="a cut text, then a file"),
        pytest.param(
            ["x" * MAX_CAPTION_CHARS], ["f"], [("x" * MAX_CAPTION_CHARS, "f")], id="the longest caption"
        ),
        pytest.param(
            ["x" * (MAX_CAPTION_CHARS + 1)],
            ["f"],
            [("x" * (MAX_CAPTION_CHARS + 1), None), ("", "f")],
            id="too long for a caption",
        ),
    ],
)
def test_a_text_and_its_files_become_messages_in_order(
    texts: list[str], files: list[str], expected: list[tuple[str, str | None]]
) -> None:
    parts = outbox_parts(texts, [spooled(name) for name in files])

    assert [(part.text, None if part.file is None else part.file.name) for part in parts] == expected


def test_a_larger_file_may_take_longer_on_its_way() -> None:
    sizes = (0, 1, 1024**2, 16 * 1024**2)

    limits = [upload_limit_s(size) for size in sizes]

    assert limits == sorted(limits)
    assert limits[0] >= 10
    # 16 MiB over a line of half a megabit, the slowest that people still have.
    assert limits[-1] >= 16 * 1024**2 * 8 / 500_000
