"""`dovecote proposal …`: through the running orchestrator; to look, else on the store."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from orchestrator.cli.client import ApiClient, not_running
from orchestrator.cli.home import Home, open_home_to_ask
from orchestrator.cli.labels import instant
from orchestrator.cli.place import ask_or_look, open_place
from orchestrator.commands.decisions import list_proposals
from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.contracts.records.proposals import ProposalStatus
from orchestrator.core.text_cleaning import clean_text

Object = Mapping[str, Any]


def list_all(home_option: Path | None, *, every: bool, count: int, as_json: bool) -> None:
    """Each with its effect, what waits first. every: decided ones too."""
    found = asyncio.run(_found(open_home_to_ask(home_option), count))
    shown = [each for each in found if every or each["status"] == ProposalStatus.OPEN]
    if as_json:
        print(json.dumps(shown, indent=2))
        return
    if not shown:
        print("Nothing waits for an answer.")
    for each in shown:
        is_open = each["status"] == ProposalStatus.OPEN
        until = f"until {instant(each['expiresAt'])}" if is_open else each["status"]
        print(f"{each['number']}  {clean_text(each['group'])} wants to {each['wish']} ({until})")
        for line in clean_text(each["effect"]).split("\n"):
            print(f"    {line}")
        if each["error"]:
            print(f"    {clean_text(' '.join(each['error'].split()))}")


def decide(
    home_option: Path | None, number: int, answer: Literal["confirm", "decline"], *, as_json: bool
) -> None:
    """Say yes or no, and what came of it. Raises DovecoteError where it could not be done."""
    proposal = asyncio.run(_decided(open_home_to_ask(home_option), number, answer))
    if as_json:
        print(json.dumps(proposal, indent=2))
    elif proposal["status"] != ProposalStatus.FAILED:
        print(f"Proposal {number} is {proposal['status']}.")
    if proposal["status"] == ProposalStatus.FAILED:
        raise DovecoteError(
            f"Proposal {number} could not be carried out: {clean_text(str(proposal['error']))}",
            code=ErrorCode.INVALID_REQUEST,
        )


async def _found(home: Home, count: int) -> Sequence[Object]:
    query = {"count": str(count)}
    found: Sequence[Object] = await ask_or_look(
        home,
        lambda client: client.call("GET", "/api/v1/proposals", query=query),
        lambda services: list_proposals(services, count=count),
        nothing=[],
    )
    return found


async def _decided(home: Home, number: int, answer: str) -> Object:
    """Only where the orchestrator runs: what is confirmed has to be done."""
    async with open_place(home) as place:
        if not isinstance(place, ApiClient):
            raise not_running(home.paths)
        decided: Object = await place.call("POST", f"/api/v1/proposals/{number}/{answer}")
        return decided
