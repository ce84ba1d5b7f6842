"""What the incidents mean that people are told of, for operators who look at the whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentKind:
    """What is wrong, of `{about}`, and what mends it."""

    what: str
    mend: str


_MEND_SENDERS: Final = "Mend groups/{about}/senders.toml: dovecote doctor says what is wrong there."
_KINDS: Final[Mapping[str, IncidentKind]] = {
    "start": IncidentKind(
        what="No agent can be started for {about}; its messages wait.",
        mend="See the finding `runner` of dovecote doctor, and the last error in data/logs.",
    ),
    "setup": IncidentKind(
        what="What the agent of {about} needs is not set up; its messages wait.", mend="dovecote agent check"
    ),
    "program": IncidentKind(
        what="The program of the agent of {about} is not there inside, can't be run, or ended before it was "
        "ready; its messages wait.",
        mend="Mend the command in groups/{about}/AGENT.md, or have the program where agents find it: "
        "dovecote agent check {about}, and its last words in data/logs/agents/{about}.log, say more.",
    ),
    "disk": IncidentKind(
        what="The disk is too full to start an agent for {about}; its messages wait.",
        mend="Free some space, or set disk_floor_bytes lower.",
    ),
    "provider": IncidentKind(
        what="The provider of {about} is away or busy; its messages wait and are tried again by themselves.",
        mend="dovecote provider check NAME, with the provider of its AGENT.md",
    ),
    "refused": IncidentKind(
        what="The provider of {about} refuses the credential or the model; its messages wait.",
        mend="dovecote provider check NAME, with the provider of its AGENT.md",
    ),
    "budget": IncidentKind(
        what="The budget of {about} is used up; its messages wait for the next day or month.",
        mend="See what was used by `dovecote usage`, or raise the budget in AGENT.md of the group.",
    ),
    "files": IncidentKind(
        what="The files of {about} take more than they may; no agent of it is started.",
        mend="Remove files of its workspace, or set agent.workspace_bytes, agent.home_bytes or "
        "agent.max_files higher.",
    ),
    "channel-down": IncidentKind(
        what="The channel {about} is away; messages of its chats do not come in or go out.",
        mend="dovecote {about} status",
    ),
    "channel-unlinked": IncidentKind(
        what="The channel {about} has no linked account.", mend="dovecote {about} link"
    ),
    "senders": IncidentKind(
        what="The senders.toml of {about} is broken; only operators are heard there.", mend=_MEND_SENDERS
    ),
    "senders-kept": IncidentKind(
        what="The senders.toml of {about} is broken; what it said before still holds.", mend=_MEND_SENDERS
    ),
}
_REPEATED: Final = frozenset({"setup-details", "program-details", "refused-details"})
"""What operators were told beside an incident of a chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownIncident:
    """One that is under way, in words."""

    kind: str
    what: str
    mend: str


def kind_of(incident: str) -> str:
    """What kind it is of, such as `provider`."""
    return incident.partition(":")[0]


def in_words(incident: str, *, folders: Mapping[str, str]) -> KnownIncident | None:
    """An incident by its name, such as `provider:console:main`; None if it is said by another one.

    folders: of groups, by their chat; what is no group's chat is called as it is.
    """
    kind, _, about = incident.partition(":")
    if kind in _REPEATED or (kind == "disk" and not about):
        return None
    words = _KINDS.get(kind)
    if words is None:
        return KnownIncident(
            kind=kind, what=f"{incident} is not over.", mend="Look into the log in data/logs."
        )
    named = folders.get(about, about)
    return KnownIncident(kind=kind, what=words.what.format(about=named), mend=words.mend.format(about=named))
