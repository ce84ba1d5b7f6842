"""What follows a verdict: the answer, the copy for the operator, the file that is to be removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from orchestrator.contracts.errors import KEPT_OF_BOXES, ErrorCode
from orchestrator.contracts.ids import RequestId
from orchestrator.contracts.wire.codec import to_json
from orchestrator.contracts.wire.replies import Reply, ReplyError
from orchestrator.ipc.file_work import ReplyFile, RequestFile
from orchestrator.ipc.parse import FileRefusal, ParsedRequest
from orchestrator.ipc.quarantine import Evidence, Quarantine
from orchestrator.ipc.reading import Item
from orchestrator.store.unsafe import UnsafeEntry

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A file that was dealt with. reply: its answer, whoever may read it."""

    item: Item
    reply: Reply

    @property
    def is_evidence(self) -> bool:
        """Whether the operator gets a copy: it is wrong or forbidden, or nobody else hears of it."""
        error = self.reply.error
        return error is not None and (error.code in KEPT_OF_BOXES or not self.reply.request_id)

    @property
    def has_effect_row(self) -> bool:
        """Whether the store knows the request by its key."""
        return isinstance(self.item.verdict, ParsedRequest) and not (
            self.reply.error is not None and self.reply.error.code == ErrorCode.INTERNAL_ERROR
        )


def refused(refusal: FileRefusal) -> Reply:
    """A refusal as an answer."""
    return Reply(
        request_id=refusal.request_id or RequestId(""),
        ok=False,
        error=ReplyError(code=refusal.code.value, message=refusal.message, suggestion=refusal.suggestion),
    )


def failed(item: Item) -> Reply:
    """The answer to a request that a fault of ours kept from being done."""
    return refused(
        FileRefusal(
            code=ErrorCode.INTERNAL_ERROR,
            message="The request met a fault in Dovecote and had no effect.",
            suggestion="The operator finds it in the log. The same request will meet it again.",
            request_id=item.verdict.request_id,
        )
    )


def keep_evidence(
    conclusions: Sequence[Conclusion], quarantine: Quarantine, *, at: datetime
) -> list[Conclusion]:
    """Keep copies of what was refused; blocking. Those that need none or have one."""
    kept = []
    for conclusion in conclusions:
        try:
            if conclusion.is_evidence:
                quarantine.put(_evidence(conclusion), at=at)
        except (UnsafeEntry, OSError) as error:
            box = conclusion.item.candidate.lane.box.name
            _log.error("evidence.not_kept", box=box, error=str(error))
            if isinstance(error, OSError):
                continue
        kept.append(conclusion)
    return kept


def reply_file(conclusion: Conclusion) -> ReplyFile | None:
    """The answer as a file; None if nobody asked for it."""
    reply = conclusion.reply
    if not reply.request_id:
        return None
    files = conclusion.item.candidate.lane.box.files
    return ReplyFile(files=files, request_id=reply.request_id, text=to_json(reply))


def request_file(conclusion: Conclusion) -> RequestFile | None:
    """The request's file, to be taken away; None if no file was read under its name."""
    candidate, file = conclusion.item.candidate, conclusion.item.file
    if file is None:
        return None
    files = candidate.lane.box.files
    return RequestFile(files=files, directory=candidate.directory, name=candidate.name, seen=file.mark)


def put_away(conclusions: Sequence[Conclusion]) -> list[Conclusion]:
    """Remove what is no file. Those that are gone. Blocking."""
    gone = []
    for conclusion in conclusions:
        candidate = conclusion.item.candidate
        try:
            candidate.lane.box.put_away(candidate.directory, candidate.name)
        except (UnsafeEntry, OSError) as error:
            box = candidate.lane.box.name
            _log.warning("request.not_removed", box=box, directory=candidate.directory, error=str(error))
            candidate.lane.leave_in_the_way(candidate.directory, candidate.name)
            continue
        gone.append(conclusion)
    return gone


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
