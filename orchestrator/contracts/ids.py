"""Names of things: types that keep ids apart, and the rules that names must keep."""

import re
import secrets
from typing import Final, NewType

Jid = NewType("Jid", str)
"""A chat or a person on a channel, such as `1203…@g.us` or `console:main`."""
GroupFolder = NewType("GroupFolder", str)
AgentId = NewType("AgentId", str)
TreeId = NewType("TreeId", str)
TurnId = NewType("TurnId", str)
MessageId = NewType("MessageId", str)
"""The channel's own id of a message; unique within a chat."""
TaskId = NewType("TaskId", str)
RunId = NewType("RunId", str)
"""One execution of a task."""
RequestId = NewType("RequestId", str)
BoxName = NewType("BoxName", str)
"""A directory below `data/ipc`: a group's folder, or `@{agentId}`."""

FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
"""Names of request files (without `.json`), request ids and session ids. Source: contracts.md section 3."""
FOLDER_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
RESERVED_FOLDERS: Final = frozenset(
    {"global", "errors", "con", "prn", "aux", "nul"}
    | {f"com{n}" for n in range(1, 10)}
    | {f"lpt{n}" for n in range(1, 10)}
)
CHAT_ID: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*:[^\s:]{1,200}|[^\s@:]{1,200}@[^\s@:]{1,200}")
"""A network of ours and a name, such as `console:main`, or `local@server` as WhatsApp has them."""
MAX_NETWORK_ID_BYTES: Final = 256
_NEVER_IN_NETWORK_IDS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
AT_TERMINAL: Final = Jid("console:operator")
"""As whom everybody at the terminal writes."""
_OWN: Final = "@"
_ID_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str) -> str:
    """A fresh id such as `agent-7k2m…`: the prefix and 80 random bits, safe in paths and labels."""
    return f"{prefix}-" + "".join(secrets.choice(_ID_ALPHABET) for _ in range(16))


def is_file_name(name: str) -> bool:
    """Whether `name` keeps the rule for request files, request ids and session ids."""
    return FILE_NAME.fullmatch(name) is not None


def is_folder_name(name: str) -> bool:
    """Whether `name` may be a group's folder; whether it is free is the store's to say."""
    return FOLDER_NAME.fullmatch(name) is not None and name not in RESERVED_FOLDERS


def is_chat_id(text: str) -> bool:
    """Whether `text` can be the id of a chat or a person."""
    return CHAT_ID.fullmatch(text) is not None and text.isprintable()


def is_network_id(text: str) -> bool:
    """Whether `text` can be what a network calls a message, a chat or a person.

    1 to 256 bytes of UTF-8, no control characters, no ends of lines, no halves of surrogate pairs: on
    its way through the store, XML and JSON to an agent and back it stays the same.
    """
    if not 0 < len(text) <= MAX_NETWORK_ID_BYTES or _NEVER_IN_NETWORK_IDS.search(text):
        return False
    return len(text.encode()) <= MAX_NETWORK_ID_BYTES


def group_box(folder: GroupFolder) -> BoxName:
    """The box of the agent that holds the group's chat."""
    return BoxName(folder)


def own_box(agent_id: AgentId) -> BoxName:
    """The box of an agent that has one for itself: a child, or one run of an isolated task."""
    return BoxName(f"{_OWN}{agent_id}")


def agent_of_box(box: BoxName) -> AgentId:
    """Whose box it is, of one that an agent has for itself."""
    return AgentId(box.removeprefix(_OWN))


def is_own_box(box: BoxName) -> bool:
    """Whether it is the box of one agent, which goes with it."""
    return box.startswith(_OWN)
