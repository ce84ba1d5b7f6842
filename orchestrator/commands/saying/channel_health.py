"""What operators hear of a chat network: once that it is away, once that it is back."""

from collections.abc import Callable
from datetime import datetime

import structlog

from orchestrator.commands.saying.operator_alerts import tell_operators
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.channels import ChannelHealth, ChannelState
from orchestrator.contracts.seams import Topic
from orchestrator.core.sentence_keys import Say
from orchestrator.store import groups, notices
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)
_WORDS = {ChannelHealth.DOWN: Say.CHANNEL_DOWN, ChannelHealth.UNLINKED: Say.CHANNEL_UNLINKED}


async def note_channel_state(services: Services, state: ChannelState, *, owns: Callable[[Jid], bool]) -> None:
    """Remember how it stands, and tell operators what they should know. Never raises for a store away.

    owns: whether a chat is of this channel, which then can't carry the news itself.
    """
    if state.health is ChannelHealth.OPEN:
        services.troubles.pop(state.name, None)
        services.wakeups.wake(Topic.OUTBOX)
        services.wakeups.wake(Topic.CHATS)  # groups may have come and gone meanwhile
    else:
        services.troubles[state.name] = state.why or "connecting"
    _log.info("channel.changed", channel=state.name, health=state.health, why=state.why)
    at = services.clock.now()
    try:
        await services.db.run(lambda tx: _tell(tx, services, state, owns, at))
    except Unavailable as error:
        _log.error("channel.not_told", channel=state.name, error=error.message, suggestion=error.suggestion)


def _tell(
    tx: Transaction, services: Services, state: ChannelState, owns: Callable[[Jid], bool], at: datetime
) -> None:
    main = groups.main(tx)
    about = main.jid if main is not None and owns(main.jid) else None
    incidents = {health: f"channel-{health}:{state.name}" for health in _WORDS}
    stamp = f"{at.timestamp():.3f}"
    if state.health is ChannelHealth.OPEN:
        if any([notices.close(tx, each) for each in incidents.values()]):
            key = f"channel-well:{state.name}:{stamp}"
            tell_operators(tx, services, what=Say.CHANNEL_WELL, incident=key, at=at, channel=state.title)
        return
    what = _WORDS.get(state.health)
    if what is None:
        return
    incident = incidents[state.health]
    _, is_told = notices.count_one(tx, incident, at=at)
    if is_told:
        return
    notices.mark_told(tx, incident, at=at)
    key = f"{incident}:{stamp}"
    tell_operators(
        tx,
        services,
        what=what,
        incident=key,
        at=at,
        about=about,
        channel=state.title,
        why=state.why,
        command=f"dovecote {state.name} link",
    )
