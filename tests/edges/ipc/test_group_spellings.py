"""Requests about groups, as the seed document spells them and as agents of NanoClaw 1.x do."""

import json

import pytest

from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.wire.group_requests import RefreshGroups, RegisterGroup
from orchestrator.ipc.parse import FileRefusal, ParsedRequest, parse_request

CHOIR = RegisterGroup(jid=Jid("77@g.us"), name="Choir", folder="choir", trigger_pattern="@Andy")


def parsed(plain: dict[str, object]) -> ParsedRequest | FileRefusal:
    """What a file in `tasks/` asks for."""
    return parse_request("tasks", json.dumps(plain, indent=2).encode())


@pytest.mark.parametrize(
    "plain",
    [
        pytest.param(
            {
                "type": "register_group",
                "jid": "77@g.us",
                "name": "Choir",
                "folder": "choir",
                "triggerPattern": "@Andy",
                "requiresTrigger": True,
            },
            id="the document",
        ),
        pytest.param(
            {
                "type": "register_group",
                "jid": "77@g.us",
                "name": "Choir",
                "folder": "choir",
                "trigger": "@Andy",
                "containerConfig": {"timeout": 5},
                "timestamp": "2026-01-01T00:00:00.000Z",
            },
            id="1.x",
        ),
    ],
)
def test_a_registration_is_read_in_both_spellings(plain: dict[str, object]) -> None:
    assert parsed(plain) == ParsedRequest(request=CHOIR, request_id=None)


def test_an_agent_cannot_ask_for_a_main_group() -> None:
    plain = {
        "type": "register_group",
        "jid": "77@g.us",
        "name": "Choir",
        "folder": "choir",
        "triggerPattern": "@Andy",
        "isMain": True,
        "is_main": True,
    }

    assert parsed(plain) == ParsedRequest(request=CHOIR, request_id=None)


def test_a_refresh_is_read_with_and_without_its_group() -> None:
    own = GroupFolder("family")

    assert parsed({"type": "refresh_groups"}) == ParsedRequest(request=RefreshGroups(), request_id=None)
    assert parsed({"type": "refresh_groups", "groupFolder": "family"}) == ParsedRequest(
        request=RefreshGroups(group_folder=own), request_id=None
    )


@pytest.mark.parametrize("missing", ["jid", "name", "folder", "triggerPattern"])
def test_a_registration_without_a_field_is_refused_with_its_name(missing: str) -> None:
    plain: dict[str, object] = {
        "type": "register_group",
        "jid": "77@g.us",
        "name": "Choir",
        "folder": "choir",
        "triggerPattern": "@Andy",
    }
    del plain[missing]

    verdict = parsed(plain)

    assert isinstance(verdict, FileRefusal)
    assert missing in verdict.message
