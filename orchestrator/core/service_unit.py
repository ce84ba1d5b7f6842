"""The text of a systemd unit that keeps an orchestrator running.

Nothing in it takes away what agents need: their walls are made by bubblewrap or an engine, which set up name
spaces, mounts and control groups of their own. Filters of system calls, private directories and the like
would break those, and programs of the operator's that change their user, such as mail.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.contracts.errors import InvalidRequest

UNIT_NAME: Final = "dovecote.service"
_BEYOND_GRACE_S: Final = 40
"""What a stop takes beside the grace that turns are given: agents are killed, the outbox is flushed."""
ANSWER_S: Final = 60.0
"""What systemd is given for an answer, beyond what it waits for."""
_FILES: Final = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceUnit:
    """What a unit says. program, home: by their full paths. grace_s: what turns are given at a stop.

    user: as whom a unit of the system runs; None in a user's own.
    """

    program: Sequence[str]
    home: str
    user: str | None
    path: str
    grace_s: float


def unit_text(unit: ServiceUnit) -> str:
    """The file. Raises InvalidRequest for a path that no unit can name."""
    command = " ".join(_word(each) for each in (*unit.program, "serve", "--home", unit.home))
    stop_s = round(unit.grace_s) + _BEYOND_GRACE_S
    lines = [
        "[Unit]",
        "Description=Dovecote, a chat orchestrator",
        "After=network-online.target docker.service",
        "Wants=network-online.target",
        # One that cannot start is tried five times, and then says so instead of turning for ever.
        "StartLimitIntervalSec=300",
        "StartLimitBurst=5",
        "",
        "[Service]",
        "Type=exec",
        f"ExecStart={command}",
        f"WorkingDirectory={_plain(unit.home)}",
        f"Environment={_quoted(f'PATH={unit.path}')}",
        *([] if unit.user is None else [f"User={_plain(unit.user)}"]),
        "Restart=on-failure",
        "RestartSec=5",
        f"TimeoutStopSec={stop_s}",
        # It stops its agents itself; what it left behind is ended with it.
        "KillMode=mixed",
        # Its agents get control groups below its own, and one that takes too much memory ends alone.
        "Delegate=yes",
        "OOMPolicy=continue",
        "UMask=0077",
        f"LimitNOFILE={_FILES}",
        "",
        "[Install]",
        f"WantedBy={'default.target' if unit.user is None else 'multi-user.target'}",
    ]
    if unit.user is None:
        # A user's own manager knows no units of the system.
        lines = [line for line in lines if not line.startswith(("After=", "Wants="))]
    return "\n".join(lines) + "\n"


def home_of(text: str) -> str | None:
    """The home that a unit's text serves; None if it is not one of ours."""
    serves = any(' "serve" "--home" ' in line for line in _values(text, "ExecStart"))
    if not serves or not any(each.startswith("Dovecote") for each in _values(text, "Description")):
        return None
    found = _values(text, "WorkingDirectory")
    return found[0].replace("%%", "%") if found else None


def change_within_s(text: str) -> float | None:
    """How long systemd may take to stop or restart what a unit's text says; None: as long as it takes."""
    found = _values(text, "TimeoutStopSec")
    if not found or not (found[-1].isascii() and found[-1].isdigit()):
        return None  # an operator's own: systemd keeps that
    return int(found[-1]) + ANSWER_S


def _values(text: str, name: str) -> list[str]:
    prefix = f"{name}="
    return [line.removeprefix(prefix) for line in text.splitlines() if line.startswith(prefix)]


def _word(text: str) -> str:
    """One word of a command line, whatever it holds. Source: systemd.syntax(7), systemd.service(5)."""
    return _quoted(text).replace("$", "$$")


def _quoted(text: str) -> str:
    plain = _plain(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'


def _plain(text: str) -> str:
    """A value that stands alone: only what begins a specifier is doubled."""
    if not text.isprintable() or text != text.strip():
        raise InvalidRequest(
            f"{text!r} cannot stand in a systemd unit.",
            suggestion="Move the home or the installation to a path without line breaks and the like.",
        )
    return text.replace("%", "%%")
