"""What a container finds in its environment: places, language and time zone, nothing of ours."""

from typing import Final

from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.launch import (
    BOX_TARGET,
    GLOBAL_TARGET,
    HOME_TARGET,
    PROGRAMS_TARGET,
    TOOLS_TARGET,
    WORKSPACE_TARGET,
)

SEARCH_PATH: Final = "/opt/python/bin:/usr/local/bin:/usr/bin:/bin"
"""`/opt/python` is where a sandbox binds an interpreter that does not lie below `/usr`."""


def agent_environment(*, group: GroupFolder, chat: Jid, timezone: str) -> dict[str, str]:
    """The whole environment of an agent of `group`, with the container's paths. timezone: an IANA name."""
    return {
        "PATH": SEARCH_PATH,
        "HOME": HOME_TARGET,
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TZ": timezone,
        "PYTHONPATH": PROGRAMS_TARGET,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "DOVECOTE_WORKSPACE": WORKSPACE_TARGET,
        "DOVECOTE_GLOBAL": GLOBAL_TARGET,
        "DOVECOTE_BOX": BOX_TARGET,
        "DOVECOTE_TOOLS": TOOLS_TARGET,
        "DOVECOTE_GROUP": group,
        "DOVECOTE_CHAT": chat,
    }
