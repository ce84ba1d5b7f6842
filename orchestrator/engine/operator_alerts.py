"""Tells operators by a command of their own what nobody would read in the main chat."""

from collections.abc import Sequence
from typing import Final

import structlog

from orchestrator.commands.own_programs import ProgramFailed, feed_program
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.seams import Topic
from orchestrator.store import alerts
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)
ALERT_WITHIN_S: Final = 10.0
_LOOK_AGAIN_S: Final = 60.0


class OperatorAlerts:
    """Runs `alerts.command` once for each waiting alert, one after another. Runs until cancelled.

    After a crash in between an alert may be told twice, never not at all.
    """

    def __init__(self, services: Services, *, within_s: float = ALERT_WITHIN_S) -> None:
        self._services = services
        self._within_s = within_s

    async def run(self) -> None:
        """Tell all that waits, then wait for more."""
        listener = self._services.wakeups.listen(Topic.ALERTS)
        while True:
            try:
                while await self._tell_one():
                    pass
            except Unavailable as error:
                _log.warning("alert.store_unavailable", error=error.message)
            await listener.wait(at_most_s=_LOOK_AGAIN_S)

    async def _tell_one(self) -> bool:
        """Whether there was one. It is told once, whatever becomes of the command."""
        found = await self._services.db.run(alerts.oldest)
        if found is None:
            return False
        alert_id, text = found
        argv = self._services.settings.alerts.command
        why = await run_alert(argv, text, within_s=self._within_s) if argv else "alerts.command is not set"
        if why is None:
            _log.info("alert.told", alert=alert_id, chars=len(text))
        else:
            _log.error(
                "alert.failed", alert=alert_id, why=why, suggestion="Try alerts.command in a terminal."
            )

        def done(tx: Transaction) -> None:
            alerts.remove(tx, alert_id)

        await self._services.db.run(done)
        return True


async def run_alert(argv: Sequence[str], text: str, *, within_s: float) -> str | None:
    """Run a program without a shell, with the text on its standard input; why it failed, if it did.

    What has not ended in time is killed with all that it started.
    """
    try:
        await feed_program(argv, f"{text}\n".encode("utf-8", "replace"), within_s=within_s)
    except ProgramFailed as error:
        return str(error)
    return None
