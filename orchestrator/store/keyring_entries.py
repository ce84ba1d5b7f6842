"""The system's own keyring, where there is one that answers.

The package `keyring` is an extra, and a keyring may be locked, ask a person, or hang: each call runs in a
thread of its own and is given up after a while.
"""

import threading
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar

from orchestrator.contracts.errors import Unavailable

T = TypeVar("T")

ANSWER_WITHIN_S: Final = 10.0
"""A person may have to unlock it."""


class Keyring(Protocol):
    """What we use of the package `keyring`. Each call blocks and may raise anything."""

    def get_password(self, service: str, name: str, /) -> str | None: ...

    def set_password(self, service: str, name: str, value: str, /) -> None: ...

    def delete_password(self, service: str, name: str, /) -> None: ...


class KeyringEntries:
    """The entries of one installation. service: what the keyring files them under."""

    def __init__(self, keyring: Keyring, service: str, *, within_s: float = ANSWER_WITHIN_S) -> None:
        self._keyring = keyring
        self._service = service
        self._within_s = within_s

    def get(self, name: str) -> str | None:
        """The entry; None if there is none. Raises Unavailable."""
        return self._bounded(lambda: self._keyring.get_password(self._service, name))

    def put(self, name: str, value: str) -> None:
        """Keep it, and read it again. Raises Unavailable, also if it comes back changed."""
        self._bounded(lambda: self._keyring.set_password(self._service, name, value))
        if self.get(name) != value:
            raise Unavailable("The system's keyring did not keep the secret.")

    def remove(self, name: str) -> None:
        """Forget it. Raises Unavailable."""
        self._bounded(lambda: self._keyring.delete_password(self._service, name))

    def _bounded(self, call: Callable[[], T]) -> T:
        outcome: list[T] = []
        trouble: list[str] = []

        def work() -> None:
            try:
                outcome.append(call())
            except Exception as error:  # each of the many backends raises errors of its own
                trouble.append(type(error).__name__)

        # A daemon: a keyring that hangs must not keep the process.
        thread = threading.Thread(target=work, name="keyring", daemon=True)
        thread.start()
        thread.join(self._within_s)
        if outcome:
            return outcome[0]
        why = f"failed ({trouble[0]})" if trouble else f"did not answer in {self._within_s:g} s"
        raise Unavailable(
            f"The system's keyring {why}.",
            suggestion="Unlock it, or keep the secret in a file: dovecote secret set NAME --in-file",
        )


def system_keyring() -> Keyring | None:
    """The keyring of this machine; None where there is none that keeps a secret. Blocks."""
    try:
        import keyring  # an extra
        from keyring.backends import fail, null
    except ImportError:
        return None
    # Looking for a backend runs code of every one that is installed.
    try:
        found: Any = keyring.get_keyring()
    except Exception:
        return None
    is_real = not isinstance(found, fail.Keyring | null.Keyring) and found.priority >= 1
    # One that asks for a password on the terminal, or keeps it readable, is no gain over our own file.
    is_files = "file" in type(found).__module__
    return found if is_real and not is_files else None
