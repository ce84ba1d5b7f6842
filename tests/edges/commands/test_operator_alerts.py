"""The operators' own command: run without a shell, told the text, ended in time.

Source: contracts.md section 4.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import structlog.testing

from orchestrator.commands.saying.operator_alerts import tell_operators
from orchestrator.contracts.ids import Jid
from orchestrator.core.sentence_keys import Say
from orchestrator.engine.operator_alerts import OperatorAlerts, run_alert
from orchestrator.settings.tree import AlertSettings, Settings
from orchestrator.store import alerts
from tests.edges.commands.conftest import Desk
from tests.support.eventually import eventually
from tests.support.store_rows import add_group

MAIN = Jid("console:main")


@contextlib.asynccontextmanager
async def telling(desk: Desk) -> AsyncIterator[None]:
    """Alerts are told."""
    async with asyncio.TaskGroup() as group:
        running = group.create_task(OperatorAlerts(desk.services).run())
        yield
        assert not running.done()
        running.cancel()


def writes_to(path: Path) -> AlertSettings:
    """A command that keeps what it is told."""
    script = 'import sys; open(sys.argv[1], "a").write(sys.stdin.read() + "--\\n")'
    return AlertSettings(command=("/usr/bin/env", "python3", "-c", script, str(path)), main_is_watched=False)


async def tell(desk: Desk, chat_name: str) -> None:
    """Something that operators should know."""
    await desk.run(
        lambda tx: tell_operators(
            tx,
            desk.services,
            what=Say.DELIVERY_FAILED,
            incident=f"undelivered:{chat_name}",
            at=desk.now,
            chat_name=chat_name,
        )
    )


async def is_told(desk: Desk) -> bool:
    """Whether none waits any more."""
    return await desk.run(alerts.oldest) is None


async def test_each_alert_is_told_once_and_in_order_with_its_text_on_standard_input(
    desk: Desk, tmp_path: Path
) -> None:
    desk.set_settings(Settings(alerts=writes_to(tmp_path / "told")))
    await tell(desk, "“$(touch x)”; Garden")

    async with telling(desk):
        await eventually(lambda: is_told(desk))
        await tell(desk, "Choir")
        await eventually(lambda: is_told(desk))

    sentence = "A message to {} could not be delivered.\n--\n"
    assert (tmp_path / "told").read_text() == "".join(
        sentence.format(name) for name in ("“$(touch x)”; Garden", "Choir")
    )


async def test_the_same_incident_is_told_once(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "main", MAIN, is_main=1))
    desk.set_settings(Settings(alerts=AlertSettings(command=("/bin/true",), main_is_watched=False)))

    await tell(desk, "Garden")
    await tell(desk, "Garden")

    assert await desk.run(lambda tx: len(tx.all("SELECT 1 FROM alerts"))) == 1
    assert len(await desk.texts(MAIN)) == 1


async def test_a_command_that_fails_is_logged_and_the_next_alert_told(desk: Desk, tmp_path: Path) -> None:
    script = f'if grep -q Garden; then exit 3; fi; touch "{tmp_path}/told"'
    wanted = AlertSettings(command=("/bin/sh", "-c", script), main_is_watched=False)
    desk.set_settings(Settings(alerts=wanted))
    await tell(desk, "Garden")
    await tell(desk, "Choir")

    with structlog.testing.capture_logs() as logs:
        async with telling(desk):
            await eventually(lambda: is_told(desk))

    failed = [line for line in logs if line["event"] == "alert.failed"]
    assert [line["why"] for line in failed] == ["it ended with exit code 3"]
    assert "Garden" not in str(failed)
    assert (tmp_path / "told").exists()


async def test_what_does_not_end_is_killed_with_what_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f'sleep 600 & echo $! > "{pids}.new"; mv "{pids}.new" "{pids}"; wait'

    why = await run_alert(("/bin/sh", "-c", script), "text", within_s=2)

    assert why == "it did not end within 2 s and was killed"
    if pids.exists():  # a busy machine may have killed it before it began
        child = Path("/proc") / pids.read_text().strip()
        await eventually(lambda: not child.exists() or "Z (zombie)" in (child / "status").read_text())


async def test_a_command_that_is_not_there_is_a_reason_not_a_fault() -> None:
    why = await run_alert(("/nowhere/at-all",), "text", within_s=10)

    assert why is not None
    assert why.startswith("it cannot be started")


async def test_a_command_that_does_not_read_is_no_fault() -> None:
    assert await run_alert(("/bin/true",), "x" * 1_000_000, within_s=30) is None
