"""What the library's words about a failed send mean."""

import pytest

from orchestrator.channels.whatsapp.fates import fate_of
from orchestrator.channels.whatsapp.lines import Fate


@pytest.mark.parametrize(
    ("said", "fate"),
    [
        ("websocket not connected", Fate.UNAVAILABLE),
        ("the store doesn't contain a device JID", Fate.UNAVAILABLE),
        (
            "failed to get group members: failed to send usync query: websocket not connected",
            Fate.UNAVAILABLE,
        ),
        ("failed to upload media: Post https://…: dial tcp: no route to host", Fate.UNAVAILABLE),
        ("server returned error 429", Fate.UNAVAILABLE),
        ("server returned error 503", Fate.UNAVAILABLE),
        ("server returned error 420", Fate.REFUSED),
        ("server returned error 479", Fate.REFUSED),
        ("can't send message to unknown server example.org", Fate.REFUSED),
        ("timed out waiting for message send response", Fate.UNKNOWN),
        ("context deadline exceeded", Fate.UNKNOWN),
        ("websocket disconnected before info query returned response", Fate.UNKNOWN),
        ("", Fate.UNKNOWN),
    ],
)
def test_the_fate_follows_from_what_was_said(said: str, fate: Fate) -> None:
    assert fate_of(said) is fate
