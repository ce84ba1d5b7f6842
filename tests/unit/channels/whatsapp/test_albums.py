"""Photos that were sent together."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.channels.whatsapp.albums import album_first, album_of, count_of, is_followed
from orchestrator.channels.whatsapp.lines import Album, Heard
from orchestrator.contracts.ids import MessageId
from tests.support.store_rows import inbound
from tests.support.whatsapp_events import e2e, event
from tests.support.whatsapp_objects import objects

TRIP = MessageId("3EB0TRIP")
OTHER = MessageId("3EB0OTHER")


def belonging(part: dict[str, Any], *, kind: int = 1) -> dict[str, Any]:
    """A message with a part of an album."""
    association = {"associationType": kind, "parentMessageKey": {"ID": TRIP}}
    return {**part, "messageContextInfo": {"messageAssociation": association}}


@pytest.mark.parametrize(
    ("message", "album"),
    [
        (
            {"albumMessage": {"expectedImageCount": 2, "expectedVideoCount": 1}},
            Album(id=MessageId("3EB0AAAA"), expected=3),
        ),
        ({"albumMessage": {"expectedImageCount": 2**31}}, Album(id=MessageId("3EB0AAAA"), expected=32)),
        (belonging({"imageMessage": {"caption": "Look"}}), Album(id=TRIP, has_words=True)),
        (belonging({"videoMessage": {}}), Album(id=TRIP)),
        (
            {"ephemeralMessage": {"message": belonging({"imageMessage": {}})}},
            Album(id=TRIP),
        ),
        (belonging({"imageMessage": {}}, kind=10), None),
        ({"imageMessage": {"caption": "Look"}}, None),
        ({"conversation": "Look"}, None),
    ],
    ids=[
        "what opens it",
        "more than there can be",
        "a photo with words",
        "a film without",
        "a disappearing photo",
        "the same photo in better quality",
        "a photo alone",
        "a text",
    ],
)
def test_a_message_says_which_album_it_belongs_to(message: dict[str, Any], album: Album | None) -> None:
    assert album_of(event(message)) == album


@given(objects(e2e.Message))
def test_any_content_belongs_to_an_album_or_to_none(message: Any) -> None:
    album = album_of(event(message))

    assert album is None or 0 <= album.expected <= 32


def heard(number: int, album: Album | None) -> Heard:
    """A message on its way."""
    return Heard(generation=1, spool=f"{number}", message=inbound(f"m-{number}"), album=album)


ALBUMS = st.sampled_from([None, Album(id=OTHER), Album(id=TRIP), Album(id=TRIP, has_words=True)])


@given(st.lists(ALBUMS, max_size=12))
def test_an_album_comes_first_its_words_last_and_nothing_is_lost(albums: list[Album | None]) -> None:
    trip = Album(id=TRIP)
    waiting = [heard(number, album) for number, album in enumerate(albums)]

    found = album_first(trip, waiting)

    assert sorted(found, key=lambda each: each.spool) == sorted(waiting, key=lambda each: each.spool)
    count = count_of(trip, waiting)
    ours, others = found[:count], found[count:]
    words = [each.album is not None and each.album.has_words for each in ours]
    assert all(each.album is not None and each.album.id == TRIP for each in ours)
    assert words == sorted(words)
    assert others == [each for each in waiting if each.album is None or each.album.id != TRIP]


@pytest.mark.parametrize(
    ("album", "is_next"),
    [
        (Album(id=OTHER, expected=2), True),
        (Album(id=OTHER), False),
        (Album(id=TRIP), False),
        (Album(id=TRIP, expected=2), False),
        (None, False),
    ],
    ids=["another one begins", "a photo of another one", "its own photo", "itself again", "no album"],
)
def test_an_album_is_followed_by_the_one_that_begins_next(album: Album | None, is_next: bool) -> None:
    assert is_followed(Album(id=TRIP, expected=3), [heard(1, None), heard(2, album)]) is is_next
