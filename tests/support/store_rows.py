"""Rows for tests of the store and the commands, with all that a test does not care about filled in."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid, MessageId, TreeId
from orchestrator.contracts.records.agents import Agent, AgentStatus
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.messages import InboundMessage, MessageStatus, SenderRole
from orchestrator.contracts.records.spawns import OnParentExit, SpawnProfile, SpawnRecord, WaitFor
from orchestrator.store import groups, messages
from orchestrator.store.transaction import Transaction

NOON: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
CHAT: Final = Jid("1203@g.us")
OTHER_CHAT: Final = Jid("1204@g.us")
ANN: Final = Jid("49170@s.whatsapp.net")
BOB: Final = Jid("49171@s.whatsapp.net")


def inbound(message_id: str = "m-1", text: str = "hello", **fields: Any) -> InboundMessage:
    """What a channel heard Ann say in `CHAT`."""
    plain: dict[str, Any] = {
        "chat_jid": CHAT,
        "message_id": MessageId(message_id),
        "sender_jid": ANN,
        "sender_name": "Ann",
        "text": text,
        "sent_at": NOON,
    }
    return InboundMessage(**(plain | fields))


def add_message(
    tx: Transaction,
    message_id: str = "m-1",
    text: str = "hello",
    *,
    is_trigger: bool = True,
    status: MessageStatus = MessageStatus.PENDING,
    at: datetime = NOON,
    **fields: Any,
) -> int:
    """A stored message; its seq."""
    seq = messages.add(
        tx,
        inbound(message_id, text, **fields),
        role=SenderRole.MEMBER,
        is_trigger=is_trigger,
        status=status,
        at=at,
    )
    assert seq is not None
    return seq


def agent(name: str = "agent-1", **fields: Any) -> Agent:
    """An agent that holds `CHAT` and is being started."""
    plain: dict[str, Any] = {
        "agent_id": AgentId(name),
        "tree_id": TreeId("tree-1"),
        "group": GroupFolder("family"),
        "chat_jid": CHAT,
        "box": BoxName("family"),
        "runner": "process",
        "provider": "script",
        "status": AgentStatus.STARTING,
        "is_main": False,
        "started_at": NOON,
    }
    return Agent(**(plain | fields))


def spawn_record(name: str = "agent-2", *, at: datetime = NOON, **fields: Any) -> SpawnRecord:
    """What an agent was spawned with, at that time, by `agent-1`."""
    plain: dict[str, Any] = {
        "agent_id": AgentId(name),
        "parent_agent_id": AgentId("agent-1"),
        "caller_key": "agent-1",
        "task": "Write tests",
        "workspace": "/home/user/project",
        "writable_paths": ("tests/",),
        "is_own_workspace": False,
        "wait": WaitFor.NONE,
        "profile": SpawnProfile.STANDARD,
        "on_parent_exit": OnParentExit.STOP,
        "name": None,
        "idempotency_key": None,
        "body_sha256": "",
        "answer": "{}",
        "created_at": at,
        "deadline_at": at + timedelta(minutes=1),
        "effective_timeout_ms": 60_000,
        "capped_by": None,
    }
    return SpawnRecord(**(plain | fields))


def add_group(tx: Transaction, folder: str = "family", jid: Jid = CHAT, **columns: Any) -> Group:
    """A registered chat that answers to @Andy."""
    plain: dict[str, Any] = {
        "trigger": "@Andy",
        "assistant_name": "Andy",
        "requires_trigger": 1,
        "is_main": 0,
        "trigger_position": "start",
        "reply_triggers": 1,
        "timezone": None,
        "locale": "en",
    }
    return groups.add(
        tx,
        folder=GroupFolder(folder),
        jid=jid,
        name=folder.title(),
        added_at=NOON,
        values=plain | columns,
    )
