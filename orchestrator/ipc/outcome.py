"""What follows a verdict: the answer, the copy for the operator, the file's removal. Blocking."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.ids import RequestId
from orchestrator.contracts.wire.replies import Reply, ReplyError
from orchestrator.ipc.parse import ParsedRequest, Refusal
from orchestrator.ipc.quarantine import Evidence, Quarantine
from orchestrator.ipc.reading import Item
from orchestrator.store.unsafe import UnsafeEntry

_log = structlog.get_logger(__name__)
_KEPT: Final = frozenset(
    {
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNKNOWN_TYPE,
        ErrorCode.FORBIDDEN,
        ErrorCode.RATE_LIMITED,
        ErrorCode.INTERNAL_ERROR,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A file that was dealt with. reply: its answer, whoever may read it."""

    item: Item
    reply: Reply

    @property
    def is_silent(self) -> bool:
        """Whether nobody is told: no reply is asked for, and nothing is kept for the operator."""
        return not self.reply.request_id and not _is_evidence(self.reply)

    @property
    def has_effect_row(self) -> bool:
        """Whether the store knows the request by its key."""
        return isinstance(self.item.verdict, ParsedRequest) and not (
            self.reply.error is not None and self.reply.error.code == ErrorCode.INTERNAL_ERROR
        )


def refused(refusal: Refusal) -> Reply:
    """A refusal as an answer."""
    return Reply(
        request_id=refusal.request_id or RequestId(""),
        ok=False,
        error=ReplyError(code=refusal.code.value, message=refusal.message, suggestion=refusal.suggestion),
    )


def failed(item: Item) -> Reply:
    """The answer to a request that a fault of ours kept from being done."""
    return refused(
        Refusal(
            code=ErrorCode.INTERNAL_ERROR,
            message="The request met a fault in Dovecote and had no effect.",
            suggestion="The operator finds it in the log. The same request will meet it again.",
            request_id=item.verdict.request_id,
        )
    )


def answer(conclusions: Sequence[Conclusion], quarantine: Quarantine, *, at: datetime) -> list[Conclusion]:
    """Write replies, and copies of what was refused. Those that were answered; the others' disk is full.

    An agent that removed its own `replies` has chosen to get none.
    """
    answered = []
    for conclusion in conclusions:
        item, reply = conclusion.item, conclusion.reply
        try:
            if _is_evidence(reply):
                quarantine.put(_evidence(conclusion), at=at)
            if reply.request_id:
                item.candidate.lane.box.write_reply(reply)
        except UnsafeEntry as error:
            _log.warning("reply.not_written", box=item.candidate.lane.box.name, error=str(error))
        except OSError as error:
            _log.error("reply.not_written", box=item.candidate.lane.box.name, error=str(error))
            continue
        answered.append(conclusion)
    return answered


def acknowledge(conclusions: Sequence[Conclusion]) -> list[Conclusion]:
    """Remove the files. Those that are gone; the others are met again, and known by their keys."""
    gone = []
    for conclusion in conclusions:
        candidate, file = conclusion.item.candidate, conclusion.item.file
        box = candidate.lane.box
        try:
            if file is None:
                box.put_away(candidate.directory, candidate.name)
            elif not box.acknowledge(candidate.directory, candidate.name, file):
                candidate.lane.stale.add(candidate.directory)
        except (UnsafeEntry, OSError) as error:
            _log.warning("request.not_removed", box=box.name, directory=candidate.directory, error=str(error))
            if file is None:
                candidate.lane.leave_in_the_way(candidate.directory, candidate.name)
            continue
        gone.append(conclusion)
    return gone


def _is_evidence(reply: Reply) -> bool:
    """Whether the operator gets a copy: of what is wrong or forbidden, and of what nobody else hears of."""
    return reply.error is not None and (reply.error.code in _KEPT or not reply.request_id)


def _evidence(conclusion: Conclusion) -> Evidence:
    item, error = conclusion.item, conclusion.reply.error
    assert error is not None
    return Evidence(
        box=item.candidate.lane.box.name,
        directory=item.candidate.directory,
        name=item.candidate.name,
        raw=None if item.file is None else item.file.raw,
        code=error.code,
        message=error.message,
        suggestion=error.suggestion,
        request_id=conclusion.reply.request_id or None,
    )
