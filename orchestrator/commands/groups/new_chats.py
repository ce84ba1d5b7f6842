"""Group chats that we were added to: whether the assistant answers there. Source: contracts.md section 6."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

import structlog

from orchestrator.commands.groups.groups import NewGroup, store_group
from orchestrator.commands.saying.operator_alerts import tell_operators
from orchestrator.commands.proposals import LASTS, MAX_OPEN, wish_shown
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.ids import AgentId, Jid, group_box
from orchestrator.contracts.records.groups import Chat, Group
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.wire.codec import from_json, to_json
from orchestrator.contracts.wire.group_requests import RegisterGroup
from orchestrator.core.chat.folder_names import folder_name
from orchestrator.core.chat.trigger import default_trigger
from orchestrator.core.states.proposal import PROPOSAL
from orchestrator.core.text_cleaning import clean_name
from orchestrator.core.sentence_keys import Say
from orchestrator.store import groups, notices, proposals
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)

_NEW_CHAT: Final = AgentId("new-chat")
"""In the place of an agent that asks. No agent has this id, so that what a chat calls itself, quoted, has
the rights of a stranger."""
_MET: Final = "new-chat:"
_LEFT: Final = "chat-left:"


def meet_chats(
    tx: Transaction, services: Services, met: Sequence[Chat], *, taken: Collection[str], at: datetime
) -> list[Group]:
    """Do with chats that we were added to what the settings say; the groups that were registered.

    taken: names of folders that are not free. Of one chat operators are asked once, until we leave it.
    """
    wanted = services.settings.assistant.auto_register
    unknown = [chat for chat in met if not groups.is_registered(tx, chat.jid)]
    for chat in met:
        notices.close(tx, f"{_LEFT}{chat.jid}")
    if wanted == "off" or (main := groups.main(tx)) is None:
        return []
    fresh = [chat for chat in unknown if notices.count_one(tx, f"{_MET}{chat.jid}", at=at)[0] == 1]
    if wanted == "on":
        return [_register(tx, services, chat, taken, at) for chat in fresh]
    waiting = [each for each in proposals.open_of_group(tx, main.folder) if each.agent_id == _NEW_CHAT]
    room = max(0, MAX_OPEN - len(waiting))
    for chat in fresh[:room]:
        _ask(tx, services, main, chat, taken, at)
    if fresh[room:]:
        _tell_of_many(tx, services, fresh[room:], at)
    return []


def note_left(tx: Transaction, services: Services, jid: Jid, *, at: datetime) -> None:
    """We are in this chat no more: operators hear it once, if it is a group of theirs."""
    notices.close(tx, f"{_MET}{jid}")
    group = groups.by_jid(tx, jid)
    _log.info("chat.left", chat=jid, group=None if group is None else group.folder)
    if group is None:
        return
    count, _ = notices.count_one(tx, f"{_LEFT}{jid}", at=at)
    if count == 1:
        key = f"{_LEFT}{jid}:{at.timestamp():.3f}"
        tell_operators(tx, services, what=Say.CHAT_LEFT, incident=key, at=at, about=jid, name=group.name)


def _name(chat: Chat) -> str:
    return clean_name(chat.name or "") or chat.jid


def _folder(tx: Transaction, chat: Chat, taken: Collection[str]) -> str:
    return folder_name(chat.name or "", taken={*taken, *groups.folders(tx), *_asked_for(tx)})


def _asked_for(tx: Transaction) -> set[str]:
    """Folders that chats which wait for an operator's word would get."""
    found = (each for each in proposals.all_open(tx) if each.agent_id == _NEW_CHAT)
    return {from_json(RegisterGroup, each.request).folder for each in found}


def _register(tx: Transaction, services: Services, chat: Chat, taken: Collection[str], at: datetime) -> Group:
    new = NewGroup(jid=chat.jid, folder=_folder(tx, chat, taken), name=_name(chat))
    group = store_group(tx, services, new, at=at)
    _log.info("group.registered", group=group.folder, chat=group.jid)
    tell_operators(
        tx,
        services,
        what=Say.CHAT_MET,
        incident=f"{_MET}{chat.jid}:{at.timestamp():.3f}",
        at=at,
        words_of=_NEW_CHAT,
        name=group.name,
        trigger=group.trigger,
        folder=group.folder,
    )
    return group


def _ask(
    tx: Transaction, services: Services, main: Group, chat: Chat, taken: Collection[str], at: datetime
) -> None:
    request = RegisterGroup(
        jid=chat.jid,
        name=_name(chat),
        folder=_folder(tx, chat, taken),
        trigger_pattern=default_trigger(services.settings.assistant.name),
    )
    proposal = proposals.add(
        tx,
        caller=AgentCaller(
            agent_id=_NEW_CHAT, box=group_box(main.folder), group=main.folder, chat_jid=main.jid, is_main=True
        ),
        command="register_group",
        request=to_json(request),
        rights=Rights.OPERATOR,
        effect=wish_shown(tx, request),
        status=PROPOSAL.start,
        at=at,
        expires_at=at + LASTS,
    )
    _log.info("chat.asked_about", chat=chat.jid, proposal=proposal.number)
    tell_operators(
        tx,
        services,
        what=Say.CHAT_ASKED,
        alert=Say.CHAT_ALERT,
        incident=f"proposal:{proposal.number}",
        at=at,
        words_of=_NEW_CHAT,
        number=proposal.number,
        name=request.name,
        trigger=request.trigger_pattern,
        effect=proposal.effect,
    )


def _tell_of_many(tx: Transaction, services: Services, left_out: Sequence[Chat], at: datetime) -> None:
    """Strangers may add us to as many as they like, and a newly linked account brings all of its own."""
    for chat in left_out:
        _log.warning("chat.not_asked_about", chat=chat.jid, suggestion="dovecote whatsapp groups")
    day = at.date().isoformat()
    tell_operators(tx, services, what=Say.CHATS_MANY, incident=f"{_MET}many:{day}", at=at)
