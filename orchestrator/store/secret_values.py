"""Where credentials are looked up: the orchestrator's environment, the system's keyring, or our own files.

Never the database: a copy of that is made before each change of its form.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path

from orchestrator.contracts.errors import NotFound, Unavailable
from orchestrator.contracts.records.egress import Secret
from orchestrator.contracts.secret_names import secret_name, variable_of
from orchestrator.store.keyring_entries import Keyring, KeyringEntries, system_keyring
from orchestrator.store.secret_files import Keeping, KnownSecret, SecretFiles


class SecretKeeper:
    """The secrets of one installation: a `SecretValues`. environment: the orchestrator's own."""

    def __init__(
        self,
        directory: Path,
        *,
        environment: Mapping[str, str],
        find_keyring: Callable[[], Keyring | None] = system_keyring,
    ) -> None:
        self._directory = directory
        self._files = SecretFiles(directory)
        self._environment = environment
        self._find_keyring = find_keyring

    async def get(self, ref: str) -> Secret | None:
        """The credential that `env:NAME` or `secret:providers/<provider>/<slot>` stands for; None if unset.

        Raises Unavailable when it can't be looked up now, InvalidRequest for what is no reference.
        """
        return await asyncio.to_thread(self.look_up, ref)

    def look_up(self, ref: str) -> Secret | None:
        """As `get`; blocks."""
        if (variable := variable_of(ref)) is not None:
            text: str | None = self._environment.get(variable, "").strip()
        else:
            text = self._kept(secret_name(ref))
        return Secret(text) if text else None

    def set(self, name: str, value: str, *, in_file: bool = False) -> Keeping:
        """Keep it, in the keyring where there is one; where it went. in_file: in our file in any case.

        Blocks. Raises DovecoteError.
        """
        door = None if in_file else self._door()
        if door is not None:
            door.put(name, value)
            self._files.write(name, Keeping.KEYRING, "")
            return Keeping.KEYRING
        self._leave_keyring(name)
        self._files.write(name, Keeping.FILE, value)
        return Keeping.FILE

    def _leave_keyring(self, name: str) -> None:
        """Forget the entry that a keyring had before; of one that is not there now it stays."""
        door = self._door() if self._files.is_in_keyring(name) else None
        if door is not None:
            with contextlib.suppress(Unavailable):
                door.remove(name)

    def remove(self, name: str) -> None:
        """Forget it. Blocks. Raises NotFound, Unavailable."""
        found = self._files.read(name)
        if found is None:
            raise NotFound(f"There is no secret {name}.", suggestion="See them: dovecote secret list")
        if found[0] is Keeping.KEYRING:
            self._need_door(name).remove(name)
        self._files.remove(name)

    def known(self) -> list[KnownSecret]:
        """Names and when they were set. Blocks. Raises DovecoteError."""
        return self._files.known()

    def _kept(self, name: str) -> str | None:
        found = self._files.read(name)
        if found is None:
            return None
        keeping, text = found
        return text if keeping is Keeping.FILE else self._need_door(name).get(name)

    def _door(self) -> KeyringEntries | None:
        keyring = self._find_keyring()
        return None if keyring is None else KeyringEntries(keyring, f"dovecote {self._directory}")

    def _need_door(self, name: str) -> KeyringEntries:
        door = self._door()
        if door is None:
            raise Unavailable(
                f"The secret {name} is in the system's keyring, which is not there now.",
                suggestion=f"Log in as usual, or: dovecote secret set {name} --in-file",
            )
        return door
