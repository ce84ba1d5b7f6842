"""Every directory and file of an installation, from one root."""

import errno
import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.os_errors import unusable

SOCKET_NAME: Final = "dovecote.sock"
# `sun_path` holds 108 bytes on Linux and 104 elsewhere, with the closing NUL.
_MAX_SOCKET_BYTES: Final = 100
_PRIVATE: Final = 0o700
# Where we are root, an agent has a uid of its own: it passes through, but lists nothing.
# Source: contracts.md section 8.
_PASSED_THROUGH: Final = 0o711


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Where everything lies below `home`, an absolute path."""

    home: Path

    @property
    def settings_file(self) -> Path:
        """`dovecote.toml`."""
        return self.home / "dovecote.toml"

    @property
    def providers_file(self) -> Path:
        """`providers.toml`: providers of this home."""
        return self.home / "providers.toml"

    @property
    def groups(self) -> Path:
        """One folder a group."""
        return self.home / "groups"

    @property
    def data(self) -> Path:
        """All run-time state."""
        return self.home / "data"

    @property
    def ipc(self) -> Path:
        """The boxes."""
        return self.data / "ipc"

    @property
    def store(self) -> Path:
        """The database and what goes with it."""
        return self.data / "store"

    @property
    def sessions(self) -> Path:
        """The home directories of agents."""
        return self.data / "sessions"

    @property
    def workspaces(self) -> Path:
        """Of each agent that was spawned: `@{agentId}` is its scratch, `{agentId}` its own workspace."""
        return self.data / "workspaces"

    @property
    def logs(self) -> Path:
        """Rotated log files."""
        return self.data / "logs"

    @property
    def spool(self) -> Path:
        """Copies of files on their way to a chat."""
        return self.data / "spool"

    @property
    def console_files(self) -> Path:
        """Files that were sent to chats of the console, one directory a message."""
        return self.data / "console_files"

    @property
    def programs(self) -> Path:
        """What runs inside a sandbox that has no image."""
        return self.data / "programs"

    @property
    def laid(self) -> Path:
        """Files that are laid over the homes of agents; no agent can write here."""
        return self.data / "laid"

    @property
    def run(self) -> Path:
        """Sockets."""
        return self.data / "run"

    @property
    def backups(self) -> Path:
        """Copies of the database before each migration, and backups of the whole home."""
        return self.data / "backups"

    @property
    def database(self) -> Path:
        """The store itself."""
        return self.store / "dovecote.db"

    @property
    def lock(self) -> Path:
        """Held for life by the one orchestrator of this home; it holds the pid."""
        return self.store / "lock"

    @property
    def whatsapp_session(self) -> Path:
        """The linked WhatsApp account: whoever has this file is that account."""
        return self.store / "whatsapp.db"

    @property
    def whatsapp_spool(self) -> Path:
        """What WhatsApp handed over and the store does not have yet."""
        return self.spool / "whatsapp"

    @property
    def secrets(self) -> Path:
        """Credentials, one file each; nobody else's backups or database hold them."""
        return self.store / "secrets"

    @property
    def keys(self) -> Path:
        """The keys that sign the session tokens of agents."""
        return self.store / "keys"

    @property
    def tokens(self) -> Path:
        """One directory for each agent that may start others, with its session token."""
        return self.run / "tokens"

    @property
    def operator_token(self) -> Path:
        """The operator's credential."""
        return self.store / "operator.token"

    @property
    def log_file(self) -> Path:
        """The newest log file."""
        return self.logs / "dovecote.log"

    @property
    def chat_history(self) -> Path:
        """What was typed in the terminal chat."""
        return self.data / "chat_history"

    @property
    def chat_seen(self) -> Path:
        """Up to where each chat was seen in a terminal."""
        return self.data / "chat_seen.json"

    def console_file(self, outbox_id: int, name: str) -> Path:
        """Where a file lies that was sent to a chat of the console."""
        return self.console_files / str(outbox_id) / name

    def group(self, folder: GroupFolder) -> Path:
        """The folder of a group: the operator's `AGENT.md` and the agent's `workspace`."""
        return self.groups / folder

    @property
    def socket(self) -> Path:
        """Of the API; in the user's runtime directory where this path would be too long."""
        near = self.run / SOCKET_NAME
        if len(os.fsencode(near)) <= _MAX_SOCKET_BYTES:
            return near
        name = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return _runtime_directory() / f"dovecote-{name}.sock"

    def ensure(self) -> None:
        """Make every directory, private to this user. What exists is kept; a mode too open is mended.

        A home is made, what it lies in is not: that may be a disk which is not there now.
        Raises DovecoteError where that cannot be.
        """
        if not self.home.parent.is_dir():
            raise unusable(self.home, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
        on_the_way = _PASSED_THROUGH if os.geteuid() == 0 else _PRIVATE
        for directory in (self.groups, self.data, self.ipc, self.sessions, self.workspaces):
            _make(directory, on_the_way)
        for directory in (self.programs, self.laid):
            _make(directory, on_the_way)
        for directory in (self.store, self.logs, self.run, self.backups, self.spool, self.console_files):
            _make(directory, _PRIVATE)
        _make(self.socket.parent, _PRIVATE)


def mounts_file(environment: Mapping[str, str]) -> Path:
    """`dovecote/mounts.toml` in the user's configuration directory, which no agent ever sees."""
    named = environment.get("XDG_CONFIG_HOME", "")
    base = Path(named) if named.startswith("/") else Path.home() / ".config"
    return base / "dovecote" / "mounts.toml"


def open_mode(path: Path) -> int:
    """The permission bits of `path` that others than its owner have, beyond passing through."""
    return stat.S_IMODE(path.stat().st_mode) & 0o066


def _make(directory: Path, mode: int) -> None:
    try:
        directory.mkdir(mode=mode, parents=True, exist_ok=True)
        found = directory.stat()
        if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) != mode:
            directory.chmod(mode)
    except OSError as error:
        raise unusable(directory, error) from None


def _runtime_directory() -> Path:
    """A directory of this user alone. Whoever made one in /tmp for us before is refused."""
    uid = os.geteuid()
    for directory in (Path(f"/run/user/{uid}"), Path(f"/tmp/dovecote-{uid}")):
        try:
            found = directory.lstat()
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid:
            raise InvalidSettings(
                f"{directory} is not a directory of this user.",
                suggestion="Use a home with a shorter path: the socket then lies in it.",
            )
        return directory
    return directory
