"""Advice to the operator names what is there, for each tool of tasks."""

import re

import pytest
from typer.testing import CliRunner

from orchestrator.cli.main import app
from orchestrator.commands.catalog import CATALOG
from orchestrator.commands.operator_advice import OPERATOR_STEPS, for_operator
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.wire import task_requests

TOOLS = {command.name for request, command in CATALOG.items() if request.__module__ == task_requests.__name__}


def test_every_tool_of_tasks_has_a_step_of_the_operator() -> None:
    assert OPERATOR_STEPS.keys() == TOOLS


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_advice_that_names_a_tool_names_what_the_operator_has(tool: str) -> None:
    told = for_operator(InvalidRequest("No.", suggestion=f"Do it with {tool}.")).suggestion or ""

    assert tool not in told
    for words in re.findall(r"`dovecote ([a-z ]+)`", told):
        assert CliRunner().invoke(app, [*words.split(), "--help"]).exit_code == 0, words
