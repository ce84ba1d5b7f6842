"""`dovecote status`: how the whole stands, on one screen; the orchestrator may run or not."""

import asyncio
import json
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from orchestrator.app.parts import SystemClock
from orchestrator.cli.client import ApiClient
from orchestrator.cli.home import Home, open_home_to_ask
from orchestrator.cli.place import ask_or_look
from orchestrator.cli.status_lines import LookedAt, status_lines
from orchestrator.commands.standing import StatusReport, status_report
from orchestrator.contracts.records.standing import Standing
from orchestrator.contracts.version import VERSION
from orchestrator.store.instance_lock import holder_pid

_REPORT: Final = TypeAdapter(StatusReport)


def show_status(home_option: Path | None, *, as_json: bool) -> None:
    """Print it."""
    home = open_home_to_ask(home_option)
    pid = holder_pid(home.paths.lock)
    report = asyncio.run(report_of(home))
    if as_json:
        print(json.dumps({"pid": pid, **_REPORT.dump_python(report, mode="json")}, indent=2))
        return
    print("\n".join(status_lines(report, LookedAt(home=str(home.paths.home), pid=pid))))


async def report_of(home: Home) -> StatusReport:
    """What the running orchestrator says, else what the store holds; an unused home has nothing."""
    nothing = StatusReport(version=VERSION, standing=Standing(at=SystemClock().now()))
    found: StatusReport = await ask_or_look(home, _ask, status_report, nothing)
    return found


async def _ask(client: ApiClient) -> StatusReport:
    return _REPORT.validate_python(await client.call("GET", "/api/v1/standing"))
