"""What the library's events say of the link; with real protobuf objects."""

from typing import Any

import pytest

from orchestrator.channels.whatsapp.lines import LinkState
from orchestrator.channels.whatsapp.verdicts import no_connection, verdict_of
from tests.support.whatsapp_events import neonize_types


@pytest.mark.parametrize(
    ("kind", "fields", "state", "part"),
    [
        ("Connected", {"status": True}, LinkState.OPEN, ""),
        ("Disconnected", {"status": True}, LinkState.CONNECTING, "lost"),
        ("LoggedOut", {"OnConnect": True, "Reason": 2}, LinkState.AUTH_REQUIRED, "dovecote whatsapp link"),
        ("StreamReplaced", {}, LinkState.FAILED, "another program"),
        ("ClientOutdated", {}, LinkState.FAILED, "newer"),
        ("TemporaryBan", {"Code": 4, "Expire": 60}, LinkState.FAILED, "the same text too often"),
        ("TemporaryBan", {"Code": 1, "Expire": 60}, LinkState.FAILED, "too many people"),
        ("ConnectFailure", {"Reason": 2, "Message": "gone"}, LinkState.AUTH_REQUIRED, "unlinked"),
        ("ConnectFailure", {"Reason": 4, "Message": "gone"}, LinkState.AUTH_REQUIRED, "unlinked"),
        ("ConnectFailure", {"Reason": 5, "Message": "gone"}, LinkState.AUTH_REQUIRED, "unlinked"),
        ("ConnectFailure", {"Reason": 6, "Message": ""}, LinkState.FAILED, "newer"),
        ("ConnectFailure", {"Reason": 8, "Message": "oops"}, LinkState.FAILED, "oops"),
        ("ConnectFailure", {"Reason": 10, "Message": ""}, LinkState.FAILED, "reason 10"),
        ("PairStatus", {"Error": "no"}, LinkState.FAILED, "could not be paired: no"),
    ],
)
def test_each_event_is_a_state_and_a_reason(
    kind: str, fields: dict[str, Any], state: LinkState, part: str
) -> None:
    verdict = verdict_of(kind, getattr(neonize_types, kind)(**fields))

    assert verdict is not None
    assert verdict.state is state
    assert part in verdict.why


@pytest.mark.parametrize("kind", ["PairStatus", "KeepAliveTimeout", "Receipt", "HistorySync"])
def test_other_events_say_nothing_of_the_link(kind: str) -> None:
    assert verdict_of(kind, getattr(neonize_types, kind)()) is None


def test_an_account_that_is_barred_is_left_alone_for_an_hour() -> None:
    barred = verdict_of("TemporaryBan", neonize_types.TemporaryBan(Code=4, Expire=60))
    refused = verdict_of("ConnectFailure", neonize_types.ConnectFailure(Reason=3, Message="barred"))

    assert barred is not None
    assert refused is not None
    assert (barred.retry_after_s, refused.retry_after_s) == (3600, 3600)


def test_a_failed_dial_is_told_by_its_end() -> None:
    said = "failed to dial whatsapp web websocket: dial tcp: lookup web.whatsapp.com: network is unreachable"

    assert no_connection(said).why == "no connection to WhatsApp: network is unreachable"
    assert no_connection("the library ended the link").why.endswith(": the library ended the link")
