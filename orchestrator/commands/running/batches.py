"""Which messages a turn is given, and the moment they are given to an agent."""

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, Jid, TurnId
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.messages import MessageStatus, StoredMessage
from orchestrator.contracts.records.rights import Rights, least, rights_of
from orchestrator.contracts.seams import Topic
from orchestrator.core.chat.batch import select_batch
from orchestrator.core.chat.bounds import highest_role
from orchestrator.core.chat.death import runs_alone, taken_together
from orchestrator.core.chat.transcript import render_message
from orchestrator.core.states.message import MESSAGE, MessageEvent
from orchestrator.store import agents, message_edits, messages, outbox, sessions
from orchestrator.store.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBatch:
    """What one turn is given. xml: the messages, rendered, oldest first. ids: the same, as the agent
    names them. undelivered: how many failed texts the first of them tells of. is_alone: it must run in
    an agent of its own, because it ended others before."""

    chat_jid: Jid
    messages: tuple[StoredMessage, ...]
    xml: tuple[str, ...]
    skip_before_seq: int
    undelivered: int
    is_alone: bool

    @property
    def ids(self) -> tuple[str, ...]:
        """Message ids, oldest first."""
        return tuple(message.message_id for message in self.messages)

    @property
    def trigger_ids(self) -> tuple[str, ...]:
        """Those of the ids that ask for an answer; the others are the chatter around them."""
        return tuple(message.message_id for message in self.messages if message.is_trigger)


def next_batch(tx: Transaction, services: Services, chat: Jid) -> TurnBatch | None:
    """The newest messages up to the last trigger, every trigger kept; None when none waits."""
    triggers = taken_together(messages.pending_triggers(tx, chat))
    if not triggers:
        return None
    caps = services.settings.queue
    last_seq = triggers[-1].seq
    chatter = messages.pending_chatter(tx, chat, before_seq=last_seq, count=caps.batch_max_messages)
    unread = messages.count_chatter(tx, chat, before_seq=chatter[0].seq if chatter else last_seq)
    unsettled = sorted((*triggers, *chatter), key=lambda message: message.seq)
    batch = select_batch(unsettled, max_count=caps.batch_max_messages, max_bytes=caps.batch_max_bytes)
    kept_chatter = [message.seq for message in batch.messages if not message.is_trigger]
    skip_before = min(kept_chatter, default=last_seq)
    undelivered = outbox.count_untold_failures(tx, chat)
    return TurnBatch(
        chat_jid=chat,
        messages=batch.messages,
        xml=(
            render_message(batch.messages[0], omitted=unread + batch.omitted, undelivered=undelivered),
            *(render_message(message) for message in batch.messages[1:]),
        ),
        skip_before_seq=skip_before,
        undelivered=undelivered,
        is_alone=any(runs_alone(message) for message in triggers),
    )


def give_batch(
    tx: Transaction,
    services: Services,
    batch: TurnBatch,
    *,
    agent_id: AgentId,
    turn_id: TurnId,
    input_file: str | None,
) -> bool:
    """Write down that the agent has these messages, and begin its turn with them.

    False, with nothing written, when one is no longer free or was edited: the caller reads again. Chatter
    before them is passed over, and the agent's rights fall to those of whoever spoke. input_file: None for
    the standard input.
    """
    if not message_edits.are_unchanged(tx, batch.messages):
        return False  # it is read again, with the edit
    for message in batch.messages:
        MESSAGE.check(message.status, MessageEvent.GIVEN)
    seqs = [message.seq for message in batch.messages]
    given = messages.dispatch(tx, seqs, agent_id=agent_id, turn_id=turn_id, input_file=input_file)
    if given != len(seqs):
        MESSAGE.check(MessageStatus.DISPATCHED, MessageEvent.GIVEN_BACK)
        messages.take_back(tx, seqs, agent_id=agent_id, turn_id=turn_id)
        return False
    agents.start_turn(
        tx,
        agent_id,
        turn_id,
        batch.chat_jid,
        at=services.clock.now(),
        set_off_by=highest_role(message.sender_role for message in batch.messages if message.is_trigger),
    )
    if batch.undelivered:
        outbox.mark_told(tx, batch.chat_jid, with_seq=seqs[0], count=batch.undelivered)
    agent = agents.get(tx, agent_id)
    if agent is not None:
        lower_rights(tx, agent, _rights_in(tx, batch.messages))
    MESSAGE.check(MessageStatus.PENDING, MessageEvent.PASSED_OVER)
    messages.skip_chatter(tx, batch.chat_jid, before_seq=batch.skip_before_seq)
    return True


def lower_rights(tx: Transaction, agent: Agent, rights: Rights) -> None:
    """The agent, and the session that it holds, were given words of somebody with these rights."""
    sessions.lower_rights(tx, agent, rights)
    if (left := least(agent.rights, rights)) is not agent.rights:
        agents.set_rights(tx, agent.agent_id, left)
        tx.wake(Topic.SNAPSHOTS)  # it may see less now


def _rights_in(tx: Transaction, given: Sequence[StoredMessage]) -> Rights:
    """The least of all who speak in these messages and in what they quote."""
    roles = [rights_of(message.sender_role) for message in given]
    return least(Rights.OPERATOR, *roles, *(_rights_quoted(tx, message) for message in given))


def _rights_quoted(tx: Transaction, message: StoredMessage) -> Rights:
    """Of who said what the message quotes; of somebody unknown a member's.

    A text of an agent has its rights, since others may have made it say that. Our own sentences ask for
    nothing, and one that holds an agent's words is that agent's.
    """
    quoted = message.quoted
    if quoted is None:
        return Rights.OPERATOR
    ours = outbox.sent_as(tx, message.chat_jid, quoted.message_id)
    if ours is not None:
        return Rights.OPERATOR if ours.agent_id is None else agents.rights(tx, ours.agent_id) or Rights.MEMBER
    role = messages.role_of(tx, message.chat_jid, quoted.message_id)
    return Rights.MEMBER if role is None else rights_of(role)
