"""The doctor's questions to the orchestrator that runs here."""

import asyncio
from typing import Any

from orchestrator.cli.client import running_client
from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.version import VERSION
from orchestrator.core.text_cleaning import clean_text

_MAX_CHARS = 300


def running_findings(patient: Patient) -> list[Finding]:
    """It answers, is of this version, and none of its parts has to be started again and again."""
    if patient.pid is None:
        return [well("api", "Closed, since no orchestrator runs.")]
    try:
        found = asyncio.run(_asked(patient))
    except DovecoteError as error:
        return [broken("api", error.message, error.suggestion)]
    if found is None:
        return [doubtful("api", "The orchestrator ended just now.", "dovecote serve")]
    version, status = found
    if version != VERSION:
        why = f"The orchestrator that runs is version {version}; this command is {VERSION}."
        mend = f"Restart it, with the installation that is meant: kill {patient.pid}, then: dovecote serve"
        return [doubtful("api", why, mend)]
    answers = (
        f"Answers. {len(status['live_agents'])} agents live, {status['messages_waiting']} messages and "
        f"{status['texts_waiting']} texts wait."
    )
    return [well("api", answers), *_parts(status["troubles"])]


async def _asked(patient: Patient) -> tuple[str, Any] | None:
    """Which version runs, and, of our own version, how it says that it stands."""
    client = await running_client(patient.paths)
    if client is None:
        return None
    async with client:
        health = await client.call("GET", "/api/health", timeout_s=10)
        version = str(health.get("version"))
        status = await client.call("GET", "/api/v1/status", timeout_s=10) if version == VERSION else None
        return version, status


def _parts(troubles: dict[str, str]) -> list[Finding]:
    """What is being started again. Ports have a finding of their own."""
    return [
        doubtful(
            f"part {name}",
            f"It is not well and is tried again: {clean_text(why)[:_MAX_CHARS]}",
            "Look into the log in data/logs for the first failure.",
        )
        for name, why in sorted(troubles.items())
        if not name.startswith("api port ")
    ]
