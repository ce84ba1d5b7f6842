"""A request type is known wherever it has to be: read, authorised, carried out, and offered to a model."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Final, get_args

import pytest

from container.box_client import Request
from container.tools import ALL_TOOLS
from orchestrator.commands.catalog import CATALOG
from orchestrator.contracts import wire
from orchestrator.contracts.callers import AgentCaller, HostCaller
from orchestrator.contracts.errors import ConfirmationNeeded, Forbidden
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.wire.codec import Wire
from orchestrator.core.authority import Target, allow
from orchestrator.core.wish_words import WISHES
from orchestrator.ipc.parse import REQUEST_AREAS

ELSEWHERE: Final = Target(chat_jid=Jid("2@g.us"), group=GroupFolder("garden"), is_registered=True)
MAIN_AGENT: Final = AgentCaller(
    agent_id=AgentId("agent-1"),
    box=BoxName("main"),
    group=GroupFolder("main"),
    chat_jid=Jid("1@g.us"),
    is_main=True,
)


def request_types() -> Iterator[type[Wire]]:
    """All classes of the wire's areas that have a name of their own in the field `type`."""
    for found in pkgutil.iter_modules(wire.__path__):
        if found.name.endswith("_requests"):
            module = importlib.import_module(f"{wire.__name__}.{found.name}")
            for each in vars(module).values():
                if (
                    isinstance(each, type)
                    and each.__module__ == module.__name__
                    and hasattr(each, "type_name")
                ):
                    yield each


ALL_TYPES: Final = tuple(request_types())
EVERY_TYPE = pytest.mark.parametrize("request_type", ALL_TYPES, ids=lambda each: each.__name__)


def test_boxes_read_every_request_type_and_no_other() -> None:
    read = [each for area in REQUEST_AREAS for each in area]

    assert len(ALL_TYPES) >= 10
    assert set(read) == set(ALL_TYPES)
    assert len(read) == len(set(read))


def test_an_agents_own_client_sends_every_request_type_and_no_other() -> None:
    assert set(get_args(Request)) == set(ALL_TYPES)


def test_each_request_type_has_one_command_and_no_command_is_without_one() -> None:
    assert set(CATALOG) == set(ALL_TYPES)
    assert len({command.name for command in CATALOG.values()}) == len(ALL_TYPES)


@EVERY_TYPE
def test_authority_has_a_row_for_each_command(request_type: type[Wire]) -> None:
    allow(HostCaller(), CATALOG[request_type].name, ELSEWHERE)


def test_authority_refuses_a_command_without_a_row() -> None:
    with pytest.raises(Forbidden):
        allow(HostCaller(), "no_such_command", ELSEWHERE)


@EVERY_TYPE
def test_each_request_type_is_offered_to_models(request_type: type[Wire]) -> None:
    assert any(tool.request is request_type for tool in ALL_TOOLS.values())


@EVERY_TYPE
def test_what_an_operator_may_be_asked_to_confirm_has_words(request_type: type[Wire]) -> None:
    name = CATALOG[request_type].name
    try:
        allow(MAIN_AGENT, name, ELSEWHERE, rights=Rights.MEMBER)
    except ConfirmationNeeded:
        assert name in WISHES
    except Forbidden:
        assert name not in WISHES
    else:
        pytest.fail(f"{name} reaches another group by a member's wish, and nobody is asked")
