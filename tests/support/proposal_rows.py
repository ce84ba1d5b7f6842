"""Proposals for tests that do not make them by an agent."""

from orchestrator.commands.proposals import wish_shown
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.codec import to_json
from orchestrator.core.states.proposal import PROPOSAL
from orchestrator.store import proposals
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import NOON


def add_proposal(
    tx: Transaction,
    *,
    group: GroupFolder,
    chat_jid: Jid,
    target: Jid,
    rights: Rights = Rights.MEMBER,
) -> int:
    """The agent of a group wishes to say hello in `target`; its number. It never lapses in a test."""
    caller = AgentCaller(
        agent_id=AgentId("agent-1"), box=BoxName(group), group=group, chat_jid=chat_jid, is_main=False
    )
    wish = SendMessage(chat_jid=target, text="hello")
    return proposals.add(
        tx,
        caller=caller,
        command="send_message",
        request=to_json(wish),
        rights=rights,
        effect=wish_shown(tx, wish),
        status=PROPOSAL.start,
        at=NOON,
        expires_at=NOON.replace(year=2100),
    ).number
