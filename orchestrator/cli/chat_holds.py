"""What messages of a chat wait for, and the command that finds its cause, for the person at the terminal."""

from typing import Final

_WHY: Final = {
    "start": "No agent can be started at the moment.",
    "setup": "The agent can't be started as it is set up.",
    "program": "The agent's program is not there, can't be run or ended at once.",
    "refused": "The model service refuses the credential or the model.",
    "budget": "The budget is used up.",
    "provider": "The model service does not answer at the moment.",
    "disk": "The disk is too full to start an agent.",
    "files": "The agent's files take more room than they may.",
}
_COMMAND: Final = {"setup": "dovecote agent check", "budget": "dovecote usage"}
_COMMAND_ELSE: Final = "dovecote doctor"


def why_held(kind: str) -> str:
    """What is in the way, as a sentence. kind: of the incident."""
    return _WHY.get(kind, f"Messages wait for: {kind}.")


def how_to_look(kind: str) -> str:
    """The advice that names the command."""
    return f"Look for the cause: {_COMMAND.get(kind, _COMMAND_ELSE)}"
